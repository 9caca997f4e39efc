package resolve

import (
	"slices"
	"strings"

	"ptxlink/internal/typo"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// undeclared reports the names that a module uses and does not declare before. ptxas refuses such a
// module. In the linked module, the name would refer to whatever another module declares under it,
// even if that is private to the other module (testdata/script/undeclared_name.txtar).
func (t *Table) undeclared(h *hints, log *diag.Log) {
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
			words := words(f, o)
			for _, word := range words {
				unknown[word] = words[0]
			}
		}
		var names []string
		uses := map[string][]usePlace{}
		for _, u := range list {
			name := f.Src.String(u.Span)
			directive := unknown[name]
			declares := directive != "" && typo.Nearest(directives, directive) == "" // perhaps
			if (declares || f.Newer()) && !t.declares(name, true) || callsOptiX(f, u.Span) && !t.declares(name, false) {
				continue // ptxas or OptiX decides on it
			}
			if uses[name] == nil {
				names = append(names, name)
			}
			uses[name] = append(uses[name], usePlace{f, u.Span, &f.Decls[u.In]})
		}
		for _, name := range names {
			first := uses[name][0]
			m := log.Error(diag.UndeclaredName, f.At(first.span), log.Name(name)+" is not declared before it is used"+inside(" in ", first, log)).Of(name)
			noteUses(uses[name][1:], m, log)
			h.declaration(first, name, m)
		}
	}
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

func (h *hints) declaration(use usePlace, name string, m *diag.Message) {
	f := use.file
	if id, ok := f.Lookup(name); ok && f.DeclOf(id) != nil {
		d := f.DeclOf(id)
		m.Note(f.At(d.NameSpan), "declared here")
		if m.WithHelp("move this declaration before its first use"); d.HasBody {
			m.WithHelp("declare it before its first use, with " + statement(d.Linkage.Word()+f.Declaration(d, name)))
		}
		return
	}
	h.gather()
	if h.unknownStatement(name, m) {
		return
	}
	if at, ok := h.named[name]; ok {
		other := h.list[at]
		m.Note(other.place(), "another module defines it here")
		m.WithHelp("declare it in " + f.Name)
		if d := other.file.DeclOf(other.name); d != nil {
			m.WithHelp("if this definition is meant, declare it in " + f.Name + " with " + statement(".extern "+other.file.Declaration(d, name)))
		}
		if !other.file.Symbols[other.name].Exported() {
			m.WithHelp(m.Help + ", and make the definition .visible")
		}
		return
	}
	names := f.Names
	if code := f.Code(use.in); code != nil {
		for _, l := range code.Locals {
			if local := f.Src.String(l.Name); local != name {
				names = append(names, local)
			} else if l.Name.Off > use.span.Off {
				m.Note(f.At(l.Name), "declared here")
				m.WithHelp("move this declaration before its first use")
				return
			}
		}
	}
	if near := typo.Nearest(names, name); near != "" {
		m.WithHelp("did you mean " + near + "?")
		return
	}
	m.WithHelp("declare it at the top of the module, with .extern if another module or the driver defines it")
	if name[0] == '%' {
		m.WithHelp("declare the register at the start of the function, with its type: " + statement(".reg .b32 "+name))
	}
}

func statement(text string) string { return `"` + diag.Escape(text) + `;"` }
