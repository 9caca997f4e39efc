package ptx

import "ptxlink/internal/diag"

// The bytes at which block must check more closely: in bodies, and in initial
// values, where parentheses count like braces.
var stops, valueStops = stopsAt("{}/\"#\x00"), stopsAt("{}()/\"#\x00")

func stopsAt(bytes string) *[256]bool {
	var t [256]bool
	for _, c := range bytes {
		t[c] = true
	}
	return &t
}

// block skips braced text, from the current brace on, and returns its span. Stops
// are the bytes that matter. The lexer is used only where a brace may not be one:
// in comments, strings and line markers.
func (p *parser) block(stops *[256]bool, what string) diag.Span {
	from := p.tok.Off
	text := p.text
	depth := 1
	at := int(p.tok.End)
	for at < len(text) {
		c := text[at]
		if !stops[c] {
			at++
			continue
		}
		switch c {
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
