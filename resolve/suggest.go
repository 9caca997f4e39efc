package resolve

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/diag"
	"ptxlink/internal/typo"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// hints finds what the user may have meant by an undefined symbol. It also searches
// archive members that are not linked.
type hints struct {
	t       *Table
	members Members
	files   []*object.File // all of them, once they are needed

	// Definitions of all files, as indexes into list.
	list     []found
	named    map[string]int   // the first of each name
	based    map[string][]int // external functions and variables by baseName
	searches int              // number of searches for misspellings
	closed   func() *object.File
	unknown  []*diag.Message // about symbols of which nothing is known
}

// several replaces the help for single symbols if more than one needs it, so that it is
// the same text for all.
func (h *hints) several() {
	if len(h.unknown) < 2 {
		return
	}
	for _, m := range h.unknown {
		m.Help = fmt.Sprintf("add the modules or libraries that define these %d symbols", len(h.unknown)) + diag.With("--allow-undefined=GLOB", ", or pass %s to leave them open")
	}
}

// maxSearches limits the undefined symbols for which a misspelling is searched,
// which looks at all definitions. If more are undefined, a library is missing.
const maxSearches = 50

// found is a name in a file; file is nil if none was found.
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
	h.files = append(h.files, h.members.Outlines()...)
	h.named, h.based = map[string]int{}, map[string][]int{}
	h.closed = sync.OnceValue(func() *object.File { return firstWholeProgram(h.files) })
	for _, f := range h.files {
		for n, sym := range f.Symbols {
			if !sym.Defined() {
				continue
			}
			at, name := len(h.list), f.Names[n]
			h.list = append(h.list, found{f, ptx.NameID(n)})
			if _, ok := h.named[name]; !ok {
				h.named[name] = at
			}
			if sym.Exported() && f.DeclOf(ptx.NameID(n)) != nil {
				base := baseName(name)
				h.based[base] = append(h.based[base], at)
			}
		}
	}
}

func (h *hints) kind(at int) ptx.DeclKind { return h.list[at].file.DeclOf(h.list[at].name).Kind }

// maxOverloads limits the overloads that are compared.
const maxOverloads = 20

// overload returns the function with the same qualified name, or with the same name
// and extern "C" on one side only. Of several it returns the one whose parameters are
// spelt most alike.
func (h *hints) overload(name, base string, kind ptx.DeclKind) found {
	var list []int
	add := func(candidates []int) {
		for _, at := range candidates {
			if len(list) == maxOverloads {
				return
			}
			if h.kind(at) == kind && h.list[at].spelling() != name {
				list = append(list, at)
			}
		}
	}
	add(h.based[name])
	if base != name {
		add(h.based[base])
	}
	if len(list) == 0 {
		return found{}
	}
	slices.Sort(list)
	best, wanted, limit := list[0], diag.Demangle(name), 64
	for _, at := range list {
		if d := typo.Distance(diag.Demangle(h.list[at].spelling()), wanted, limit); d <= limit {
			best, limit = at, d-1
		}
	}
	return h.list[best]
}

// misspelt returns the definition with the most similar name. One letter may differ
// in names of four to eleven letters, two in names of up to seventeen, and so on.
// Shorter names are not treated as misspellings.
func (h *hints) misspelt(name string, kind ptx.DeclKind) (similar found) {
	limit := len(name) / 6
	if len(name) >= 4 {
		limit = max(1, limit)
	}
	if h.searches++; h.searches > maxSearches || len(name) >= 200 {
		return found{}
	}
	for at, f := range h.list {
		other := f.spelling()
		if abs(len(other)-len(name)) > limit || !f.file.Symbols[f.name].Exported() || f.file.DeclOf(f.name) == nil || h.kind(at) != kind {
			continue
		}
		if d := typo.Distance(other, name, limit); d <= limit {
			limit, similar = d-1, f
		}
	}
	return similar
}

// suggest adds what the user may have meant: a module-local definition, the same
// function with other parameters, or a misspelling.
func (h *hints) suggest(s *Symbol, m *diag.Message) {
	h.gather()
	base := baseName(s.Name)
	kind := h.t.decl(s.Mentions[0]).Kind
	var local, overload, similar found
	if at, ok := h.named[s.Name]; ok {
		local = h.list[at]
	} else if overload = h.overload(s.Name, base, kind); overload.file == nil {
		similar = h.misspelt(s.Name, kind)
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
		if t := template(s.Name); t != "" && t == template(similar.spelling()) {
			m.Help = "the template is instantiated for other arguments there; put its body into the header, or instantiate it explicitly for these arguments"
		}
	case why != "":
		m.Help = why
	default:
		m.Help = "add the module that defines it" + diag.With("--allow-undefined="+s.Name, ", or pass %s to leave it open")
		f := h.closed()
		if f == nil {
			h.unknown = append(h.unknown, m)
			break
		}
		m.Note(f.At(diag.Span{}), "this module defines nothing that other modules can use")
		m.Help = "compile " + f.Name + " with -rdc=true if it is to define it; without it nvcc keeps, or drops, all but entries"
		if !slices.Contains(h.t.Files, f) { // it may be unrelated
			m.Help += "; if not, add the module that defines it" + diag.With("--allow-undefined="+s.Name, ", or pass %s")
		}
	}
}

// template returns the name of the template that a function is an instance of, with its
// scope and without its result; "" if it is no instance.
func template(name string) string {
	before, _, ok := strings.Cut(diag.Demangle(name), "<")
	if !ok || before == name {
		return ""
	}
	return before[strings.LastIndexByte(before, ' ')+1:]
}

// firstWholeProgram returns the first module that was compiled without
// -rdc=true, or nil.
func firstWholeProgram(files []*object.File) *object.File {
	for _, f := range files {
		if WholeProgram(f) {
			return f
		}
	}
	return nil
}

// baseName returns the qualified name of a mangled function without its parameters;
// other names are returned unchanged.
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
