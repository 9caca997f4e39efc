package advice

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/object/srcline"
	"ptxlink/resolve"
)

// Input is a module or a cubin of a link.
type Input struct {
	Name    string       // in messages
	Given   string       // the name of the input that contains it, if known
	File    *object.File // nil for a cubin
	Code    []byte       // of a cubin
	Defines []string     // names that a cubin defines
}

// Duplicates adds to messages about two definitions of one name how to have one of them.
func Duplicates(t *resolve.Table, log *diag.Log) {
	for id, d := range t.Duplicates {
		d.Message.WithHelp(oneOf(t, d, id, log))
	}
}

// Sources adds to messages the source lines that places in bodies were compiled from, and advice for two definitions
// from one line.
func Sources(files []*object.File, log *diag.Log) {
	if len(log.Messages) == 0 {
		return
	}
	lines := srcline.Finder{Spelling: log.Spelling}
	bySource := make(map[*diag.Source]*object.File, len(files))
	for _, f := range files {
		lines.Know(f.Module)
		bySource[f.Src] = f
	}
	for _, m := range log.Messages {
		if m.ID == diag.DuplicateSymbol {
			inline(bySource, &lines, m)
		}
		lines.Explain(m)
	}
}

// Copies gives advice for two inputs that are copies of each other. It does so too if one
// defines all names of the other, and more than one, because they are then builds of one source, or
// two versions of a library.
func Copies(list []Input, log *diag.Log) {
	sources, files := map[*diag.Source]Input{}, map[string]*object.File{}
	code, defined := map[string][]byte{}, map[string]map[string]bool{} // of cubins, and of all
	for _, in := range list {
		names := map[string]bool{}
		for _, name := range in.Defines {
			names[name] = true
		}
		if f := in.File; f != nil {
			sources[f.Src], files[in.Name] = in, f
			for i, s := range f.Symbols {
				if s.Defined() && s.Exported() {
					names[f.Names[i]] = true
				}
			}
		} else {
			code[in.Name] = in.Code
		}
		defined[in.Name] = names
	}
	// input returns the name of the input that contains a place.
	input := func(at diag.Place) string { return cmp.Or(sources[at.Source].Given, at.File()) }
	type pair struct{ second, first string }
	clashes, same, inputs := map[pair][]*diag.Message{}, map[pair]bool{}, map[string]string{}
	for _, m := range log.Messages {
		if m.ID != diag.DuplicateSymbol || len(m.Notes) == 0 {
			continue
		}
		at, to := m.Place, m.Notes[0].Place
		p := pair{at.File(), to.File()}
		inputs[p.first], inputs[p.second] = input(to), input(at)
		if _, known := same[p]; !known {
			same[p] = sameCode(sources[at.Source].File, sources[to.Source].File) || code[p.first] != nil && bytes.Equal(code[p.first], code[p.second])
		}
		switch {
		case p.second != p.first && same[p]:
			m.WithHelp(input(at) + " has the same device code as " + input(to) + "; link one of the two")
		case p.second != p.first:
			clashes[p] = append(clashes[p], m)
		case at.Source != to.Source && !strings.HasSuffix(input(to), ")"): // not two members
			m.WithHelp("name " + input(to) + " once")
		}
	}
	if len(clashes) == 0 {
		return
	}
	for p, messages := range clashes {
		all, some := p.first, p.second
		if len(defined[some]) > len(defined[all]) {
			all, some = some, all
		}
		n := len(defined[some])
		equal, mixed := n == len(defined[all]), (files[all] == nil) != (files[some] == nil)
		// Units that only share the functions of a header are not copies, because each has its own
		// templates, which are weak.
		if len(messages) < 2 && !(equal && mixed) || !within(defined[some], defined[all]) || related(files[all], files[some]) {
			continue
		}
		link := "link one of the two"
		if mixed {
			ptx, code := all, some
			if files[ptx] == nil {
				ptx, code = code, ptx
			}
			link = fmt.Sprintf("link only %s, which ptxlink checks, or only %s", inputs[ptx], inputs[code])
		}
		switch {
		case n == 1:
			link += " if they were built from the same source"
		case equal && mixed:
			link += fmt.Sprintf(", as both define the same %d names", n)
		default:
			link += fmt.Sprintf(" if they were built from the same source: %s defines all %d symbols of %s", inputs[all], n, inputs[some])
		}
		for _, m := range messages {
			if help := m.Help; !equal || !mixed || n == 1 {
				m.WithHelp(link + "; otherwise " + help)
			} else {
				m.WithHelp(link)
			}
		}
	}
}

// within reports whether b has every name of a.
func within(a, b map[string]bool) bool {
	for name := range a {
		if !b[name] {
			return false
		}
	}
	return true
}

// sameCode reports whether two modules are copies, or links of the same inputs. It returns false
// for nil, which stands for machine code.
func sameCode(f, g *object.File) bool {
	return f != nil && g != nil && f.Producer == g.Producer && slices.Equal(f.Digests, g.Digests)
}

// related reports whether two modules are copies, or one is the output of a link of the other.
func related(f, g *object.File) bool {
	return sameCode(f, g) || f != nil && g != nil && outputHelp(f, g) != ""
}

// inline gives the advice for two definitions that come from one line of a source file, such
// as a header.
func inline(files map[*diag.Source]*object.File, lines *srcline.Finder, m *diag.Message) {
	f := files[m.Place.Source]
	if f == nil || len(m.Notes) == 0 || related(f, files[m.Notes[0].Place.Source]) {
		return
	}
	if header := lines.Shared(m.Place, m.Notes[0].Place); header != "" {
		if name, ok := f.Lookup(m.Symbol); ok {
			m.WithHelp(cmp.Or(onceInFile(f, name, path.Base(header)), m.Help))
		}
	}
}

// oneOf returns how to have one of two definitions, or both. A function that other modules only declare cannot
// become local.
func oneOf(t *resolve.Table, d *resolve.Duplicate, id object.ID, log *diag.Log) string {
	f, g := t.Files[d.First.File], t.Files[id.File]
	a, b := f.DeclOf(d.First.Name), g.DeclOf(id.Name)
	if a == nil || b == nil || a.Kind != b.Kind { // an alias
		return "rename one of the two"
	}
	if help := outputHelp(f, g); help != "" {
		return help
	}
	help := kindHelp(f, a, g, b)
	s := t.Symbols[t.Of(id)]
	only := func(id object.ID) bool { return !t.Files[id.File].Symbols[id.Name].Defined() }
	switch {
	case !a.Defines() || !b.Defines():
	case d.Same:
		kinds := map[ptx.DeclKind]string{ptx.Func: "functions", ptx.Variable: "variables", ptx.Entry: "kernels"}
		help += log.With("--dedupe-identical", "; %s keeps one of two identical "+kinds[b.Kind])
	case b.Kind == ptx.Func && g.Language() != object.PTX && !slices.ContainsFunc(s.Mentions, only):
		help += log.With("--localize-symbol", "; %s "+s.Name+" lets each module keep its own")
	}
	return help
}

// kindHelp returns how to have one definition of two of a kind, by the language of their modules.
func kindHelp(f *object.File, d *ptx.Decl, g *object.File, e *ptx.Decl) string {
	help := "rename one of the two"
	variable, function := d.Kind == ptx.Variable, d.Kind == ptx.Func
	switch language := g.Language(); {
	case d.Linkage == ptx.Common || e.Linkage == ptx.Common:
		help = "a .common variable with an initial value is a definition; keep one initial value"
	case d.Kind == ptx.Entry || language != f.Language() || variable && d.Size() != e.Size():
	case language == object.CXX && function:
		help = "if a header defines it, declare it inline there; otherwise rename one of the two"
	case language == object.CXX:
		help = "if a header defines it, declare it inline there (C++17); otherwise declare it extern in one of the two files, or rename it"
	case language == object.PTX && variable:
		help = "rename one of the two, or declare it .extern in one module"
	case language == object.PTX:
		help = "rename one of the two, or drop .visible from one so that it stays in its module"
	}
	return help
}

// outputHelp returns advice if one module is the output of an earlier link of the other, as when
// *.ptx matches both, and "" for others.
func outputHelp(a, b *object.File) string {
	for _, pair := range [][2]*object.File{{a, b}, {b, a}} {
		output, input := pair[0], pair[1]
		if output.LinkOf(input) {
			return output.Name + " is the output of a link of " + input.Name + "; name one of the two"
		}
	}
	return ""
}

// onceInFile returns advice for definitions in several modules that come from the same source
// line, or "" if that file is not a C or C++ header, because compilers that write C++, such as
// Slang's, name files of their language. nvcc ignores inline before a kernel.
func onceInFile(f *object.File, name ptx.NameID, header string) string {
	switch path.Ext(header) {
	case ".py": // because Triton and Pallas give all variants of a kernel one name
		return "both modules were compiled from " + header + "; give one of the kernels another name in Python, or link one of the modules"
	case ".cu", ".c", ".cc", ".cpp", ".cxx", ".rs", ".jl":
		return "both modules were compiled from " + header + "; link one of them"
	case ".h", ".cuh", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp", ".tcc", ".txx", ".ixx", ".def", ".icc":
	default:
		return ""
	}
	switch d := f.DeclOf(name); {
	case d != nil && d.Kind == ptx.Entry:
		return "declare it static in " + header + ", or move it to one source file"
	case f.Language() != object.CXX:
		return "declare it static in " + header
	case d != nil && d.Kind == ptx.Variable:
		return "declare it inline in " + header + " (C++17), or static if each file is to have its own"
	}
	return "declare it inline in " + header
}
