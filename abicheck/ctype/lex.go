package ctype

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// token is a word, a number or an operator of C, or #pragma pack. Kind 0 is the end.
type token struct {
	kind byte // 'w', 'n', 'p', '#', or 0
	text string
	span diag.Span
}

func (p *parser) fail(span diag.Span, help, format string, args ...any) {
	panic(diag.New(diag.CSyntax, diag.At(p.src, span), fmt.Sprintf(format, args...)).WithHelp(help))
}

// failIf is fail where what was read is wrong.
func (p *parser) failIf(wrong bool, at diag.Span, help, format string, args ...any) {
	if wrong {
		p.fail(at, help, format, args...)
	}
}

// noLayout matches directives of preprocessed text that do not affect layout: line
// markers, and pragmas other than pack.
var noLayout = sets.Regexp(`^#[ \t]*(line[ \t]+)?[0-9]|^#[ \t]*pragma[ \t]+(once|GCC|clang|STDC|nv_\w+|diag_\w+)\b`)

var packPragma = sets.Regexp(`^#[ \t]*pragma[ \t]+pack\b.*`)

// lex splits the text into tokens, without comments.
func (p *parser) lex() {
	text := string(p.src.Text)
	for i := 0; i < len(text); {
		if n := p.lexBlank(text[i:], i); n > 0 {
			i += n
			continue
		}
		kind, n := p.lexToken(text[i:], i)
		p.tokens = append(p.tokens, token{kind, text[i : i+n], span(i, n)})
		i += n
	}
	at := len(text)
	if n := len(p.tokens); n > 0 {
		at = int(p.tokens[n-1].span.End())
	}
	p.tokens = append(p.tokens, token{span: span(at, 0)})
}

// lexBlank returns the length of white space, a comment or a directive at the start of the
// text, or 0. Of these, only #pragma pack becomes a token.
func (p *parser) lexBlank(text string, at int) int {
	switch c := text[0]; {
	case c == ' ' || '\t' <= c && c <= '\r':
		return 1
	case strings.HasPrefix(text, "//"):
		line, _, _ := strings.Cut(text, "\n")
		return len(line)
	case strings.HasPrefix(text, "/*"):
		n := strings.Index(text[2:], "*/")
		p.failIf(n < 0, span(at, 2), "", "the comment is not closed")
		return n + 4
	case c == '#':
		line, _, _ := strings.Cut(text, "\n")
		if pack := packPragma().FindString(line); pack != "" {
			p.tokens = append(p.tokens, token{'#', pack, span(at, len(line))})
		} else if !noLayout().MatchString(line) {
			p.fail(span(at, 1), "pass the preprocessed text (nvcc -E); __attribute__((packed)) does what #pragma pack(1) does", "directives are not supported")
		}
		return len(line)
	}
	return 0
}

// lexToken returns the kind and the length of the token at the start of the text.
func (p *parser) lexToken(text string, at int) (kind byte, n int) {
	c := text[0]
	switch {
	case isWordByte(c):
		for n < len(text) && isWordByte(text[n]) {
			n++
		}
		if '0' <= c && c <= '9' {
			return 'n', n
		}
		return 'w', n
	case !strings.ContainsRune("{}[]();,:*&=+-/%<>|^~", rune(c)):
		r, size := utf8.DecodeRuneInString(text)
		p.fail(span(at, size), "", "unexpected %q in a declaration", r)
	}
	for _, two := range []string{"<<", ">>", "::", "[["} {
		if strings.HasPrefix(text, two) {
			return 'p', 2
		}
	}
	return 'p', 1
}

func span(off, length int) diag.Span { return diag.Span{Off: int32(off), Len: int32(length)} }

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) peekAt(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != 0 {
		p.at++
	}
	return t
}

// take skips the next token if it is text, and reports whether it was.
func (p *parser) take(text string) bool {
	if t := p.peek(); t.kind != 0 && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text, after string) {
	if t := p.peek(); !p.take(text) {
		p.fail(t.span, "", "expected %q %s, not %s", text, after, t)
	}
}

func (t token) String() string {
	if t.kind == 0 {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// skipGroup skips from an opening bracket, already taken, to the closing one.
func (p *parser) skipGroup(open token) {
	for depth := 1; depth > 0; {
		switch t := p.next(); t.text {
		case "(", "[", "{", "[[":
			depth += len(t.text)
		case ")", "]", "}":
			depth--
		case "":
			p.fail(open.span, "", "the %q is not closed", open.text)
		}
	}
}

// constant reads an integer constant expression: an array's length, a bit
// field's width, an alignment.
func (p *parser) constant() int64 { return p.binary(0) }

var precedence = map[string]int{"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}

func (p *parser) binary(least int) int64 {
	left := p.unary()
	for {
		op := p.peek()
		level := precedence[op.text]
		if level == 0 || level <= least {
			return left
		}
		p.next()
		right := p.binary(level)
		switch op.text {
		case "|":
			left |= right
		case "^":
			left ^= right
		case "&":
			left &= right
		case "+":
			left += right
		case "-":
			left -= right
		case "*":
			p.failIf(left != 0 && (left*right)/left != right, op.span, "", "the product is too large")
			left *= right
		case "<<", ">>":
			p.failIf(right < 0 || right > 62, op.span, "", "cannot shift by %d", right)
			if op.text == "<<" {
				left <<= right
			} else {
				left >>= right
			}
		case "/", "%":
			p.failIf(right == 0, op.span, "", "division by zero")
			if op.text == "/" {
				left /= right
			} else {
				left %= right
			}
		}
	}
}

func (p *parser) unary() int64 {
	p.enter()
	defer p.leave()
	t := p.next()
	switch {
	case t.kind == 'n':
		digits := strings.TrimRight(t.text, "uUlL")
		n, err := strconv.ParseInt(digits, 0, 64)
		p.failIf(err != nil, t.span, "", "%s is too large or not an integer", t.text)
		return n
	case t.text == "-":
		return -p.unary()
	case t.text == "+":
		return p.unary()
	case t.text == "~":
		return ^p.unary()
	case t.text == "(":
		n := p.constant()
		p.expect(")", "behind the expression")
		return n
	case t.text == "true" || t.text == "false":
		return map[string]int64{"true": 1}[t.text]
	case isSizeWord(t.text):
		p.expect("(", "behind "+t.text)
		from := p.peek().span
		of := p.typeName()
		p.expect(")", "behind the type")
		l, err := LayOut(of, p.model)
		p.failIf(err != nil, from, "", "%v", err)
		if t.text == "sizeof" {
			return l.Size
		}
		return l.Align
	case t.kind == 'w':
		if n, known := p.enumerators[t.text]; known {
			return n
		}
		p.fail(t.span, "put the number there", "the value of %s is not known", t.text)
	}
	p.fail(t.span, "", "expected a number, not %s", t)
	return 0
}

func isSizeWord(w string) bool {
	return w == "sizeof" || w == "alignof" || w == "_Alignof" || w == "__alignof__"
}

// enter limits the depth of recursion in the parser.
func (p *parser) enter() {
	p.depth++
	p.limit(p.depth)
}

// limit ends the reading of code that is nested too deep.
func (p *parser) limit(depth int) {
	p.failIf(depth > 256, p.peek().span, "", "nested too deep")
}

func (p *parser) leave() { p.depth-- }
