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

func (c *cursor) operator() string {
	for length := min(2, len(c.text)-c.at); length > 0; length-- {
		if op := string(c.text[c.at : c.at+length]); operations[op].level > 0 {
			return op
		}
	}
	return ""
}

// binary evaluates operators of a higher level than least.
func (c *cursor) binary(least int, ok *bool) int64 {
	a := c.unary(ok)
	for *ok && !c.atName() {
		op := c.operator()
		level := operations[op].level
		if level <= least {
			return a
		}
		for range len(op) {
			c.next()
		}
		b := c.binary(level, ok)
		if !*ok {
			return 0
		}
		a, *ok = apply(op, a, b)
	}
	return a
}

// operation is a binary operation. One of a higher level binds more tightly, as in C.
type operation struct {
	level int
	of    func(a, b int64) int64
}

var operations = map[string]operation{
	"||": {1, func(a, b int64) int64 { return truth(a != 0 || b != 0) }},
	"&&": {2, func(a, b int64) int64 { return truth(a != 0 && b != 0) }},
	"|":  {3, func(a, b int64) int64 { return a | b }},
	"^":  {4, func(a, b int64) int64 { return a ^ b }},
	"&":  {5, func(a, b int64) int64 { return a & b }},
	"==": {6, func(a, b int64) int64 { return truth(a == b) }},
	"!=": {6, func(a, b int64) int64 { return truth(a != b) }},
	"<=": {7, func(a, b int64) int64 { return truth(a <= b) }},
	">=": {7, func(a, b int64) int64 { return truth(a >= b) }},
	"<":  {7, func(a, b int64) int64 { return truth(a < b) }},
	">":  {7, func(a, b int64) int64 { return truth(a > b) }},
	"<<": {8, func(a, b int64) int64 { return a << (b & 63) }},
	">>": {8, func(a, b int64) int64 { return a >> (b & 63) }},
	"+":  {9, func(a, b int64) int64 { return a + b }},
	"-":  {9, func(a, b int64) int64 { return a - b }},
	"*":  {10, func(a, b int64) int64 { return a * b }},
	"/":  {10, func(a, b int64) int64 { return a / b }},
	"%":  {10, func(a, b int64) int64 { return a % b }},
}

func apply(op string, a, b int64) (value int64, ok bool) {
	if b == 0 && (op == "/" || op == "%") {
		return 0, false
	}
	return operations[op].of(a, b), true
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
