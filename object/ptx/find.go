package ptx

import "ptxlink/link/diag"

// FindInstruction returns the first instruction whose opcode with modifiers, such
// as "shfl.idx.b32", satisfies match. It reads the bodies again: the linker calls
// it only for messages.
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
