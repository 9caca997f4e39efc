package ptx

import (
	"strconv"
	"strings"
)

// ParseInt reads an integer literal: decimal, 017 octal, 0x, 0b, with an
// optional suffix U. Literals above 63 bits are refused.
func ParseInt(s string) (int64, bool) {
	s = strings.TrimSuffix(s, "U")
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil && !strings.Contains(s, "_") && !strings.HasPrefix(s, "0o") && !strings.HasPrefix(s, "0O")
}

// constant evaluates the constant expression that starts at p.tok and ends
// before a closing bracket, comma or semicolon. ok is false for expressions
// beyond integers; their size is then unknown, not wrong.
func (p *parser) constant() (value int64, ok bool) {
	ok = true
	value = p.ternary(&ok)
	return value, ok
}

func (p *parser) ternary(ok *bool) int64 {
	if p.depth++; p.depth > 100 { // (((((... from a hostile file
		*ok = false
		return 0
	}
	defer func() { p.depth-- }()
	cond := p.binary(0, ok)
	if !p.is('?') {
		return cond
	}
	p.next()
	a := p.ternary(ok)
	if !p.is(':') {
		*ok = false
		return 0
	}
	p.next()
	b := p.ternary(ok)
	if cond != 0 {
		return a
	}
	return b
}

// Binary operators by precedence, lowest first, as in C.
var operators = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) operator(level int) string {
	for _, op := range operators[level] {
		if !strings.HasPrefix(string(p.text[p.tok.Off:min(int(p.tok.Off)+2, len(p.text))]), op) {
			continue
		}
		// `<` must not be the start of `<<`, nor `|` of `||`.
		if len(op) == 1 && int(p.tok.Off)+1 < len(p.text) {
			if c := p.text[p.tok.Off+1]; (c == op[0] && strings.Contains("<>|&", op)) || (c == '=' && strings.Contains("<>!", op)) {
				continue
			}
		}
		return op
	}
	return ""
}

func (p *parser) binary(level int, ok *bool) int64 {
	if level == len(operators) {
		return p.unary(ok)
	}
	a := p.binary(level+1, ok)
	for *ok && p.tok.Kind == Punct {
		op := p.operator(level)
		if op == "" {
			return a
		}
		for range len(op) {
			p.next()
		}
		b := p.binary(level+1, ok)
		switch op {
		case "+":
			a += b
		case "-":
			a -= b
		case "*":
			a *= b
		case "/", "%":
			if b == 0 {
				*ok = false
				return 0
			}
			if op == "/" {
				a /= b
			} else {
				a %= b
			}
		case "<<":
			a <<= uint64(b) & 63
		case ">>":
			a >>= uint64(b) & 63
		case "&":
			a &= b
		case "|":
			a |= b
		case "^":
			a ^= b
		case "&&":
			a = truth(a != 0 && b != 0)
		case "||":
			a = truth(a != 0 || b != 0)
		case "==":
			a = truth(a == b)
		case "!=":
			a = truth(a != b)
		case "<":
			a = truth(a < b)
		case ">":
			a = truth(a > b)
		case "<=":
			a = truth(a <= b)
		case ">=":
			a = truth(a >= b)
		}
	}
	return a
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (p *parser) unary(ok *bool) int64 {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > 100 {
		*ok = false
		return 0
	}
	switch {
	case p.is('-'):
		p.next()
		return -p.unary(ok)
	case p.is('+'):
		p.next()
		return p.unary(ok)
	case p.is('~'):
		p.next()
		return ^p.unary(ok)
	case p.is('!'):
		p.next()
		return truth(p.unary(ok) == 0)
	case p.is('('):
		p.next()
		if p.tok.Kind == Word { // a cast: (.s64) or (.u64)
			p.next()
			if !p.is(')') {
				*ok = false
				return 0
			}
			p.next()
			return p.unary(ok)
		}
		v := p.ternary(ok)
		if !p.is(')') {
			*ok = false
			return 0
		}
		p.next()
		return v
	case p.tok.Kind == Number:
		v, good := ParseInt(p.spelling())
		*ok = *ok && good
		p.next()
		return v
	case p.tok.Kind == Ident && p.spelling() == "WARP_SZ":
		p.next()
		return 32
	}
	*ok = false
	return 0
}
