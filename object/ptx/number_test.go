package ptx

import "testing"

// TestNumbers: each text is one token. ptxas takes them all.
func TestNumbers(t *testing.T) {
	for _, text := range []string{"25", "0x2a", "0f3F800000", "1.5", "4.", "4.e2", "1.5e-3", "1.5E+3", "25e1", "25e-1", "2e+1", "7U"} {
		lex := NewLexer([]byte(text), 0)
		if tok := lex.Next(); tok.Kind != Number || int(tok.End) != len(text) {
			t.Errorf("%s: %+v", text, tok)
		}
	}
	for text, end := range map[string]int32{"0x25e-1": 5, "4.u32": 2, "25ex-1": 4, "1.5e": 3, "2e-x": 2} {
		lex := NewLexer([]byte(text), 0)
		if tok := lex.Next(); tok.End != end {
			t.Errorf("%s: %+v", text, tok)
		}
	}
}
