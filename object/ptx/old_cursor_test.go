package ptx

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ptxlink/link/diag"
)

// oldCursor is a lexer with its current token. The oldParser of a module and the reader
// of its code move it through the text.
type oldCursor struct {
	oldLexer
	tok   Token
	last  Token // the token before tok
	depth int   // of the constant expression being read
	// If keep is set, tokens collects the tokens that next passes.
	keep   bool
	tokens []Token
}

func (c *oldCursor) next() {
	if c.keep {
		c.tokens = append(c.tokens, c.tok)
	}
	c.last = c.tok
	c.tok = c.Next()
}

func (c *oldCursor) is(ch byte) bool { return c.tok.Kind == Punct && c.tok.Ch == ch }

func (c *oldCursor) spelling() string { return string(c.text[c.tok.Off:c.tok.End]) }

// word returns the spelling of a Word token.
func (c *oldCursor) word() string {
	return string(c.text[c.tok.Off:c.tok.End])
}

func (c *oldCursor) isWord(w string) bool { return c.tok.Kind == Word && c.word() == w }

// from returns the span from off to the end of the previous token; it is empty if
// there is none in between.
func (c *oldCursor) from(off int32) diag.Span {
	return diag.Span{Off: off, Len: max(0, c.last.End-off)}
}

func (c *oldCursor) errorAt(span diag.Span, help, format string, args ...any) {
	if c.Err == nil {
		c.Err = &Error{Span: span, Text: fmt.Sprintf(format, args...), Help: help}
	}
	c.at = len(c.text)
	c.tok = Token{Off: c.tok.Off, End: c.tok.Off}
}

// expected reports that the current token is not what the grammar requires.
func (c *oldCursor) expected(what string) {
	if c.Err != nil {
		return
	}
	if c.tok.Kind == EOF {
		end := int32(len(strings.TrimRight(string(c.text[max(0, len(c.text)-64):]), space+"\x00")))
		end += int32(max(0, len(c.text)-64))
		c.errorAt(diag.Span{Off: max(0, end-1), Len: min(1, end)}, "the file looks truncated", "file ends where %s is expected", what)
		return
	}
	c.errorAt(c.tok.Span(), "", "expected %s, found %s", what, c.spelling())
}

func (c *oldCursor) need(ch byte) bool {
	if !c.is(ch) {
		c.expected(strconv.Quote(string(ch)))
		return false
	}
	c.next()
	return true
}

// params appends a parenthesised parameter list.
func (c *oldCursor) params(list []Param, nameless bool) []Param {
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
func (c *oldCursor) param(nameless bool) Param {
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
func (c *oldCursor) typeWord(t *TypeAt) {
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
func (c *oldCursor) dimensions(t *Type) {
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

// constant evaluates the constant expression that starts at c.tok and ends before a
// closing bracket, comma or semicolon. ok is false for expressions that are not
// integers; the size is then unknown.
func (c *oldCursor) constant() (value int64, ok bool) {
	ok = true
	value = c.ternary(&ok)
	return value, ok
}

func (c *oldCursor) ternary(ok *bool) int64 {
	if c.depth++; c.depth > 100 { // (((((... from a hostile file
		*ok = false
		return 0
	}
	defer func() { c.depth-- }()
	cond := c.binary(0, ok)
	if !c.is('?') {
		return cond
	}
	c.next()
	a := c.ternary(ok)
	if !c.is(':') {
		*ok = false
		return 0
	}
	c.next()
	b := c.ternary(ok)
	if cond != 0 {
		return a
	}
	return b
}

// Binary operators by precedence, lowest first, as in C.
var operators = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (c *oldCursor) operator(level int) string {
	for _, op := range operators[level] {
		if !strings.HasPrefix(string(c.text[c.tok.Off:min(int(c.tok.Off)+2, len(c.text))]), op) {
			continue
		}
		// `<` must not be the start of `<<`, nor `|` of `||`.
		if len(op) == 1 && int(c.tok.Off)+1 < len(c.text) {
			if second := c.text[c.tok.Off+1]; (second == op[0] && strings.Contains("<>|&", op)) || (second == '=' && strings.Contains("<>!", op)) {
				continue
			}
		}
		return op
	}
	return ""
}

func (c *oldCursor) binary(level int, ok *bool) int64 {
	if level == len(operators) {
		return c.unary(ok)
	}
	a := c.binary(level+1, ok)
	for *ok && c.tok.Kind == Punct {
		op := c.operator(level)
		if op == "" {
			return a
		}
		for range len(op) {
			c.next()
		}
		b := c.binary(level+1, ok)
		if !*ok {
			return 0
		}
		a, *ok = apply(op, a, b)
	}
	return a
}

func (c *oldCursor) unary(ok *bool) int64 {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 100 {
		*ok = false
		return 0
	}
	switch {
	case c.is('-'):
		c.next()
		return -c.unary(ok)
	case c.is('+'):
		c.next()
		return c.unary(ok)
	case c.is('~'):
		c.next()
		return ^c.unary(ok)
	case c.is('!'):
		c.next()
		return truth(c.unary(ok) == 0)
	case c.is('('):
		c.next()
		if c.tok.Kind == Word { // a cast: (.s64) or (.u64)
			c.next()
			if !c.is(')') {
				*ok = false
				return 0
			}
			c.next()
			return c.unary(ok)
		}
		v := c.ternary(ok)
		if !c.is(')') {
			*ok = false
			return 0
		}
		c.next()
		return v
	case c.tok.Kind == Number:
		v, good := ParseInt(c.spelling())
		*ok = *ok && good
		c.next()
		return v
	case c.tok.Kind == Ident && c.spelling() == "WARP_SZ":
		c.next()
		return warpSize
	}
	*ok = false
	return 0
}
