package resolve

import (
	"fmt"
	"strings"

	"github.com/xrash/smetrics"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// maxUses bounds the uses that one message lists.
const maxUses = 3

// reportUndefined reports one undefined symbol with the places that use it. A
// declaration that nothing uses is no fault: compilers leave them behind.
func (t *Table) reportUndefined(s *Symbol, uses []usePlace, log *diag.Log) {
	if len(uses) == 0 {
		return
	}
	first := uses[0]
	m := log.Error(first.file.At(first.span), "undefined symbol: "+diag.Name(s.Name)+inside(first))
	for i, u := range uses[1:] {
		if i == maxUses-1 {
			more := "more uses"
			if len(uses) == maxUses+1 {
				more = "more use"
			}
			m.Note(diag.Place{}, fmt.Sprintf("and %d %s", len(uses)-maxUses, more))
			break
		}
		m.Note(u.file.At(u.span), "also used here"+inside(u))
	}
	t.suggest(s, m)
}

func inside(u usePlace) string {
	if u.in == nil {
		return ""
	}
	verb := "used in "
	if u.in.Kind == ptx.Variable {
		verb = "used in the initialiser of "
	}
	return ", " + verb + diag.Demangle(u.file.Names[u.in.Name])
}

// suggest adds what the user may have meant: a definition that its module
// keeps to itself, the same function with other parameters, or a misspelling.
func (t *Table) suggest(s *Symbol, m *diag.Message) {
	base := baseName(s.Name)
	var local, overload, similar object.ID
	local.File, overload.File, similar.File = -1, -1, -1
	// One letter in four to eleven may be wrong, two in up to seventeen. Shorter
	// names are not misspellings of each other.
	bestDistance := len(s.Name)/6 + 1
	if len(s.Name) >= 4 {
		bestDistance = max(2, bestDistance)
	}
	kind := t.decl(s.Mentions[0]).Kind
	for i, f := range t.Files {
		for n, sym := range f.Symbols {
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if !sym.Defined() {
				continue
			}
			name := f.Names[n]
			switch {
			case name == s.Name:
				if local.File < 0 {
					local = id
				}
			case !sym.Exported() || f.DeclOf(id.Name) == nil || f.DeclOf(id.Name).Kind != kind:
			case base != s.Name && baseName(name) == base || name == base || baseName(name) == s.Name && name != s.Name:
				if overload.File < 0 {
					overload = id
				}
			case abs(len(name)-len(s.Name)) < bestDistance && len(name) < 200:
				if d := smetrics.WagnerFischer(name, s.Name, 1, 1, 1); d < bestDistance {
					bestDistance, similar = d, id
				}
			}
		}
	}
	switch why := explain(s.Name); {
	case local.File >= 0:
		m.Note(t.place(local), "defined here, but without .visible it stays in its module")
		m.Help = "make the definition .visible"
		if WholeProgram(t.Files[local.File]) {
			m.Help = "compile " + t.Files[local.File].Name + " with -rdc=true; without it nvcc keeps all but entries in the module"
		}
	case overload.File >= 0:
		name := t.Files[overload.File].Names[overload.Name]
		m.Note(t.place(overload), "did you mean "+diag.Name(name)+"? It is defined here")
		if (name == base) != (s.Name == base) {
			m.Help = `one of the two is declared extern "C" and the other is not`
		} else {
			m.Help = "the parameters differ; make the declaration match the definition"
		}
	case similar.File >= 0:
		m.Note(t.place(similar), "did you mean "+diag.Name(t.Files[similar.File].Names[similar.Name])+"? It is defined here")
	case why != "":
		m.Help = why
	case t.closed() != nil:
		f := t.closed()
		m.Note(f.At(diag.Span{}), "this module defines nothing that other modules can use")
		m.Help = "compile " + f.Name + " with -rdc=true if it is to define it; without it nvcc keeps, or drops, all but entries"
	default:
		m.Help = "add the module that defines it, or pass --allow-undefined=" + s.Name + " to leave it open"
	}
}

// baseName is the qualified name of a mangled function without its parameters;
// other names come back as they are.
func baseName(name string) string {
	plain := diag.Demangle(name)
	if plain == name {
		return name
	}
	depth := 0
	for i, c := range plain {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && i > 0 && !strings.HasPrefix(plain[i:], "(anonymous") {
				return plain[:i]
			}
		}
	}
	return plain
}

func abs(x int) int { return max(x, -x) }

// closed is the first module that was compiled without -rdc=true; nil if there
// is none.
func (t *Table) closed() *object.File {
	for _, f := range t.Files {
		if WholeProgram(f) {
			return f
		}
	}
	return nil
}
