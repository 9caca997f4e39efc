package ptx

import "math"

// params appends a parenthesised parameter list.
func (c *cursor) params(list []Param, nameless bool) []Param {
	c.next()
	for !c.is(')') {
		list = append(list, c.param(nameless))
		if c.is(',') {
			c.next()
		} else if !c.is(')') {
			c.expected("',' or ')' in the parameter list")
			break
		}
	}
	c.next()
	return list
}

// param reads one parameter. In a .callprototype the name may be missing or _.
func (c *cursor) param(nameless bool) Param {
	var a Param
	from := c.tok.Off
	for c.tok.Kind == Word {
		w := c.word()
		switch {
		case a.Space == "" && (w == ".param" || w == ".reg"):
			a.Space = w
		case w == ".ptr":
			// These words describe the memory that the pointer refers to.
			for c.next(); c.tok.Kind == Word; {
				align := c.isWord(".align")
				if c.next(); align {
					c.next()
				}
			}
			continue
		default:
			c.typeWord(&a.TypeAt)
			continue
		}
		c.next()
	}
	switch {
	case c.tok.Kind == Ident || nameless && c.is('_'):
		a.NameSpan = c.tok.Span()
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

// typeWord reads one word of a type: the type itself, .align N, .vN,
// .attribute(...), or a word of a later ISA.
func (c *cursor) typeWord(t *TypeAt) {
	w := c.word()
	span := c.tok.Span()
	c.next()
	switch {
	case w == ".align":
		n, ok := ParseInt(c.spelling())
		if !ok || n <= 0 || n&(n-1) != 0 {
			c.expected("an alignment (a power of two; keep a space between it and the next dot)")
			return
		}
		t.Align, t.AlignSpan = n, c.tok.Span()
		c.next()
	case w == ".v2" || w == ".v4" || w == ".v8":
		t.Vector = w[2] - '0'
	case c.is('('): // .attribute(.managed)
		for depth := 0; c.tok.Kind != EOF; c.next() {
			if c.is('(') {
				depth++
			} else if c.is(')') {
				if depth--; depth == 0 {
					c.next()
					return
				}
			}
		}
	case TypeSize(w) != 0 || t.Word == "":
		t.Word, t.WordSpan = w, span
	}
}

// dimensions reads [4], [2][3] or [].
func (c *cursor) dimensions(t *Type) {
	t.Count = 1
	for c.is('[') {
		t.Array = true
		if c.next(); c.is(']') {
			t.Unsized = true
			c.next()
			continue
		}
		n, end := decimal(c.text, int(c.tok.Off))
		ok := end < len(c.text) && c.text[end] == ']' && end > int(c.tok.Off)
		if ok {
			c.next()
		} else {
			n, ok = c.constant()
		}
		if c.Err != nil {
			return
		}
		for !c.is(']') && c.tok.Kind != EOF && !c.is(';') {
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
