package ptx

import (
	"bytes"

	"ptxlink/link/diag"
)

// Outline reads the declarations of a module and skips bodies, initial values and
// sections, several times faster than Parse. The Module has no parameters, uses,
// calls or lines, and arrays without a length have no size. Errors in skipped text are not
// reported.
func Outline(src *diag.Source) (*Module, *Error) { return read(src, &parser{outline: true}) }

// The bytes that start comments, strings and line markers, those at which block must
// check more closely in bodies, and those in initial values, where parentheses count
// like braces. Each list starts with the one before.
const quoteStops, bodyStops, valueStops = "/\"#\x00", "/\"#\x00{}", "/\"#\x00{}()"

// ahead finds the next of some bytes. Each part of the text is searched once for each
// byte, with instructions that compare many bytes at a time.
type ahead [len(valueStops)]int

// next returns the place of the first of stops at or behind at, or the length of the
// text. at must not decrease from call to call.
func (a *ahead) next(text []byte, at int, stops string) int {
	first := len(text)
	for i := range stops {
		if a[i] < at {
			if n := bytes.IndexByte(text[at:], stops[i]); n < 0 {
				a[i] = len(text)
			} else {
				a[i] = at + n
			}
		}
		first = min(first, a[i])
	}
	return first
}

// block skips braced text, from the current brace on, and returns its span. Stops
// are the bytes that matter. The lexer is used only where a brace may not be one:
// in comments, strings and line markers.
func (p *parser) block(stops, what string) diag.Span {
	from := p.tok.Off
	text := p.text
	depth := 1
	for at := int(p.tok.End); ; {
		at = p.ahead.next(text, at, stops)
		if at == len(text) {
			break
		}
		switch c := text[at]; c {
		case '{', '(':
			depth++
			at++
		case '}', ')':
			at++
			if depth--; depth == 0 {
				p.at = at
				p.tok = Token{Kind: Punct, Ch: c, Off: int32(at - 1), End: int32(at)}
				p.next()
				return p.from(from)
			}
		case '"':
			p.at = at
			p.string(at)
			at = p.at
		case '#':
			p.at = at
			p.lineMarker(at)
			at = p.at
		case '/':
			if at+1 < len(text) && (text[at+1] == '/' || text[at+1] == '*') {
				p.at = at
				p.comment(at)
				at = p.at
			} else {
				at++
			}
		case 0:
			p.at = at
			p.bad(at)
			at = len(text)
		}
		if p.Err != nil {
			return diag.Span{}
		}
	}
	p.at = len(text)
	p.tok = Token{Off: int32(len(text)), End: int32(len(text))}
	p.expected(what)
	return diag.Span{}
}
