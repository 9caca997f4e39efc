package ptx

import (
	"fmt"
	"math"

	"ptxlink/object/diag"
)

// params appends a parenthesised parameter list, from the opening parenthesis on.
func (p *parser) params(list []Param, nameless bool) []Param {
	p.need('(')
	for !p.is(')') {
		list = append(list, p.param(nameless))
		if !p.accept(',') && !p.is(')') {
			p.expected("',' or ')' in the parameter list")
			return list
		}
	}
	p.accept(')')
	return list
}

// param reads one parameter. In a .callprototype the name may be missing or _.
func (p *parser) param(nameless bool) Param {
	var a Param
	from := int32(p.at)
	for p.is('.') {
		w, word := p.word()
		switch p.pass(word); {
		case a.Space == "" && (w == ".param" || w == ".reg"):
			a.Space = w
		case w == ".ptr":
			// These words describe the memory that the pointer refers to.
			for p.is('.') {
				align := p.isWord(".align")
				if p.next(); align {
					p.next()
				}
			}
		default:
			p.typeWord(&a.TypeAt, w, word.Span())
		}
	}
	switch {
	case p.atName():
		a.NameSpan = p.name(Nothing, "")
	case nameless && p.is('_'):
		a.NameSpan = p.span()
		p.next()
	case !nameless:
		p.expected("a parameter name")
		return a
	}
	if a.Word == "" {
		p.errorAt(a.NameSpan, "", "parameter %s has no type", p.text[a.NameSpan.Off:a.NameSpan.End()])
		return a
	}
	if !p.typed(&a.TypeAt) {
		return a
	}
	p.dimensions(&a.Type)
	a.Span = p.from(from)
	return a
}

// typed reports whether a declaration can have a type (ISA, "Fundamental Types"), and reports an
// error if not. Unknown types are accepted in versions of PTX after newestVersion, because there
// may be more types then.
func (p *parser) typed(t *TypeAt) bool {
	size := TypeSize(t.Word)
	switch {
	case t.Word == ".pred" && t.Space != ".reg":
		p.errorAt(t.WordSpan, "declare it .u8", "%s is a type of registers", t.Word)
	case size != 0 && !operand(t.Word) || newestVersion.Less(p.m.Version):
		return true
	case size != 0:
		p.errorAt(t.WordSpan, fmt.Sprintf("declare it .b%d", 8*size), "%s is a type of instructions, and not of declarations", t.Word)
	default:
		p.errorAt(t.WordSpan, "the narrowest types are .b8, .u8 and .s8, the widest .b128, .u64, .s64 and .f64", "%s is not a type of PTX", t.Word)
	}
	return false
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
