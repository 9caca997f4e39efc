package resolve

import (
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// undeclared reports the names that a module uses and does not declare before. ptxas refuses such a
// module. In the linked module, the name would refer to whatever another module declares under it,
// even if that is private to the other module (testdata/script/undeclared_name.txtar).
func (t *Table) undeclared(log *diag.Log) (missing []Missing) {
	percent := slices.ContainsFunc(t.Files, func(f *object.File) bool { return f.Percent() })
	for _, f := range t.Files {
		list := f.Undeclared
		if percent || f.HandWritten() { // others need no search, because compilers declare all registers, and ptxas refuses modules that do not
			list = f.UndeclaredRegisters()
		}
		if len(list) == 0 {
			continue
		}
		unknown := map[string]string{} // words in statements that the parser does not know, such as .metadata_section, with the directive
		for _, o := range f.Others {
			words := f.Words(o)
			for _, word := range words {
				unknown[word] = words[0]
			}
		}
		var names []string
		uses := map[string][]UsePlace{}
		for _, u := range list {
			name := f.Src.String(u.Span)
			directive := unknown[name]
			declares := directive != "" && object.Misspelt(directive) == "" // perhaps
			if (declares || f.Newer()) && !t.declares(name, true) || callsOptiX(f, u.Span) && !t.declares(name, false) {
				continue // ptxas or OptiX decides on it
			}
			if uses[name] == nil {
				names = append(names, name)
			}
			uses[name] = append(uses[name], UsePlace{f, u.Span, &f.Decls[u.In]})
		}
		for _, name := range names {
			first := uses[name][0]
			m := log.Error(diag.UndeclaredName, f.At(first.Span), log.Name(name)+" is not declared before it is used"+inside(" in ", first, log)).Of(name)
			noteUses(uses[name][1:], m, log)
			missing = append(missing, Missing{Message: m, Name: name, Undeclared: &first})
		}
	}
	return missing
}

// callsOptiX reports whether a name is called and may be a function of OptiX.
func callsOptiX(f *object.File, name diag.Span) bool {
	return strings.HasPrefix(f.Src.String(name), ptx.OptiXPrefix) && slices.ContainsFunc(f.Calls, func(c ptx.Call) bool { return c.Target == name })
}

// declares reports whether a module declares a name at module scope, other than with .extern if extern is false.
func (t *Table) declares(name string, extern bool) bool {
	return slices.ContainsFunc(t.Files, func(f *object.File) bool {
		id, ok := f.Lookup(name)
		return ok && (extern || f.DeclOf(id) == nil || f.DeclOf(id).Linkage != ptx.Extern)
	})
}
