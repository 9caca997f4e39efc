package ptx

import (
	"fmt"
	"strconv"
	"strings"

	"ptxlink/link/diag"
)

// cursor is a lexer with its current token. The parser of a module and the reader
// of its code move it through the text.
type cursor struct {
	Lexer
	tok   Token
	last  Token // the token before tok
	depth int   // of the constant expression being read
	// If keep is set, tokens collects the tokens that next passes.
	keep   bool
	tokens []Token
}

func (c *cursor) next() {
	if c.keep {
		c.tokens = append(c.tokens, c.tok)
	}
	c.last = c.tok
	c.tok = c.Next()
}

func (c *cursor) is(ch byte) bool { return c.tok.Kind == Punct && c.tok.Ch == ch }

func (c *cursor) spelling() string { return string(c.text[c.tok.Off:c.tok.End]) }

// word returns the spelling of a Word token.
func (c *cursor) word() string {
	s := c.text[c.tok.Off:c.tok.End]
	if w := known(s); w != "" {
		return w
	}
	return string(s)
}

// words holds the words that declarations consist of, so that they are not copied
// each time.
var words = func() map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields(`.version .target .address_size .func .entry .param .reg .global .const .shared .local .tex .sreg .align .ptr .space
		.extern .visible .weak .common .loc .file .section .pragma .alias .noreturn .attribute
		.maxntid .minnctapersm .maxnreg .reqntid .callprototype .branchtargets .calltargets
		.b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32 .f64 .pred .v2 .v4
		.texref .samplerref .surfref`) {
		m[w] = w
	}
	return m
}()

// known returns one of words, or "". The types that most parameters have are found
// without a look into the map.
func known(word []byte) string {
	for _, w := range [...]string{".b64", ".b32", ".b8", ".u64", ".u32", ".f32", ".f64"} {
		if string(word) == w {
			return w
		}
	}
	return words[string(word)]
}

func (c *cursor) isWord(w string) bool { return c.tok.Kind == Word && c.word() == w }

// from returns the span from off to the end of the previous token; it is empty if
// there is none in between.
func (c *cursor) from(off int32) diag.Span {
	return diag.Span{Off: off, Len: max(0, c.last.End-off)}
}

func (c *cursor) errorAt(span diag.Span, help, format string, args ...any) {
	if c.Err == nil {
		c.Err = &Error{Span: span, Text: fmt.Sprintf(format, args...), Help: help}
	}
	c.at = len(c.text)
	c.tok = Token{Off: c.tok.Off, End: c.tok.Off}
}

// expected reports that the current token is not what the grammar requires.
func (c *cursor) expected(what string) {
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

func (c *cursor) need(ch byte) bool {
	if !c.is(ch) {
		c.expected(strconv.Quote(string(ch)))
		return false
	}
	c.next()
	return true
}
