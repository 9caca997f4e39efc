package abicheck

import (
	"fmt"
	"strings"

	"ptxlink/link/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// PrivateCopies warns if a module that nvcc compiled without -rdc=true has its own
// variable or function, and another module exports one of that name: without the
// option nvcc drops the linkage of everything but entries, and makes definitions of
// `extern __device__` declarations. Inline functions and templates, which are .weak
// elsewhere, may exist twice; names that start with two underscores or contain a $
// belong to the compiler.
func PrivateCopies(t *resolve.Table, log *diag.Log) {
	for _, f := range t.Files {
		if !resolve.WholeProgram(f) {
			continue
		}
		var first *diag.Message
		more := 0
		for n, sym := range f.Symbols {
			name := f.Names[n]
			s, ok := t.Lookup(name)
			if sym.Exported() || sym.Def < 0 || !ok || !s.Defined() || strings.HasPrefix(name, "__") || strings.Contains(name, "$") {
				continue
			}
			other := t.Files[s.Def.File]
			d, def := &f.Decls[sym.Def], other.DeclOf(s.Def.Name)
			switch {
			case def == nil || def.Kind != d.Kind:
				continue
			case d.Kind == ptx.Variable && (d.Space != def.Space || d.Space != ".global" && d.Space != ".const"):
				continue
			case d.Kind != ptx.Variable && other.Symbols[s.Def.Name].Linkage == ptx.Weak:
				continue
			}
			if first != nil {
				more++
				continue
			}
			first = log.Warn(diag.RDC, f.At(d.NameSpan), fmt.Sprintf("%s stays in this module, and %s has another of that name", log.Name(name), other.Name)).Of(name).
				Note(other.At(def.NameSpan), "other modules use this one").
				WithHelp("if they are meant to be one, compile this module with -rdc=true")
		}
		if more > 0 {
			first.Note(diag.Place{}, fmt.Sprintf("so do %d more names of this module", more))
		}
	}
}
