package optimize_test

import (
	"slices"

	"ptxlink/link/optimize"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// written is the result for one module, and its text.
type written struct {
	*optimize.Result
	Text []byte
}

// optimizeModule optimises one module as a program of its own, in the order of its text.
func optimizeModule(m *ptx.Module, o optimize.Options) (*written, error) {
	p := programOf(m)
	r, err := optimize.Optimize(p, o)
	if err != nil {
		return nil, err
	}
	return &written{r, write(m, p, r)}, nil
}

func programOf(m *ptx.Module) *optimize.Program {
	p := &optimize.Program{
		Version: m.Version, AddressSize: m.AddressSize, Names: map[string]int32{}, Described: map[string]bool{},
		Prototypes: func() *ptx.Module { return prototypes(m) }, Text: slices.Values([][]byte{m.Src.Text}),
	}
	next := int32(0) // the first use behind the last function
	uses := func(end int32) {
		for ; next < end; next++ {
			p.Uses = append(p.Uses, m.Names[m.Uses[next].Name])
		}
	}
	for i := range m.Decls {
		d := &m.Decls[i]
		name := m.Names[d.Name]
		place := 2 * int32(len(p.Functions))
		if d.HasBody {
			place++
			p.Functions = append(p.Functions, optimize.Function{Name: name, Linkage: d.Linkage, Module: m, Decl: d})
			uses(d.FirstUse)
			next = d.EndUse
		}
		if _, known := p.Names[name]; !known {
			p.Names[name] = place
		}
	}
	uses(int32(len(m.Uses)))
	for _, a := range m.Aliases {
		p.Aliases = append(p.Aliases, optimize.Alias{Name: m.Names[a.Name], Target: m.Names[a.Target]})
	}
	for _, name := range m.SectionNames() {
		p.Described[name] = true
	}
	return p
}

// prototypes returns the module without what has a body.
func prototypes(m *ptx.Module) *ptx.Module {
	n := &ptx.Module{Src: m.Src, Names: m.Names}
	for _, d := range m.Decls {
		if d.Kind == ptx.Func && !d.HasBody {
			n.Decls = append(n.Decls, d)
		}
	}
	return n
}

// write returns the text of the result.
func write(m *ptx.Module, p *optimize.Program, r *optimize.Result) []byte {
	kept := map[string]bool{}
	var edits []ptx.Edit
	for _, f := range r.Functions {
		old := p.Functions[f.Index]
		kept[old.Name] = true
		if f.Lines != nil {
			from := old.Decl.Header.Off
			edits = append(edits, ptx.Edit{Span: diag.Span{Off: from, Len: old.Decl.Body.End() - from}, Text: f.Module.Src.String(f.Decl.Span)})
		}
	}
	for _, v := range r.Variables {
		edits = append(edits, ptx.Edit{Span: diag.Span{Off: p.Functions[0].Decl.Span.Off}, Text: string(v.Module.Src.Text)})
	}
	for i := range m.Decls {
		if d := &m.Decls[i]; slices.ContainsFunc(p.Functions, func(f optimize.Function) bool { return f.Name == m.Names[d.Name] }) && !kept[m.Names[d.Name]] {
			edits = append(edits, ptx.Edit{Span: d.Span})
		}
	}
	if r.Strings != "" {
		at, text := int32(len(m.Src.Text)), "\n.section .debug_str\n{"+r.Strings+"}\n"
		for i := range m.Sections {
			if m.Sections[i].Name == ".debug_str" {
				at, text = m.Sections[i].Body.End(), r.Strings
			}
		}
		edits = append(edits, ptx.Edit{Span: diag.Span{Off: at}, Text: text})
	}
	ptx.SortEdits(edits)
	return ptx.Apply(nil, m.Src.Text, diag.Span{Len: int32(len(m.Src.Text))}, edits)
}
