package link

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"strings"

	"ptxlink/internal/srcline"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// adviseCopies gives the advice for two inputs of which one defines all that the other defines, and more
// than one name: builds of one source, or two versions of a library.
func adviseCopies(in inputs, cubins cubins, log *diag.Log) {
	type pair struct{ second, first string }
	clashes := map[pair][]*Message{}
	for _, m := range log.Messages {
		if m.ID != diag.DuplicateSymbol || len(m.Notes) == 0 {
			continue
		}
		p := pair{m.Place.File(), m.Notes[0].Place.File()}
		clashes[p] = append(clashes[p], m)
		if p.first == p.second && m.Place.Source != m.Notes[0].Place.Source && !strings.HasSuffix(p.first, ")") { // in a member: of two with one name
			m.WithHelp("name " + p.first + " once")
		}
	}
	if len(clashes) == 0 {
		return
	}
	files, strong := map[string]*object.File{}, map[string]int{}
	maps.Copy(strong, cubins.strong)
	for _, f := range in.files {
		files[f.Src.Name] = f
		for _, s := range f.Symbols {
			if s.Defined() && s.Linkage == ptx.Visible {
				strong[f.Src.Name]++
			}
		}
	}
	for p, messages := range clashes {
		all, some, n := p.first, p.second, len(messages)
		if n != strong[some] {
			all, some = some, all
		}
		if n < 2 || n != strong[some] || all == some || isOutput(files[all], files[some]) {
			continue
		}
		for _, m := range messages {
			m.WithHelp(fmt.Sprintf("link one of the two if they are builds of one source, as %s defines all %d names that %s defines; otherwise %s", all, n, some, m.Help))
		}
	}
}

// isOutput reports whether one of two modules is the output of a link of the other; nil is machine code.
func isOutput(f, g *object.File) bool {
	return f != nil && g != nil && resolve.OutputHelp(f, g) != ""
}

// adviseInline gives the advice for two definitions that come from one line of a source
// file, such as a header.
func adviseInline(files map[*diag.Source]*object.File, lines *srcline.Finder, m *diag.Message) {
	f := files[m.Place.Source]
	if f == nil || len(m.Notes) == 0 || isOutput(f, files[m.Notes[0].Place.Source]) {
		return
	}
	if header := lines.Shared(m.Place, m.Notes[0].Place); header != "" {
		if name, ok := f.Lookup(m.Symbol); ok {
			m.WithHelp(cmp.Or(resolve.OnceInFile(f, name, path.Base(header)), m.Help))
		}
	}
}
