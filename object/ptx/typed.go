package ptx

import (
	"math"

	"ptxlink/link/diag"
)

// params appends a parenthesised parameter list, from the opening parenthesis on.
func (c *cursor) params(list []Param, nameless bool) []Param {
	c.need('(')
	for !c.is(')') {
		list = append(list, c.param(nameless))
		if !c.accept(',') && !c.is(')') {
			c.expected("',' or ')' in the parameter list")
			return list
		}
	}
	c.accept(')')
	return list
}

// param reads one parameter. In a .callprototype the name may be missing or _.
func (c *cursor) param(nameless bool) Param {
	var a Param
	from := int32(c.at)
	for c.is('.') {
		w, word := c.word()
		switch c.pass(word); {
		case a.Space == "" && (w == ".param" || w == ".reg"):
			a.Space = w
		case w == ".ptr":
			// These words describe the memory that the pointer refers to.
			for c.is('.') {
				align := c.isWord(".align")
				if c.next(); align {
					c.next()
				}
			}
		default:
			c.typeWord(&a.TypeAt, w, word.Span())
		}
	}
	switch {
	case c.atName():
		a.NameSpan = c.name(Nothing, "")
	case nameless && c.is('_'):
		a.NameSpan = c.span()
		c.next()
	case !nameless:
		c.expected("a parameter name")
		return a
	}
	if a.Word == "" {
		c.errorAt(a.NameSpan, "", "parameter %s has no type", c.text[a.NameSpan.Off:a.NameSpan.End()])
		return a
	}
	c.dimensions(&a.Type)
	a.Span = c.from(from)
	return a
}

// typeWord reads what belongs to a word of a type, which was passed: .align N, .vN,
// .attribute(...), the type itself, or a word of a later ISA.
func (c *cursor) typeWord(t *TypeAt, w string, span diag.Span) {
	switch {
	case w == ".align":
		n, number, ok := c.integer()
		if !ok || n <= 0 || n&(n-1) != 0 {
			c.expected("an alignment (a power of two; keep a space between it and the next dot)")
			return
		}
		t.Align, t.AlignSpan = n, number.Span()
		c.pass(number)
	case w == ".v2" || w == ".v4" || w == ".v8":
		t.Vector = w[2] - '0'
	case c.is('('): // .attribute(.managed)
		for depth := 0; !c.eof(); {
			if c.is('(') {
				depth++
			} else if c.is(')') {
				depth--
			}
			if c.next(); depth == 0 {
				return
			}
		}
	case TypeSize(w) != 0 || t.Word == "":
		t.Word, t.WordSpan = w, span
	}
}

// dimensions reads [4], [2][3] or [].
func (c *cursor) dimensions(t *Type) {
	t.Count = 1
	for c.accept('[') {
		t.Array = true
		if c.accept(']') {
			t.Unsized = true
			continue
		}
		n, end := decimal(c.text, c.at)
		ok := end > c.at && end < len(c.text) && c.text[end] == ']'
		if ok {
			c.pass(Token{Kind: Number, Off: int32(c.at), End: int32(end)})
		} else {
			n, ok = c.constant()
		}
		if c.Err != nil {
			return
		}
		for !c.is(']') && !c.is(';') && !c.eof() {
			ok = false
			c.next()
		}
		if !ok || n < 0 || t.Count < 0 || n != 0 && t.Count > math.MaxInt64/64/n {
			t.Count = -1
		} else {
			t.Count *= n
		}
		c.need(']')
	}
}
