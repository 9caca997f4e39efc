package ptx

import (
	"bytes"

	"ptxlink/internal/diag"
)

// FindInstruction finds the first instruction whose opcode with its modifiers,
// "shfl.idx.b32" say, satisfies match. It reads the whole text again: a linker
// asks only where it must explain something.
func (m *Module) FindInstruction(match func(opcode string) bool) (diag.Span, bool) {
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.HasBody {
			continue
		}
		lex := NewLexer(m.Src.Text[:d.Body.End()], d.Body.Off)
		start := true // of a statement
		for t := lex.Next(); t.Kind != EOF; {
			if t.Kind != Ident || !start {
				start = t.Kind == Punct && bytes.IndexByte([]byte(";{}:"), t.Ch) >= 0 || start && t.Kind == Punct && (t.Ch == '@' || t.Ch == '!')
				t = lex.Next()
				continue
			}
			opcode, end := string(m.Src.Text[t.Off:t.End]), t.End
			from := t.Off
			for t = lex.Next(); t.Kind == Word; t = lex.Next() {
				opcode += string(m.Src.Text[t.Off:t.End])
				end = t.End
			}
			start = t.Kind == Ident // that was a predicate: @p shfl...
			if span := (diag.Span{Off: from, Len: end - from}); match(opcode) {
				return span, true
			}
		}
	}
	return diag.Span{}, false
}
