package ptx

import (
	"iter"
	"sort"

	"ptxlink/object/diag"
)

// CallsIn returns the calls in the body of a declaration.
func (m *Module) CallsIn(d *Decl) []Call {
	calls := m.Calls[sort.Search(len(m.Calls), func(i int) bool { return m.Calls[i].Span.Off >= d.Body.Off }):]
	return calls[:sort.Search(len(calls), func(i int) bool { return calls[i].Span.Off >= d.Body.End() })]
}

// References yields the uses of names in a declaration. call is set for what a call refers
// to directly; any other use of a function takes its address.
func (m *Module) References(d *Decl) iter.Seq2[NameID, bool] {
	return func(yield func(name NameID, call bool) bool) {
		calls := m.CallsIn(d)
		for u := d.FirstUse; u < d.EndUse; u++ {
			for len(calls) > 0 && calls[0].Use < u {
				calls = calls[1:]
			}
			if !yield(m.Uses[u].Name, len(calls) > 0 && calls[0].Use == u) {
				return
			}
		}
	}
}

// LocsIn returns the range of Locs in a span.
func (m *Module) LocsIn(span diag.Span) (first, end int) {
	at := func(off int32) int {
		return sort.Search(len(m.Locs), func(i int) bool { return m.Locs[i].Span.Off >= off })
	}
	return at(span.Off), at(span.End())
}

// FindInstruction returns the first instruction whose opcode with modifiers, such
// as "shfl.idx.b32", satisfies match. It may take the time to read the bodies again, because the
// linker calls it only for messages.
func (m *Module) FindInstruction(match func(opcode string) bool) (found diag.Span, ok bool) {
	for i := range m.Decls {
		m.Opcodes(&m.Decls[i], func(opcode string, words []diag.Span) bool {
			if ok = match(opcode); ok {
				last := words[len(words)-1]
				found = diag.Span{Off: words[0].Off, Len: last.End() - words[0].Off}
			}
			return !ok
		})
		if ok {
			break
		}
	}
	return found, ok
}

// Opcodes calls visit with the opcode of each instruction of a body, such as
// "shfl.idx.b32", and the places of its words, until visit returns false.
func (m *Module) Opcodes(d *Decl, visit func(opcode string, words []diag.Span) bool) {
	if !d.HasBody {
		return
	}
	c := m.Borrow(d)
	defer c.Return()
	var words []diag.Span
	for _, st := range c.Statements {
		if st.Kind != Instruction {
			continue
		}
		words = words[:0]
		var opcode []byte
		for _, t := range c.Tokens[st.Op:st.Operands] {
			opcode = append(opcode, c.Text(t)...)
			words = append(words, t.Span())
		}
		if !visit(string(opcode), words) {
			return
		}
	}
}
