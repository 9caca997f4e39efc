package ptx

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"ptxlink/object/diag"
)

// cursor reads text token by token: at is the start of the next token. The parser of a
// module and the reader of its code move it through the text.
type cursor struct {
	Lexer
	depth int // of the constant expression being read
	// braced is set if one of the tokens that next passed is a brace.
	braced bool
	// If keep is set, tokens collects the tokens that are passed.
	keep   bool
	tokens []Token
}

func newCursor(text []byte, off int32) cursor {
	c := cursor{Lexer: NewLexer(text, off)}
	c.move(c.at)
	return c
}

// pass moves past the next token, which is t.
func (c *cursor) pass(t Token) {
	if t.Kind == EOF {
		return
	}
	if c.keep {
		c.tokens = append(c.tokens, t)
	}
	c.move(int(t.End))
}

// next passes any token. If it is a name, it refers to nothing.
func (c *cursor) next() {
	t := c.token()
	t.setRole(Nothing)
	c.braced = c.braced || t.isPunct('{') || t.isPunct('}')
	c.pass(t)
}

func (c *cursor) bytes(span diag.Span) []byte { return c.text[span.Off:span.End()] }

func (c *cursor) span() diag.Span { return c.token().Span() }

func (c *cursor) eof() bool { return c.at >= len(c.text) }

func (c *cursor) accept(ch byte) bool { return c.is(ch) && c.mark() }

// mark passes a punctuation mark, which comes next, and returns true.
func (c *cursor) mark() bool {
	if c.keep {
		c.tokens = append(c.tokens, Token{Punct, c.text[c.at], int32(c.at), int32(c.at + 1)})
	}
	c.move(c.at + 1)
	return true
}

func (c *cursor) need(ch byte) bool {
	if c.is(ch) {
		return c.mark()
	}
	c.expected(strconv.Quote(string(ch)))
	return false
}

func (c *cursor) name(role Role, what string) diag.Span {
	if !c.atName() {
		c.expected(what)
		return diag.Span{Off: int32(c.at)}
	}
	t := Token{Ident, byte(role), int32(c.at), int32(nameEnd(c.text, c.at+1))}
	c.pass(t)
	return t.Span()
}

// word returns the next token, a directive, and its spelling.
func (c *cursor) word() (string, Token) {
	end := wordEnd(c.text, c.at)
	if end == c.at+1 {
		return "", c.token() // reports the error
	}
	return known(c.text[c.at:end]), Token{Kind: Word, Off: int32(c.at), End: int32(end)}
}

func (c *cursor) isWord(w string) bool {
	return c.is('.') && string(c.text[c.at:wordEnd(c.text, c.at)]) == w
}

func (c *cursor) isNamed(name string) bool {
	end := c.at + len(name)
	return end <= len(c.text) && string(c.text[c.at:end]) == name && (end == len(c.text) || !inName[c.text[end]])
}

// needNamed passes a name, which means nothing.
func (c *cursor) needNamed(name string) {
	if !c.isNamed(name) {
		c.expected(name)
		return
	}
	c.pass(Token{Ident, byte(Nothing), int32(c.at), int32(c.at + len(name))})
}

func (c *cursor) needInteger(what string) (value int64, at diag.Span) {
	value, t, ok := c.integer()
	if !ok {
		c.expected(what)
		return 0, at
	}
	c.pass(t)
	return value, t.Span()
}

func (c *cursor) integer() (value int64, t Token, ok bool) {
	if value, end := decimal(c.text, c.at); end > c.at {
		return value, Token{Kind: Number, Off: int32(c.at), End: int32(end)}, true
	}
	t = c.token()
	t.setRole(Nothing)
	value, ok = ParseInt(string(c.text[t.Off:t.End]))
	return value, t, ok
}

// decimal reads a decimal number that ends before anything that could be part of it.
// Without one, end is at.
func decimal(text []byte, at int) (value int64, end int) {
	end = at
	for uint(end) < uint(len(text)) && text[end]-'0' <= 9 && end-at < 10 {
		value = 10*value + int64(text[end]-'0')
		end++
	}
	if end == at || text[at] == '0' && end-at > 1 || uint(end) < uint(len(text)) && (inName[text[end]] || text[end] == '.') {
		return 0, at
	}
	return value, end
}

// common holds the words of at most 8 bytes that declarations consist of.
const common = `.version .target .func .entry .param .reg .global .const .shared .local .tex .sreg .align .ptr .space
	.extern .visible .weak .common .loc .file .section .pragma .alias .maxntid .maxnreg .reqntid
	.b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32 .f64 .pred .v2 .v4
	.texref .surfref`

// words holds the common words by slot, so that they are not copied each time.
var words = func() (t [256]struct {
	bytes    uint64
	spelling string
}) {
	for _, w := range strings.Fields(common) {
		b := binary.LittleEndian.Uint64([]byte(w + "\x00\x00\x00\x00\x00"))
		t[slot(b)].bytes, t[slot(b)].spelling = b, w
	}
	return t
}()

// slot is a perfect hash of the words: it returns a different number for each of them.
func slot(bytes uint64) uint8 { return uint8(bytes * 0x3db18a28ec9f6fbf >> 56) }

// known returns the spelling of a directive. It does not copy the common words.
func known(word []byte) string {
	if n := len(word); n <= 8 && cap(word) >= 8 {
		b := binary.LittleEndian.Uint64(word[:8]) & (1<<(8*n) - 1)
		if w := &words[slot(b)]; w.bytes == b {
			return w.spelling
		}
	}
	return string(word)
}

// from returns the span from off to the end of the last token; it is empty if that token
// ends before off.
func (c *cursor) from(off int32) diag.Span {
	return diag.Span{Off: off, Len: max(0, int32(c.last)-off)}
}

// errorAt reports an error, unless the next token is one.
func (c *cursor) errorAt(span diag.Span, help, format string, args ...any) {
	if c.token(); c.Err == nil {
		c.Err = &Error{Span: span, Text: fmt.Sprintf(format, args...), Help: help}
	}
	c.at = len(c.text)
}

// expected reports that the next token is not what the grammar requires.
func (c *cursor) expected(what string) {
	t := c.token()
	switch {
	case c.Err != nil:
	case t.Kind == EOF:
		end := int32(len(strings.TrimRight(string(c.text[max(0, len(c.text)-64):]), space+"\x00")))
		end += int32(max(0, len(c.text)-64))
		c.errorAt(diag.Span{Off: max(0, end-1), Len: min(1, end)}, "the file looks truncated", "file ends where %s is expected", what)
	default:
		c.errorAt(t.Span(), "", "expected %s, found %s", what, c.text[t.Off:t.End])
	}
}
