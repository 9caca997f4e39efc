package resolve

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// hints finds what the user may have meant by a symbol that nothing defines. It
// looks at what archives hold, too, though none of that is linked.
type hints struct {
	t        *Table
	unlinked func() []*object.File
	files    []*object.File // all of them, once they are wanted
	bases    map[string]string
}

// found is a name of a file; file is nil if none was found.
type found struct {
	file *object.File
	name ptx.NameID
}

func (f found) place() diag.Place { return f.file.NamePlace(f.name) }

func (f found) spelling() string { return f.file.Names[f.name] }

func (h *hints) gather() {
	if h.files != nil {
		return
	}
	h.files = append(h.files, h.t.Files...)
	if h.unlinked != nil {
		h.files = append(h.files, h.unlinked()...)
	}
	h.bases = map[string]string{}
}

// base is baseName, which every undefined symbol asks of every name.
func (h *hints) base(name string) string {
	base, ok := h.bases[name]
	if !ok {
		base = baseName(name)
		h.bases[name] = base
	}
	return base
}

// suggest adds what the user may have meant: a definition that its module
// keeps to itself, the same function with other parameters, or a misspelling.
func (h *hints) suggest(s *Symbol, m *diag.Message) {
	h.gather()
	base := h.base(s.Name)
	var local, overload, similar found
	// One letter in four to eleven may be wrong, two in up to seventeen. Shorter
	// names are not misspellings of each other.
	bestDistance := len(s.Name)/6 + 1
	if len(s.Name) >= 4 {
		bestDistance = max(2, bestDistance)
	}
	kind := h.t.decl(s.Mentions[0]).Kind
	for _, f := range h.files {
		for n, sym := range f.Symbols {
			at := found{f, ptx.NameID(n)}
			if !sym.Defined() {
				continue
			}
			name := f.Names[n]
			switch {
			case name == s.Name:
				if local.file == nil {
					local = at
				}
			case !sym.Exported() || f.DeclOf(at.name) == nil || f.DeclOf(at.name).Kind != kind:
			case base != s.Name && h.base(name) == base || name == base || h.base(name) == s.Name && name != s.Name:
				if overload.file == nil {
					overload = at
				}
			case abs(len(name)-len(s.Name)) < bestDistance && len(name) < 200:
				if d := smetrics.WagnerFischer(name, s.Name, 1, 1, 1); d < bestDistance {
					bestDistance, similar = d, at
				}
			}
		}
	}
	switch why := explain(s.Name); {
	case local.file != nil:
		m.Note(local.place(), "defined here, but without .visible it stays in its module")
		m.Help = "make the definition .visible"
		if WholeProgram(local.file) {
			m.Help = "compile " + local.file.Name + " with -rdc=true; without it nvcc keeps all but entries in the module"
		}
	case overload.file != nil:
		name := overload.spelling()
		m.Note(overload.place(), "did you mean "+diag.Name(name)+"? It is defined here")
		if (name == base) != (s.Name == base) {
			m.Help = `one of the two is declared extern "C" and the other is not`
		} else {
			m.Help = "the parameters differ; make the declaration match the definition"
		}
	case similar.file != nil:
		m.Note(similar.place(), "did you mean "+diag.Name(similar.spelling())+"? It is defined here")
	case why != "":
		m.Help = why
	default:
		m.Help = "add the module that defines it, or pass --allow-undefined=" + s.Name + " to leave it open"
		f := h.closed()
		if f == nil {
			break
		}
		m.Note(f.At(diag.Span{}), "this module defines nothing that other modules can use")
		m.Help = "compile " + f.Name + " with -rdc=true if it is to define it; without it nvcc keeps, or drops, all but entries"
		if !slices.Contains(h.t.Files, f) { // it may have nothing to do with this
			m.Help += "; if not, add the module that defines it, or pass --allow-undefined=" + s.Name
		}
	}
}

// closed is the first module that was compiled without -rdc=true; nil if there
// is none.
func (h *hints) closed() *object.File {
	for _, f := range h.files {
		if WholeProgram(f) {
			return f
		}
	}
	return nil
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
