package ptx

import (
	"bytes"
	"fmt"

	"ptxlink/link/diag"
)

// oldLexer reads tokens on demand. After the first error, which is kept in Err, it
// returns only EOF.
type oldLexer struct {
	text []byte
	at   int
	Err  *Error
}

// newOldLexer returns a lexer of text, starting at byte off.
func newOldLexer(text []byte, off int32) oldLexer { return oldLexer{text: text, at: int(off)} }

func (l *oldLexer) fail(off, end int, help, format string, args ...any) Token {
	if l.Err == nil {
		l.Err = &Error{Span: diag.Span{Off: int32(off), Len: int32(end - off)}, Text: fmt.Sprintf(format, args...), Help: help}
	}
	l.at = len(l.text)
	return Token{Off: int32(off), End: int32(off)}
}

// Next returns the next token. It skips white space, comments and #line markers.
func (l *oldLexer) Next() Token {
	text := l.text
	for l.at < len(text) {
		at := l.at
		c := text[at]
		switch class[c] {
		case cSpace:
			l.at++
		case cLetter:
			return l.ident(at)
		case cSigil:
			if at+1 < len(text) && inName[text[at+1]] {
				return l.ident(at)
			}
			if c == '_' { // the sink: mov.b64 {_, %r1}, %rd1
				l.at++
				return Token{Kind: Punct, Ch: c, Off: int32(at), End: int32(at + 1)}
			}
			return l.fail(at, at+1, "", "%q alone is not a name", string(c))
		case cDigit:
			return l.number(at)
		case cPunct, cMark:
			switch c {
			case '/':
				if at+1 < len(text) && (text[at+1] == '/' || text[at+1] == '*') {
					if !l.comment(at) {
						return Token{Off: int32(at), End: int32(at)}
					}
					continue
				}
			case '#':
				if !l.lineMarker(at) {
					return Token{Off: int32(at), End: int32(at)}
				}
				continue
			case '.':
				return l.word(at)
			case '"':
				return l.string(at)
			case '%':
				if at+1 < len(text) && inName[text[at+1]] {
					return l.ident(at)
				}
			}
			l.at++
			return Token{Kind: Punct, Ch: c, Off: int32(at), End: int32(at + 1)}
		default:
			return l.bad(at)
		}
	}
	return Token{Off: int32(len(text)), End: int32(len(text))}
}

func (l *oldLexer) ident(at int) Token {
	end := at + 1
	for end < len(l.text) && inName[l.text[end]] {
		end++
	}
	l.at = end
	return Token{Kind: Ident, Off: int32(at), End: int32(end)}
}

// number accepts any run of letters and digits, and a fraction or an exponent after
// plain digits: `4.u32` is the float `4.` followed by u32, as in ptxas, and `2e-1` one.
func (l *oldLexer) number(at int) Token {
	digits := at
	for digits < len(l.text) && class[l.text[digits]] == cDigit {
		digits++
	}
	end := digits
	for end < len(l.text) && inName[l.text[end]] {
		end++
	}
	if end == digits && end < len(l.text) && l.text[end] == '.' {
		for end++; end < len(l.text) && class[l.text[end]] == cDigit; end++ {
		}
		digits = end
	}
	if e := digits; e < len(l.text) && l.text[e]|0x20 == 'e' {
		if e++; e < len(l.text) && (l.text[e] == '+' || l.text[e] == '-') {
			e++
		}
		if e < len(l.text) && class[l.text[e]] == cDigit {
			for ; e < len(l.text) && class[l.text[e]] == cDigit; e++ {
			}
			end = max(end, e)
		}
	}
	l.at = end
	return Token{Kind: Number, Off: int32(at), End: int32(end)}
}

// word accepts a dot and the name behind it, with its `::` parts (`.shared::cluster`).
func (l *oldLexer) word(at int) Token {
	text := l.text
	end := at + 1
	if end >= len(text) || !inName[text[end]] {
		return l.fail(at, at+1, "", "a dot must be followed by a directive name")
	}
	for {
		for end < len(text) && inName[text[end]] {
			end++
		}
		if end+2 >= len(text) || text[end] != ':' || text[end+1] != ':' || !inName[text[end+2]] {
			break
		}
		end += 2
	}
	l.at = end
	return Token{Kind: Word, Off: int32(at), End: int32(end)}
}

// string accepts any bytes but NUL up to the next quote, line ends among them.
func (l *oldLexer) string(at int) Token {
	end := bytes.IndexByte(l.text[at+1:], '"')
	if end < 0 {
		line := bytes.IndexByte(l.text[at:], '\n')
		if line < 0 {
			line = len(l.text) - at
		}
		return l.fail(at, at+line, "", "string is not closed")
	}
	if end += at + 2; !l.readable(at, end, false) {
		return Token{Off: int32(at), End: int32(at)}
	}
	l.at = end
	return Token{Kind: String, Off: int32(at), End: int32(end)}
}

func (l *oldLexer) comment(at int) bool {
	if l.text[at+1] == '/' {
		l.at = lineEnd(l.text, at)
		return l.readable(at, l.at, true)
	}
	end := bytes.Index(l.text[at+2:], []byte("*/"))
	if end < 0 {
		l.fail(at, at+2, "add the missing */", "comment is not closed")
		return false
	}
	l.at = at + 2 + end + 2
	return l.readable(at, l.at, true)
}

// readable reports bytes of a comment or string that ptxas does not read as we do: a
// NUL, where the text ends for it, and in a comment a byte 255, where ptxas before 13
// takes the line to end, or the comment to have no end. NULs at the end of the text do
// no harm.
func (l *oldLexer) readable(at, end int, comment bool) bool {
	if i := bytes.IndexByte(l.text[at:end], 0); i >= 0 {
		l.bad(at + i)
		return l.Err == nil
	}
	if i := bytes.IndexByte(l.text[at:end], 255); i >= 0 && comment {
		l.fail(at+i, at+i+1, "remove it, or save the file as UTF-8", "byte 255 in a comment, where ptxas before 13 ends the comment")
		return false
	}
	return true
}

// lineMarker skips `# 1 "a.cu"` and `#line 1 "a.cu"`, which ptxas accepts anywhere;
// ptxas refuses every other preprocessor line too.
func (l *oldLexer) lineMarker(at int) bool {
	if end := marker().FindIndex(l.text[at:]); end != nil {
		l.at = at + end[1]
		return l.readable(at, l.at, false)
	}
	end := lineEnd(l.text, at)
	name, _, _ := bytes.Cut(bytes.Trim(l.text[at+1:end], space), []byte{' '})
	if string(name) == "line" || len(name) > 0 && class[name[0]] == cDigit {
		l.fail(at, end, `write # NUMBER "FILE", and end the line there`, "malformed line marker")
	} else {
		l.fail(at, max(at+1, at+bytes.Index(l.text[at:end], name)+len(name)), "run the C preprocessor over this file first", "preprocessor directive #%s in PTX", name)
	}
	return false
}

func (l *oldLexer) bad(at int) Token {
	c := l.text[at]
	switch {
	case c == 0:
		for end := at; ; end++ {
			if end == len(l.text) {
				l.at = end
				return Token{Off: int32(end), End: int32(end)} // NULs at the end: a C string
			}
			if l.text[end] != 0 && class[l.text[end]] != cSpace {
				return l.fail(at, at+1, "remove it; if what follows is a module of its own, start that with .version", "NUL byte; ptxas would silently ignore everything after it")
			}
		}
	case at == 0 && len(l.text) > 2 && string(l.text[:3]) == "\xef\xbb\xbf":
		return l.fail(0, 3, "save the file as UTF-8 without BOM", "file starts with a byte order mark, which ptxas does not read")
	case c >= 0x80:
		end := at + 1
		for end < len(l.text) && l.text[end]&0xc0 == 0x80 {
			end++
		}
		return l.fail(at, end, "", "character %q outside a comment; PTX names are ASCII", string(l.text[at:end]))
	case c == '\v':
		return l.fail(at, at+1, "replace it with a space", "vertical tab, which ptxas does not read as white space")
	}
	return l.fail(at, at+1, "", "character %q has no meaning in PTX", string(c))
}
