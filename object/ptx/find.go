package ptx

import "ptxlink/internal/diag"

// FindInstruction returns the first instruction whose opcode with modifiers, such
// as "shfl.idx.b32", satisfies match. It reads the bodies again: the linker calls
// it only for messages.
func (m *Module) FindInstruction(match func(opcode string) bool) (diag.Span, bool) {
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.HasBody {
			continue
		}
		var r codeReader
		r.cursor = cursor{Lexer: NewLexer(m.Src.Text[:d.Body.End()], d.Body.Off), keep: true}
		r.next()
		r.begin(m, d, m.Params(d), false)
		for r.tokens = r.tokens[:0]; r.statement(); r.tokens = r.tokens[:0] {
			if r.st.Kind != Instruction {
				continue
			}
			opcode := ""
			for _, t := range r.tokens[r.st.Op:r.st.Operands] {
				opcode += string(m.Src.Text[t.Off:t.End])
			}
			if match(opcode) {
				from := r.tokens[r.st.Op].Off
				return diag.Span{Off: from, Len: r.tokens[r.st.Operands-1].End - from}, true
			}
		}
	}
	return diag.Span{}, false
}
