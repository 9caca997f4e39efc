package program

import (
	"bytes"
	"cmp"
	"slices"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// AvoidFaults rewrites functions that would trigger faults of ptxas (docs/ptxas.md, Faults of
// ptxas), as linkers do for errata of processors. A link puts functions together that ptxas would
// otherwise compile apart, and -O inlines some, so ptxas gets code that no compiler gives it, and
// compiles some of it wrongly, without a message.
//
// Each rewriting must mean the same by the ISA, and cost nothing where ptxas has no fault. A fault
// that any linked program can trigger is avoided in every function; one that needs inlined code
// only in functions that the optimiser has changed. This pass comes last, because it depends on the
// final code. A script with each fault checks that ptxas still has it, so that the rewriting can
// go once no supported ptxas needs it.
func (p *Program) AvoidFaults() {
	for i := range p.Bodies {
		piece := &p.bodies[i]
		m, d, optimized := p.Function(i)
		var edits []ptx.Edit
		if optimized {
			edits = loadBytes(m, d)
		}
		if edits = append(edits, prefetchParams(m, d, piece.Edits)...); len(edits) > 0 {
			before := piece.Size()
			edits = append(edits, piece.Edits...)
			ptx.SortEdits(edits)
			piece.Edit(edits)
			p.size += piece.Size() - before
		}
	}
}

// prefetchParams returns the edits that prefetch the parameters whose address a function takes,
// because of a fault of ptxas: if it assembles a kernel with local variables together with such a
// function, and the function accesses the parameter at constant offsets only, the function reads
// and writes a local variable instead. clang 22 writes such functions; assembled separately they
// are right. A prefetch changes nothing and avoids the fault. others are edits that may rename the
// prefetched registers.
func prefetchParams(m *ptx.Module, d *ptx.Decl, others []ptx.Edit) (edits []ptx.Edit) {
	first, _ := slices.BinarySearchFunc(m.ParamAddresses, d.Body.Off, func(a ptx.ParamAddress, off int32) int { return cmp.Compare(a.End, off) })
	for _, a := range m.ParamAddresses[first:] {
		if a.End > d.Body.End() {
			break
		}
		written := func(span diag.Span) string { return string(ptx.Apply(nil, m.Src.Text, span, within(span, others))) }
		prefetch := " " + written(a.Guard) + "prefetch.local.L1 [" + written(a.Register) + "];"
		if !bytes.HasPrefix(m.Src.Text[a.End:], []byte(prefetch)) { // otherwise it was linked before
			edits = append(edits, ptx.Edit{Span: diag.Span{Off: a.End}, Text: prefetch})
		}
	}
	return edits
}

// loadBytes returns the edits that load a signed byte of a parameter or result without its sign,
// and then extend it. They are needed because ptxas before 13.5 mistakes the 16 bits of ld.param.s8
// for 32 bits that are extended with zeros. A function that gets them as its own parameter narrows
// them, so only inlined functions are wrong.
func loadBytes(m *ptx.Module, d *ptx.Decl) (edits []ptx.Edit) {
	if !bytes.Contains(m.Src.Bytes(d.Body), []byte("ld.param.s8")) {
		return nil
	}
	c := m.Code(d)
	for _, st := range c.Statements {
		if c.Opcode(st) != "ld" || !slices.Equal(c.Modifiers(st), []string{".param", ".s8"}) {
			continue
		}
		to := c.Tokens[st.Operands]
		if r, ok := c.Register(st.Operands); ok && ptx.TypeSize(c.Locals[r.Local].Type.Word) == 2 {
			guard, name := c.Module.Src.String(diag.Span{Off: c.Span(st).Off, Len: c.Tokens[st.Op].Off - c.Span(st).Off}), string(c.Text(to))
			edits = append(edits, ptx.Edit{Span: c.Tokens[st.Op+2].Span(), Text: ".u8"},
				ptx.Edit{Span: diag.Span{Off: c.Span(st).End()}, Text: " " + guard + "cvt.s16.s8 " + name + ", " + name + ";"})
		}
	}
	return edits
}
