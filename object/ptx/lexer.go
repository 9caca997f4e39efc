package ptx

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ptxlink/object/diag"
)

// Kind is the kind of token.
type Kind uint8

const (
	EOF    Kind = iota
	Ident       // name, opcode or register: add, %r1, $L__BB0_1
	Word        // directive or modifier: .global, .L2::128B
	Number      // 42, 0x2a, 0f3F800000, 1.5
	String      // "a.cu"; PTX has no escapes
	Punct       // one byte of , ; : ( ) [ ] { } < > + - * / = ! @ | & ~ ? ^ %
)

// Token is one token of PTX text. Its spelling is Text[Off:End].
type Token struct {
	Kind     Kind
	Ch       byte // the byte of a Punct, or the Role of an Ident
	Off, End int32
	// With a fifth field the compiler would no longer hold tokens in registers,
	// which doubles the parsing time.
}

// Role returns the role of an Ident in code.
func (t Token) Role() Role {
	if t.Kind != Ident {
		return Refers
	}
	return Role(t.Ch)
}

func (t *Token) setRole(r Role) {
	if t.Kind == Ident {
		t.Ch = byte(r)
	}
}

// Role is the role of a name in a statement.
type Role uint8

const (
	Refers   Role = iota // a use of a visible name
	Declares             // a local or a label
	Opcode               // mov, ld
	Nothing              // a word of the ISA, or a name without meaning outside the statement
)

// Span returns the span of the token.
func (t Token) Span() diag.Span { return diag.Span{Off: t.Off, Len: t.End - t.Off} }

// Byte classes. An identifier is [A-Za-z][A-Za-z0-9_$]* or [_$%][A-Za-z0-9_$]+.
const (
	cBad  = iota
	cMark // / and #: may start a comment or line marker
	cSpace
	cLetter // may start an identifier on its own
	cSigil  // _ and $: start an identifier, need a second character
	cDigit
	cPunct
)

// space holds the white space of ptxas (TestLexicalPtxas): a form feed and SUB, the end
// of a file in DOS, but no vertical tab. Only LF ends a line.
const space = " \t\r\n\f\x1a"

var class = func() (t [256]uint8) {
	for _, c := range space {
		t[c] = cSpace
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = cLetter, cLetter
	}
	t['_'], t['$'] = cSigil, cSigil
	for c := '0'; c <= '9'; c++ {
		t[c] = cDigit
	}
	for _, c := range ",;:()[]{}<>+-*=!@|&~?^%.\"" {
		t[c] = cPunct
	}
	t['/'], t['#'] = cMark, cMark
	return t
}()

// inName reports which bytes continue an identifier.
var inName = func() (t [256]bool) {
	for c := range t {
		t[c] = class[c] == cLetter || class[c] == cSigil || class[c] == cDigit
	}
	return t
}()

// inGap reports which bytes may start what lies between tokens.
var inGap = func() (t [256]bool) {
	for c := range t {
		t[c] = class[c] <= cSpace
	}
	return t
}()

// Lexer reads tokens on demand. After the first error, which is kept in Err, it
// returns only EOF.
type Lexer struct {
	text  []byte
	at    int
	last  int  // the end of the token that move passed last
	plain bool // the text has no bytes that are errors in comments
	Err   *Error
}

// Error is an error in the text of one module.
type Error struct {
	Span   diag.Span
	Text   string
	Help   string
	NotPTX bool // the text is in another language
}

func (e *Error) Error() string { return e.Text }

// NewLexer returns a lexer of text, starting at byte off.
func NewLexer(text []byte, off int32) Lexer { return Lexer{text: text, at: int(off)} }

func (l *Lexer) fail(off, end int, help, format string, args ...any) Token {
	if l.Err == nil {
		l.Err = &Error{Span: diag.Span{Off: int32(off), Len: int32(end - off)}, Text: fmt.Sprintf(format, args...), Help: help}
	}
	l.at = len(l.text)
	return Token{Off: int32(off), End: int32(off)}
}

// Next returns the next token. It skips white space, comments and #line markers.
func (l *Lexer) Next() Token {
	l.move(l.at)
	t := l.token()
	l.at = max(l.at, int(t.End))
	return t
}

// move moves to the first token after a place, where the last token ends: it skips white space,
// comments and #line markers.
func (l *Lexer) move(at int) {
	l.last = at
	text := l.text
	for uint(at) < uint(len(text)) && class[text[at]] == cSpace { // uint: one check of the bounds
		at++
	}
	if l.at = at; uint(at) < uint(len(text)) && inGap[text[at]] {
		l.gap()
	}
}

// gap skips the rest of what lies between tokens.
func (l *Lexer) gap() {
	for l.at < len(l.text) {
		switch class[l.text[l.at]] {
		case cSpace:
			l.at++
			continue
		case cBad:
			l.bad(l.at)
			return
		case cMark:
			if l.comment(l.at) {
				continue
			}
		}
		return
	}
}

// token returns the token at the current place, which is after a gap.
func (l *Lexer) token() Token {
	text, at := l.text, l.at
	if at >= len(text) {
		return Token{Off: int32(len(text)), End: int32(len(text))}
	}
	c := text[at]
	switch {
	case l.atName():
		return Token{Kind: Ident, Off: int32(at), End: int32(nameEnd(text, at+1))}
	case class[c] == cDigit:
		return Token{Kind: Number, Off: int32(at), End: int32(numberEnd(text, at))}
	case c == '.':
		return l.word(at)
	case c == '"':
		return l.string(at)
	case c == '$':
		return l.fail(at, at+1, "", "%q alone is not a name", string(c))
	}
	return Token{Kind: Punct, Ch: c, Off: int32(at), End: int32(at + 1)} // also the sink: mov.b64 {_, %r1}, %rd1
}

func (l *Lexer) is(ch byte) bool { return l.at < len(l.text) && l.text[l.at] == ch }

func (l *Lexer) atName() bool {
	if l.at >= len(l.text) {
		return false
	}
	c := l.text[l.at]
	return class[c] == cLetter || (class[c] == cSigil || c == '%') && l.at+1 < len(l.text) && inName[l.text[l.at+1]]
}

// nameEnd returns the end of the run of letters, digits, _ and $ at a place.
func nameEnd(text []byte, at int) int {
	for uint(at) < uint(len(text)) && inName[text[at]] {
		at++
	}
	return at
}

// numberEnd accepts any run of letters and digits, and a fraction or an exponent after
// plain digits: `4.u32` is the float `4.` followed by u32, as in ptxas, and `2e-1` one.
func numberEnd(text []byte, at int) int {
	digits := digitsEnd(text, at)
	end := nameEnd(text, digits)
	if end == digits && end < len(text) && text[end] == '.' {
		end = digitsEnd(text, end+1)
		digits = end
	}
	if e := digits; e < len(text) && text[e]|0x20 == 'e' {
		if e++; e < len(text) && (text[e] == '+' || text[e] == '-') {
			e++
		}
		if exponent := digitsEnd(text, e); exponent > e {
			end = max(end, exponent)
		}
	}
	return end
}

func digitsEnd(text []byte, at int) int {
	for at < len(text) && class[text[at]] == cDigit {
		at++
	}
	return at
}

// word accepts a dot and the name after it, with its `::` parts (`.shared::cluster`).
func (l *Lexer) word(at int) Token {
	end := wordEnd(l.text, at)
	if end == at+1 {
		return l.fail(at, at+1, "", "a dot must be followed by a directive name")
	}
	return Token{Kind: Word, Off: int32(at), End: int32(end)}
}

func wordEnd(text []byte, at int) int {
	end := nameEnd(text, at+1)
	for end < len(text) && text[end] == ':' && end > at+1 && end+2 < len(text) && text[end+1] == ':' && inName[text[end+2]] {
		end = nameEnd(text, end+2)
	}
	return end
}

// string accepts any bytes but NUL up to the next quote, line ends among them.
func (l *Lexer) string(at int) Token {
	end := bytes.IndexByte(l.text[at+1:], '"')
	if end < 0 {
		return l.fail(at, lineEnd(l.text, at), "", "string is not closed")
	}
	if end += at + 2; !l.readable(at, end, false) {
		return Token{Off: int32(at), End: int32(at)}
	}
	return Token{Kind: String, Off: int32(at), End: int32(end)}
}

// comment skips a comment or line marker at a place. It reports whether it did: not if
// something else stands there, nor after an error.
func (l *Lexer) comment(at int) bool {
	rest := l.text[at+1:]
	end := at
	switch {
	case l.text[at] == '#':
		return l.lineMarker(at)
	case len(rest) > 0 && rest[0] == '/':
		end = lineEnd(l.text, at)
	case len(rest) > 0 && rest[0] == '*':
		length := bytes.Index(rest[1:], []byte("*/"))
		if length < 0 {
			l.fail(at, at+2, "add the missing */", "comment is not closed")
			return false
		}
		end = at + 2 + length + 2
	default:
		return false
	}
	l.at = end
	return l.plain || l.readable(at, end, true)
}

// lineEnd returns the end of the line at a place. A comment ends there.
func lineEnd(text []byte, at int) int {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end
	}
	return len(text)
}

// readable reports bytes of a comment or string that ptxas does not read as we do: a
// NUL, where the text ends for it, and in a comment a byte 255, where ptxas before 13
// takes the line to end, or the comment to have no end. NULs at the end of the text do
// no harm.
func (l *Lexer) readable(at, end int, comment bool) bool {
	if i := bytes.IndexByte(l.text[at:end], 0); i >= 0 {
		l.bad(at + i)
		return l.Err == nil
	}
	if i := bytes.IndexByte(l.text[at:end], 255); i >= 0 && comment {
		l.fail(at+i, at+i+1, "remove it, or save the file as UTF-8", "byte 255 in a comment, where ptxas before 13 ends the comment")
		return false
	}
	return true
}

// marker matches a line marker as ptxas reads it.
var marker = sync.OnceValue(func() *regexp.Regexp {
	const pattern = `^#_*(line_*)?[0-9]+_+"[^"]*"(_+[0-9]+)*_*\n`
	return regexp.MustCompile(strings.ReplaceAll(pattern, "_", "["+strings.Replace(space, "\n", "", 1)+"]"))
})

// lineMarker skips `# 1 "a.cu"` and `#line 1 "a.cu"`, which ptxas accepts anywhere;
// ptxas refuses every other preprocessor line too.
func (l *Lexer) lineMarker(at int) bool {
	if end := marker().FindIndex(l.text[at:]); end != nil {
		l.at = at + end[1]
		return l.readable(at, l.at, false)
	}
	end := lineEnd(l.text, at)
	name, _, _ := bytes.Cut(bytes.Trim(l.text[at+1:end], space), []byte{' '})
	if string(name) == "line" || len(name) > 0 && class[name[0]] == cDigit {
		l.fail(at, end, `write # NUMBER "FILE", and end the line there`, "malformed line marker")
	} else {
		l.fail(at, max(at+1, at+bytes.Index(l.text[at:end], name)+len(name)), "run the C preprocessor over this file first", "preprocessor directive #%s in PTX", name)
	}
	return false
}

func (l *Lexer) bad(at int) Token {
	c := l.text[at]
	switch {
	case c == 0:
		for end := at; ; end++ {
			if end == len(l.text) {
				l.at = end
				return Token{Off: int32(end), End: int32(end)} // NULs at the end: a C string
			}
			if l.text[end] != 0 && class[l.text[end]] != cSpace {
				return l.fail(at, at+1, "remove it; if what follows is a module of its own, start that with .version", "NUL byte; ptxas would silently ignore everything after it")
			}
		}
	case at == 0 && len(l.text) > 2 && string(l.text[:3]) == "\xef\xbb\xbf":
		return l.fail(0, 3, "save the file as UTF-8 without BOM", "file starts with a byte order mark, which ptxas does not read")
	case c >= 0x80:
		end := at + 1
		for end < len(l.text) && l.text[end]&0xc0 == 0x80 {
			end++
		}
		return l.fail(at, end, "", "character %q outside a comment; PTX names are ASCII", string(l.text[at:end]))
	case c == '\v':
		return l.fail(at, at+1, "replace it with a space", "vertical tab, which ptxas does not read as white space")
	}
	return l.fail(at, at+1, "", "character %q has no meaning in PTX", string(c))
}
