package ptx

import (
	"bytes"

	"ptxlink/object/diag"
)

// Outline reads the declarations of a module and skips bodies, initial values and
// sections, several times faster than Parse. The Module has no parameters, uses,
// calls or lines, and arrays without a length have no size. Errors in skipped text are not
// reported.
func Outline(src *diag.Source) (*Module, *Error) {
	return read(&Module{Src: src}, &parser{outline: true})
}

// The bytes that start comments, strings and line markers, and those that matter besides:
// in bodies braces, in initial values parentheses too, which count like braces, and in
// parameter lists the semicolon that shows that the list has no end. Each list starts with
// the one before.
const bodyStops, valueStops, listStops = "/\"#\x00{}", "/\"#\x00{}()", "/\"#\x00{}();"

// ahead finds the next of some bytes. Each part of the text is searched once for each
// byte, with instructions that compare many bytes at a time.
type ahead [len(listStops)]int

// next returns the place of the first of stops at or after at, or the length of the text. at must
// not decrease from call to call.
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

// block skips text in brackets, from the current one on, and returns its span; ok is
// false if the text ends before. Stops are the bytes that matter. The lexer is used only
// where a brace may not be one: in comments, strings and line markers.
func (p *parser) block(stops string) (span diag.Span, ok bool) {
	from := int32(p.at)
	p.at++
	for depth := 1; p.Err == nil; {
		p.at = p.ahead.next(p.text, p.at, stops)
		if p.eof() {
			break
		}
		switch c := p.text[p.at]; c {
		case '{', '(':
			depth++
			p.at++
		case '}', ')':
			if depth--; depth == 0 {
				p.accept(c)
				return p.from(from), true
			}
			p.at++
		case '"':
			p.at = max(p.at, int(p.string(p.at).End))
		case 0:
			p.bad(p.at)
		default:
			if at := p.at; !p.comment(at) && p.Err == nil {
				p.at = at + 1
			}
		}
	}
	return diag.Span{}, false
}
