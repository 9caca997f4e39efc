package ptx

// Compact prints PTX text on one line: comments gone, white space folded, no
// space where none is needed. Text that does not lex ends where it stops.
func Compact(text []byte) []byte {
	out := make([]byte, 0, len(text))
	lex := NewLexer(text, 0)
	var last Token
	for t := lex.Next(); t.Kind != EOF; last, t = t, lex.Next() {
		if last.End > 0 && needsSpace(last, t) {
			out = append(out, ' ')
		}
		out = append(out, text[t.Off:t.End]...)
	}
	return out
}

func needsSpace(a, b Token) bool {
	if b.Kind == Punct {
		return b.Ch == '(' && a.Kind != Punct || b.Ch == '{' || b.Ch == '='
	}
	if a.Kind == Punct {
		return a.Ch == ',' || a.Ch == ')' || a.Ch == '='
	}
	return true
}
