package ptx

// Compact returns PTX text on one line: without comments, with white space folded
// and dropped where it is not needed. Text that does not lex is cut at the error.
func Compact(text []byte) []byte { return AppendCompact(make([]byte, 0, len(text)), text) }

// AppendCompact appends what Compact returns.
func AppendCompact(out, text []byte) []byte {
	if plain, ok := appendPlain(out, text); ok {
		return plain
	}
	return appendTokens(out, text)
}

func appendTokens(out, text []byte) []byte {
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

// appendPlain is AppendCompact for names, directives, decimal numbers, parentheses,
// brackets and commas: what most prototypes consist of.
func appendPlain(out, text []byte) (compact []byte, ok bool) {
	const word = 'w'
	last := byte(0) // word or the last punctuation
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case class[c] == cSpace:
			at++
			continue
		case c == '(' || c == ')' || c == '[' || c == ']' || c == ',':
			if c == '(' && last == word {
				out = append(out, ' ')
			}
			out = append(out, c)
			last = c
			at++
			continue
		case c == '.' && (at == 0 || !inName[text[at-1]]), class[c] == cLetter, class[c] == cSigil, class[c] == cDigit:
		default:
			return nil, false
		}
		end := at + 1
		for digits := class[text[at]] == cDigit; end < len(text) && inName[text[end]]; end++ {
			if digits && class[text[end]] != cDigit {
				return nil, false
			}
		}
		if end == at+1 && (text[at] == '.' || class[text[at]] == cSigil) {
			return nil, false
		}
		if last == word || last == ',' || last == ')' {
			out = append(out, ' ')
		}
		out = append(out, text[at:end]...)
		last = word
		at = end
	}
	return out, true
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
