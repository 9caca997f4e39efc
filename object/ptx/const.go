package ptx

import (
	"strconv"
	"strings"
)

// warpSize is the value of WARP_SZ, which ptxas accepts wherever an integer literal may
// stand (testdata/script/warp_size.txtar).
const warpSize = 32

// ParseInt reads an integer literal: decimal, 017 octal, 0x, 0b, with an
// optional suffix U, or WARP_SZ. Literals above 63 bits are refused.
func ParseInt(s string) (int64, bool) {
	if s == "WARP_SZ" {
		return warpSize, true
	}
	s = strings.TrimSuffix(s, "U")
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil && !strings.Contains(s, "_") && !strings.HasPrefix(s, "0o") && !strings.HasPrefix(s, "0O")
}

// constant evaluates the constant expression that comes next and ends before a
// closing bracket, comma or semicolon. ok is false for expressions that are not
// integers; the size is then unknown.
func (c *cursor) constant() (value int64, ok bool) {
	ok = true
	value = c.ternary(&ok)
	return value, ok
}

func (c *cursor) ternary(ok *bool) int64 {
	if c.depth++; c.depth > 100 { // (((((... from a hostile file
		*ok = false
		return 0
	}
	defer func() { c.depth-- }()
	cond := c.binary(0, ok)
	if !c.accept('?') {
		return cond
	}
	a := c.ternary(ok)
	if !c.accept(':') {
		*ok = false
		return 0
	}
	b := c.ternary(ok)
	if cond != 0 {
		return a
	}
	return b
}

// Binary operators by precedence, lowest first, as in C.
var operators = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (c *cursor) operator(level int) string {
	for _, op := range operators[level] {
		if !strings.HasPrefix(string(c.text[c.at:min(c.at+2, len(c.text))]), op) {
			continue
		}
		// `<` must not be the start of `<<`, nor `|` of `||`.
		if len(op) == 1 && c.at+1 < len(c.text) {
			if second := c.text[c.at+1]; (second == op[0] && strings.Contains("<>|&", op)) || (second == '=' && strings.Contains("<>!", op)) {
				continue
			}
		}
		return op
	}
	return ""
}

func (c *cursor) binary(level int, ok *bool) int64 {
	if level == len(operators) {
		return c.unary(ok)
	}
	a := c.binary(level+1, ok)
	for *ok && !c.atName() {
		op := c.operator(level)
		if op == "" {
			return a
		}
		for range len(op) {
			c.next()
		}
		b := c.binary(level+1, ok)
		if a, *ok = apply(op, a, b); !*ok {
			return 0
		}
	}
	return a
}

var operations = map[string]func(a, b int64) int64{
	"||": func(a, b int64) int64 { return truth(a != 0 || b != 0) },
	"&&": func(a, b int64) int64 { return truth(a != 0 && b != 0) },
	"==": func(a, b int64) int64 { return truth(a == b) },
	"!=": func(a, b int64) int64 { return truth(a != b) },
	"<=": func(a, b int64) int64 { return truth(a <= b) },
	">=": func(a, b int64) int64 { return truth(a >= b) },
	"<":  func(a, b int64) int64 { return truth(a < b) },
	">":  func(a, b int64) int64 { return truth(a > b) },
	"<<": func(a, b int64) int64 { return a << (b & 63) },
	">>": func(a, b int64) int64 { return a >> (b & 63) },
	"|":  func(a, b int64) int64 { return a | b },
	"^":  func(a, b int64) int64 { return a ^ b },
	"&":  func(a, b int64) int64 { return a & b },
	"+":  func(a, b int64) int64 { return a + b },
	"-":  func(a, b int64) int64 { return a - b },
	"*":  func(a, b int64) int64 { return a * b },
	"/":  func(a, b int64) int64 { return a / b },
	"%":  func(a, b int64) int64 { return a % b },
}

// apply returns the value of a binary operation. ok is false for a division by zero.
func apply(op string, a, b int64) (value int64, ok bool) {
	if b == 0 && (op == "/" || op == "%") {
		return 0, false
	}
	return operations[op](a, b), true
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (c *cursor) unary(ok *bool) int64 {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 100 {
		*ok = false
		return 0
	}
	switch {
	case c.accept('-'):
		return -c.unary(ok)
	case c.accept('+'):
		return c.unary(ok)
	case c.accept('~'):
		return ^c.unary(ok)
	case c.accept('!'):
		return truth(c.unary(ok) == 0)
	case c.accept('('):
		if c.is('.') { // a cast: (.s64) or (.u64)
			c.next()
			if !c.accept(')') {
				*ok = false
				return 0
			}
			return c.unary(ok)
		}
		v := c.ternary(ok)
		if !c.accept(')') {
			*ok = false
			return 0
		}
		return v
	}
	v, t, good := c.integer()
	if *ok = *ok && good; good || t.Kind == Number {
		c.pass(t)
	}
	return v
}
