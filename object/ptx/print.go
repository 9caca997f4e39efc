package ptx

// Compact returns PTX text on one line: without comments, with white space folded
// and dropped where it is not needed. Text that does not lex is cut at the error.
func Compact(text []byte) []byte { return AppendCompact(make([]byte, 0, len(text)), text) }

// AppendCompact appends what Compact returns.
func AppendCompact(out, text []byte) []byte {
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
