package link

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ptxlink/internal/srcline"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/resolve"
)

// adviseCopies gives advice for two inputs that are copies of each other. It does so too if one
// defines all names of the other, and more than one, because they are then builds of one source, or
// two versions of a library.
func adviseCopies(in inputs, cubins cubins, log *diag.Log) {
	sources, files := map[*diag.Source]*object.File{}, map[string]*object.File{}
	for _, f := range in.files {
		sources[f.Src], files[f.Src.Name] = f, f
	}
	// input returns the name of the input that contains a place.
	input := func(at diag.Place) string {
		if f := sources[at.Source]; f != nil {
			return cmp.Or(in.named[f.Input].Name, in.named[f.Input].Path)
		}
		return at.File()
	}
	code := map[string][]byte{} // of cubins
	for _, c := range cubins.list {
		code[c.Name] = c.Code
	}
	type pair struct{ second, first string }
	clashes, copies, inputs := map[pair][]*Message{}, map[pair]bool{}, map[string]string{}
	for _, m := range log.Messages {
		if m.ID != diag.DuplicateSymbol || len(m.Notes) == 0 {
			continue
		}
		at, to := m.Place, m.Notes[0].Place
		p := pair{at.File(), to.File()}
		inputs[p.first], inputs[p.second] = input(to), input(at)
		if _, known := copies[p]; !known {
			copies[p] = sameCode(sources[at.Source], sources[to.Source]) || code[p.first] != nil && bytes.Equal(code[p.first], code[p.second])
		}
		switch {
		case p.second != p.first && copies[p]:
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
	defined := map[string]map[string]bool{} // names that each input defines
	for _, c := range cubins.list {
		defined[c.Name] = map[string]bool{}
		for _, s := range c.Symbols {
			if s.Defined {
				defined[c.Name][s.Name] = true
			}
		}
	}
	for name, f := range files {
		defined[name] = map[string]bool{}
		for i, s := range f.Symbols {
			if s.Defined() && s.Exported() {
				defined[name][f.Names[i]] = true
			}
		}
	}
	for p, messages := range clashes {
		all, some := p.first, p.second
		if len(defined[some]) > len(defined[all]) {
			all, some = some, all
		}
		n := len(defined[some])
		same, mixed := n == len(defined[all]), (files[all] == nil) != (files[some] == nil)
		// Units that only share the functions of a header are not copies, because each has its own
		// templates, which are weak.
		if len(messages) < 2 && !(same && mixed) || !within(defined[some], defined[all]) || related(files[all], files[some]) {
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
		case same && mixed:
			link += fmt.Sprintf(", as both define the same %d names", n)
		default:
			link += fmt.Sprintf(" if they were built from the same source: %s defines all %d symbols of %s", inputs[all], n, inputs[some])
		}
		for _, m := range messages {
			if help := m.Help; !same || !mixed || n == 1 {
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
	return sameCode(f, g) || f != nil && g != nil && resolve.OutputHelp(f, g) != ""
}

// adviseInline gives the advice for two definitions that come from one line of a source file, such
// as a header.
func adviseInline(files map[*diag.Source]*object.File, lines *srcline.Finder, m *diag.Message) {
	f := files[m.Place.Source]
	if f == nil || len(m.Notes) == 0 || related(f, files[m.Notes[0].Place.Source]) {
		return
	}
	if header := lines.Shared(m.Place, m.Notes[0].Place); header != "" {
		if name, ok := f.Lookup(m.Symbol); ok {
			m.WithHelp(cmp.Or(resolve.OnceInFile(f, name, path.Base(header)), m.Help))
		}
	}
}
