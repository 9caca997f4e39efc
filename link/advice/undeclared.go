package advice

import (
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// declaration adds how to declare a name that a module uses and does not declare.
func (h *hints) declaration(use resolve.UsePlace, name string, m *diag.Message) {
	f := use.File
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
	if code := f.Code(use.In); code != nil {
		for _, l := range code.Locals {
			if local := f.Src.String(l.Name); local != name {
				names = append(names, local)
			} else if l.Name.Off > use.Span.Off {
				m.Note(f.At(l.Name), "declared here")
				m.WithHelp("move this declaration before its first use")
				return
			}
		}
	}
	if near := diag.Nearest(names, name); near != "" {
		m.WithHelp("did you mean " + near + "?")
		return
	}
	m.WithHelp("declare it at the top of the module, with .extern if another module or the driver defines it")
	if name[0] == '%' {
		m.WithHelp("declare the register at the start of the function, with its type: " + statement(".reg .b32 "+name))
	}
}

func statement(text string) string { return `"` + diag.Escape(text) + `;"` }
