package ptx

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/hashed"
	"ptxlink/link/diag"
)

// The reader of the releases before, which makes tokens of everything. It serves one
// release as the oracle of the fuzzers, FuzzParse and FuzzSection, in this test file, then
// goes.

// oldParse reads one module.
func oldParse(src *diag.Source) (*Module, *Error) { return oldRead(src, &oldParser{}) }

// oldParams reads the results and then the parameters of a function.
func oldParams(m *Module, d *Decl) []Param {
	if d.Kind == Variable {
		return nil
	}
	p := oldParser{m: m}
	p.oldCursor = oldCursor{oldLexer: newOldLexer(m.Src.Text[:d.Header.End()], d.Header.Off)}
	p.next()
	list, _ := p.functionHeader(&Decl{})
	return list
}

// oldCode reads the body of a function or the initial value of a variable.
func oldCode(m *Module, d *Decl) *Code {
	b := oldBuild(m, d)
	if b == nil {
		return nil
	}
	return b.Code
}

// oldSections reads every section of a module, like AllSections.
func oldSections(m *Module) (map[string]*Data, *Error) {
	set := oldSectionSet{m: m}
	all := map[string]*Data{}
	for i := range m.Sections {
		name := m.Sections[i].Name
		if all[name] != nil {
			continue
		}
		data, err := set.data(name)
		if err != nil {
			return nil, err
		}
		all[name] = &data
	}
	for name, data := range all {
		if len(data.Bytes) == 0 {
			delete(all, name)
		}
	}
	return all, nil
}

// oldLexer reads tokens on demand. After the first error, which is kept in Err, it
// returns only EOF.
type oldLexer struct {
	text []byte
	at   int
	Err  *Error
}

// newOldLexer returns a lexer of text, starting at byte off.
func newOldLexer(text []byte, off int32) oldLexer { return oldLexer{text: text, at: int(off)} }

func (l *oldLexer) fail(off, end int, help, format string, args ...any) Token {
	if l.Err == nil {
		l.Err = &Error{Span: diag.Span{Off: int32(off), Len: int32(end - off)}, Text: fmt.Sprintf(format, args...), Help: help}
	}
	l.at = len(l.text)
	return Token{Off: int32(off), End: int32(off)}
}

// Next returns the next token. It skips white space, comments and #line markers.
func (l *oldLexer) Next() Token {
	text := l.text
	for l.at < len(text) {
		at := l.at
		c := text[at]
		switch class[c] {
		case cSpace:
			l.at++
		case cLetter:
			return l.ident(at)
		case cSigil:
			if at+1 < len(text) && inName[text[at+1]] {
				return l.ident(at)
			}
			if c == '_' { // the sink: mov.b64 {_, %r1}, %rd1
				l.at++
				return Token{Kind: Punct, Ch: c, Off: int32(at), End: int32(at + 1)}
			}
			return l.fail(at, at+1, "", "%q alone is not a name", string(c))
		case cDigit:
			return l.number(at)
		case cPunct, cMark:
			switch c {
			case '/':
				if at+1 < len(text) && (text[at+1] == '/' || text[at+1] == '*') {
					if !l.comment(at) {
						return Token{Off: int32(at), End: int32(at)}
					}
					continue
				}
			case '#':
				if !l.lineMarker(at) {
					return Token{Off: int32(at), End: int32(at)}
				}
				continue
			case '.':
				return l.word(at)
			case '"':
				return l.string(at)
			case '%':
				if at+1 < len(text) && inName[text[at+1]] {
					return l.ident(at)
				}
			}
			l.at++
			return Token{Kind: Punct, Ch: c, Off: int32(at), End: int32(at + 1)}
		default:
			return l.bad(at)
		}
	}
	return Token{Off: int32(len(text)), End: int32(len(text))}
}

func (l *oldLexer) ident(at int) Token {
	end := at + 1
	for end < len(l.text) && inName[l.text[end]] {
		end++
	}
	l.at = end
	return Token{Kind: Ident, Off: int32(at), End: int32(end)}
}

// number accepts any run of letters and digits, and a fraction or an exponent after
// plain digits: `4.u32` is the float `4.` followed by u32, as in ptxas, and `2e-1` one.
func (l *oldLexer) number(at int) Token {
	digits := at
	for digits < len(l.text) && class[l.text[digits]] == cDigit {
		digits++
	}
	end := digits
	for end < len(l.text) && inName[l.text[end]] {
		end++
	}
	if end == digits && end < len(l.text) && l.text[end] == '.' {
		for end++; end < len(l.text) && class[l.text[end]] == cDigit; end++ {
		}
		digits = end
	}
	if e := digits; e < len(l.text) && l.text[e]|0x20 == 'e' {
		if e++; e < len(l.text) && (l.text[e] == '+' || l.text[e] == '-') {
			e++
		}
		if e < len(l.text) && class[l.text[e]] == cDigit {
			for ; e < len(l.text) && class[l.text[e]] == cDigit; e++ {
			}
			end = max(end, e)
		}
	}
	l.at = end
	return Token{Kind: Number, Off: int32(at), End: int32(end)}
}

// word accepts a dot and the name behind it, with its `::` parts (`.shared::cluster`).
func (l *oldLexer) word(at int) Token {
	text := l.text
	end := at + 1
	if end >= len(text) || !inName[text[end]] {
		return l.fail(at, at+1, "", "a dot must be followed by a directive name")
	}
	for {
		for end < len(text) && inName[text[end]] {
			end++
		}
		if end+2 >= len(text) || text[end] != ':' || text[end+1] != ':' || !inName[text[end+2]] {
			break
		}
		end += 2
	}
	l.at = end
	return Token{Kind: Word, Off: int32(at), End: int32(end)}
}

// string accepts any bytes but NUL up to the next quote, line ends among them.
func (l *oldLexer) string(at int) Token {
	end := bytes.IndexByte(l.text[at+1:], '"')
	if end < 0 {
		line := bytes.IndexByte(l.text[at:], '\n')
		if line < 0 {
			line = len(l.text) - at
		}
		return l.fail(at, at+line, "", "string is not closed")
	}
	if end += at + 2; !l.readable(at, end, false) {
		return Token{Off: int32(at), End: int32(at)}
	}
	l.at = end
	return Token{Kind: String, Off: int32(at), End: int32(end)}
}

func (l *oldLexer) comment(at int) bool {
	if l.text[at+1] == '/' {
		l.at = lineEnd(l.text, at)
		return l.readable(at, l.at, true)
	}
	end := bytes.Index(l.text[at+2:], []byte("*/"))
	if end < 0 {
		l.fail(at, at+2, "add the missing */", "comment is not closed")
		return false
	}
	l.at = at + 2 + end + 2
	return l.readable(at, l.at, true)
}

// readable reports bytes of a comment or string that ptxas does not read as we do: a
// NUL, where the text ends for it, and in a comment a byte 255, where ptxas before 13
// takes the line to end, or the comment to have no end. NULs at the end of the text do
// no harm.
func (l *oldLexer) readable(at, end int, comment bool) bool {
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

// lineMarker skips `# 1 "a.cu"` and `#line 1 "a.cu"`, which ptxas accepts anywhere;
// ptxas refuses every other preprocessor line too.
func (l *oldLexer) lineMarker(at int) bool {
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

func (l *oldLexer) bad(at int) Token {
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
		if a, *ok = apply(op, a, b); !*ok {
			return 0
		}
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

// What a few bytes of text can stand for is limited: the names of all ranges of
// variables of a module, and the targets of all its lists like L<3>.
const oldMaxRange, oldMaxListed = 1 << 16, 1 << 20

// oldReader reads the statements of one body and tracks what is visible at each.
// It starts at the opening brace and stops after the closing one.
type oldReader struct {
	oldCursor
	scopes
	m     *Module
	known NameID // names below it were declared before the body
	// all enters every name into the scopes. Without it, names that start with %
	// and labels are omitted if they cannot hide a module-scope name.
	all, pct bool

	st     Statement
	begun  []int // number of locals visible when each block began
	done   bool
	label  int32 // the ProtoLabel right before the current statement, or -1
	latest int32 // the last ProtoLabel entered

	// Declared or listed by the current statement.
	declared []LocalDecl
	targets  []oldTargetRange
	listed   int64 // targets of all lists so far
	loc      Loc
	file     File
	proto    []Param // of a .callprototype
	results  int     // of it
}

type oldTargetRange struct {
	token      int32
	span, base diag.Span
	count      int64
	targets    []Reference
}

// begin starts the body of a declaration: the oldCursor is at its opening brace.
func (r *oldReader) begin(m *Module, d *Decl, params []Param, all bool) {
	r.m, r.all, r.done, r.begun, r.latest = m, all, false, r.begun[:0], -1
	r.known = d.known
	r.scopes.reset(r.oldLexer.text)
	for i := range params {
		r.enter(LocalDecl{Kind: Parameter, Name: params[i].NameSpan, Count: -1, Type: params[i].TypeAt, token: -1})
	}
}

// moduleName finds a module-scope name that was declared before the body.
func (r *oldReader) moduleName(name []byte) (NameID, bool) {
	id, ok := r.m.moduleName(name)
	return id, ok && id < r.known
}

// statement reads the next statement into st. It returns false after the last one
// and after an error.
func (r *oldReader) statement() bool {
	if r.done {
		return false
	}
	r.declared, r.targets = r.declared[:0], r.targets[:0]
	r.label, r.latest = r.latest, -1
	first := int32(len(r.tokens))
	r.st = Statement{First: first, Op: first}
	switch r.tok.Kind {
	case EOF:
		return false
	case Word:
		r.st.Kind = Directive
		r.directive()
		r.balanced()
	case Ident:
		r.instruction()
	case Punct:
		switch r.tok.Ch {
		case '{':
			r.st.Kind = Open
			r.begun = append(r.begun, len(r.visible))
			r.next()
		case '}':
			r.st.Kind = Close
			r.leave(r.begun[len(r.begun)-1])
			r.begun = r.begun[:len(r.begun)-1]
			r.done = len(r.begun) == 0
			r.next()
		case ';':
			r.st.Kind = Empty
			r.next()
		case '@': // @p, @!p
			if r.next(); r.is('!') {
				r.next()
			}
			if r.tok.Kind != Ident {
				r.expected("a predicate")
				return false
			}
			if r.next(); r.tok.Kind != Ident {
				r.expected("an instruction")
				return false
			}
			r.st.Op = int32(len(r.tokens))
			r.instruction()
		default:
			r.expected("an instruction")
		}
	default:
		r.expected("an instruction")
	}
	r.st.End = int32(len(r.tokens))
	if r.st.Operands == 0 {
		r.st.Operands = min(r.st.Op+1, r.st.End)
	}
	return r.Err == nil
}

// mark sets the role of the current token, which next passes afterwards.
func (r *oldReader) mark(role Role) {
	r.tok.setRole(role)
	r.next()
}

// instruction reads `label:`, or an opcode with its modifiers and operands.
func (r *oldReader) instruction() {
	name := r.tok
	r.mark(Opcode)
	if r.is(':') && r.st.Op == r.st.First {
		r.st.Kind = LabelStatement
		r.tokens[r.st.Op].setRole(Declares)
		label := LocalDecl{Kind: CodeLabel, Name: name.Span(), Count: -1, token: r.st.Op}
		if r.next(); r.tok.Kind == Word {
			switch r.word() {
			case ".callprototype":
				label.Kind = ProtoLabel
			case ".branchtargets", ".calltargets":
				label.Kind = TargetList
			}
		}
		r.declared = append(r.declared, label)
		return
	}
	for r.tok.Kind == Word {
		r.next()
	}
	r.st.Operands = int32(len(r.tokens))
	r.operands()
}

// operands skips everything up to and including the semicolon.
func (r *oldReader) operands() {
	for depth := 0; ; r.next() {
		switch {
		case r.tok.Kind == EOF || r.is('}') && depth == 0:
			r.expected("';'")
			return
		case r.tok.Kind != Punct:
		case r.tok.Ch == '{':
			depth++
		case r.tok.Ch == '}':
			depth--
		case r.tok.Ch == ';':
			if depth > 0 {
				r.expected("'}' before the end of the statement")
				return
			}
			r.next()
			return
		}
	}
}

func (r *oldReader) directive() {
	switch w := r.word(); w {
	case ".reg", ".local", ".shared", ".param", ".global", ".const", ".tex", ".sreg":
		r.declaration(w)
	case ".loc":
		r.loc = r.readLoc()
		r.nameless()
	case ".file":
		r.file = r.readFile()
	case ".callprototype":
		r.callPrototype()
		r.nameless()
	case ".branchtargets", ".calltargets":
		r.next()
		r.st.Operands = int32(len(r.tokens))
		r.targetList()
	case ".version", ".target", ".address_size", ".func", ".entry", ".visible", ".extern", ".weak", ".common", ".section", ".alias":
		r.errorAt(r.tok.Span(), "a '}' is missing before it", "%s inside a function body", w)
	default: // .pragma, and statements of later ISA versions
		r.next()
		r.st.Operands = int32(len(r.tokens))
		r.operands()
	}
}

// balanced checks that the braces of a directive match: Outline finds the end of a
// body by counting them.
func (r *oldReader) balanced() {
	depth := 0
	for _, t := range r.tokens[r.st.First:] {
		switch {
		case t.isPunct('{'):
			depth++
		case t.isPunct('}'):
			depth--
		}
		if depth < 0 || depth > 0 && t.isPunct(';') {
			r.errorAt(t.Span(), "", "the braces of this statement do not match")
			return
		}
	}
}

// nameless gives the names of the statement so far the role Nothing.
func (r *oldReader) nameless() {
	for i := r.st.First; i < int32(len(r.tokens)); i++ {
		r.tokens[i].setRole(Nothing)
	}
}

// targetList reads `L0, L1, N<2>;`.
func (r *oldReader) targetList() {
	for !r.is(';') {
		if r.tok.Kind == EOF {
			r.expected("';'")
			return
		}
		name, at := r.tok, int32(len(r.tokens))
		r.next()
		if name.Kind != Ident || !r.is('<') {
			continue
		}
		t := oldTargetRange{token: at, base: name.Span()}
		r.next()
		t.count, _ = ParseInt(r.spelling())
		if r.listed += t.count; t.count < 0 || r.listed > oldMaxListed {
			r.errorAt(r.tok.Span(), "", "the lists of this module stand for more than %d targets", oldMaxListed)
			return
		}
		r.next()
		r.need('>')
		t.span = r.from(name.Off)
		r.tokens[at].setRole(Nothing)
		r.targets = append(r.targets, t)
	}
	r.next()
}

// callPrototype reads `label: .callprototype (results) _ (params) .noreturn;`. Its
// names have no meaning outside.
func (r *oldReader) callPrototype() {
	r.proto = r.proto[:0]
	if r.next(); r.is('(') {
		r.proto = r.params(r.proto, true)
	}
	r.results = len(r.proto)
	if r.is('_') || r.tok.Kind == Ident {
		r.next()
	}
	if r.is('(') {
		r.proto = r.params(r.proto, true)
	}
	for !r.is(';') && r.tok.Kind != EOF {
		r.next()
	}
	r.need(';')
}

// declaration reads `.param .align 8 .b8 a[16], b[8];` or `.reg .b32 %r<9>;`. Its
// names are visible after the whole statement: in `x = x` the second x is the outer
// one.
func (r *oldReader) declaration(space string) {
	t := TypeAt{Type: Type{Space: space}}
	for r.next(); r.tok.Kind == Word; {
		r.typeWord(&t)
	}
	kind := Object
	if space == ".reg" {
		kind = Register
	}
	for {
		if r.tok.Kind != Ident {
			r.expected("a name")
			return
		}
		l := LocalDecl{Kind: kind, Name: r.tok.Span(), Count: -1, Type: t, token: int32(len(r.tokens))}
		if r.mark(Declares); r.is('<') {
			r.next()
			count, ok := ParseInt(r.spelling())
			if !ok || count < 0 {
				r.expected("the number of names")
				return
			}
			l.Count = count
			r.next()
			r.need('>')
		}
		from := len(r.tokens)
		r.dimensions(&l.Type.Type)
		for i := from; i < len(r.tokens); i++ {
			r.tokens[i].setRole(Nothing) // WARP_SZ
		}
		if r.is('=') {
			r.next()
			r.initialiser(Opaque(t.Word))
		}
		r.declared = append(r.declared, l)
		if r.is(',') {
			r.next()
			continue
		}
		r.need(';')
		return
	}
}

// initialiser skips a value or a braced list. The words of an opaque one
// (filter_mode = nearest) and the word generic in generic(x) are not names.
func (r *oldReader) initialiser(opaque bool) {
	for depth := 0; r.tok.Kind != EOF; r.next() {
		switch {
		case r.is('{') || r.is('('):
			if r.is('(') && len(r.tokens) > 0 {
				r.tokens[len(r.tokens)-1].setRole(Nothing)
			}
			depth++
		case r.is('}') || r.is(')'):
			depth--
		case depth == 0 && (r.is(',') || r.is(';')):
			return
		case r.tok.Kind == Ident && opaque:
			r.tok.setRole(Nothing)
		case r.is(';'):
			r.expected("'}' before the end of the statement")
			return
		}
	}
}

// enterDeclared makes the declarations of the statement visible.
func (r *oldReader) enterDeclared() {
	for _, l := range r.declared {
		if !r.all {
			name := r.scopes.source[l.Name.Off:l.Name.End()]
			if name[0] == '%' && !r.pct && l.Kind != ProtoLabel && l.Type.Space != ".param" && !r.hides(name, l.Count >= 0) {
				continue
			}
			if _, ok := r.m.moduleName(name); !ok && l.Kind == CodeLabel {
				continue
			}
		}
		i := r.enter(l)
		if l.Kind == ProtoLabel {
			r.latest = i
		}
	}
}

// readLoc reads `.loc 1 20 3` with its optional `, function_name L, inlined_at 1 4
// 2`. It ends where the next statement starts, as there is no semicolon.
func (c *oldCursor) readLoc() Loc {
	from := c.tok.Off
	var l Loc
	c.next()
	l.LocPlace, l.FileSpan = c.lineNumbers()
	if c.is(',') {
		tail := c.last.End
		in := &Inlining{}
		l.Inlining = in
		c.next()
		if c.tok.Kind != Ident || c.spelling() != "function_name" {
			c.expected("function_name")
			return l
		}
		if c.next(); c.tok.Kind != Ident && c.tok.Kind != Word {
			c.expected("a label")
			return l
		}
		in.Function = c.tok.Span()
		in.FunctionSpan = in.Function
		if c.next(); c.is('+') {
			c.next()
			in.Addend, _ = ParseInt(c.spelling())
			c.next()
			in.FunctionSpan = c.from(in.Function.Off)
		}
		if c.need(','); c.tok.Kind != Ident || c.spelling() != "inlined_at" {
			c.expected("inlined_at")
			return l
		}
		c.next()
		in.InlinedAt, in.Inlined = c.lineNumbers()
		in.Tail = c.from(tail)
	}
	l.Span = c.from(from)
	return l
}

func (c *oldCursor) lineNumbers() (at LocPlace, span diag.Span) {
	ok := false
	if c.tok.Kind == Number {
		at.File, ok = ParseInt(c.spelling())
	}
	if !ok {
		c.expected("a file index")
		return at, span
	}
	span = c.tok.Span()
	c.next()
	for _, n := range []*int64{&at.Line, &at.Column} {
		if c.tok.Kind == Number {
			*n, _ = ParseInt(c.spelling())
			c.next()
		}
	}
	return at, span
}

func (p *oldParser) function(start int32, linkage Linkage) {
	d := Decl{Linkage: linkage}
	params, results := p.functionHeader(&d)
	p.declared(start, d, params, results)
}

// functionHeader reads a function from .func or .entry up to its body or semicolon. It
// returns the results and parameters; the first of them are results.
func (p *oldParser) functionHeader(d *Decl) (params []Param, results int) {
	d.Kind = Func
	if p.isWord(".entry") {
		d.Kind = Entry
	}
	headerOff := p.tok.Off
	p.next()
	for p.tok.Kind == Word { // .attribute(.unified(1, 2))
		p.attr(d, true)
	}
	params = p.paramList[:0]
	if p.is('(') {
		params = p.params(params, false)
	}
	results = len(params)
	d.Name, d.NameSpan = p.name()
	if p.is('(') {
		params = p.params(params, false)
	}
	for p.tok.Kind == Word {
		p.attr(d, false)
	}
	d.Header = p.from(headerOff)
	p.paramList = params
	return params, results
}

// declared reads what follows the header of a function.
func (p *oldParser) declared(start int32, d Decl, params []Param, results int) {
	p.in, d.FirstUse = int32(len(p.m.Decls)), int32(len(p.m.Uses))
	d.Signature = p.signature(params, results)
	switch {
	case p.is(';'):
		p.next()
	case p.is('{'):
		if d.Linkage == Extern {
			p.errorAt(d.NameSpan, "drop .extern or the body", "%s is .extern and has a body", p.m.Names[d.Name])
			return
		}
		if d.Linkage == Common {
			p.errorAt(d.NameSpan, "", ".common is for variables in .global")
			return
		}
		d.HasBody = true
		d.known = p.m.declared()
		d.Body = p.body(&d, params)
	default:
		p.expected("{ or ;")
	}
	if p.Err != nil {
		return
	}
	d.Span = p.from(start)
	d.EndUse = int32(len(p.m.Uses))
	p.m.Decls = append(p.m.Decls, d)
}

// attr reads one directive with its operands: .maxntid 256, 1, 1. Before the result
// list, only .attribute takes parentheses. A .pragma here ends with its own
// semicolon.
func (p *oldParser) attr(d *Decl, beforeResults bool) {
	a := Attr{Word: p.word()}
	from := p.tok.Off
	p.next()
	for depth := 0; p.tok.Kind != EOF; p.next() {
		if p.is('(') {
			if depth == 0 && beforeResults && (a.Word != ".attribute" || !p.lastIs(".attribute")) {
				break
			}
			depth++
		} else if p.is(')') {
			depth--
		} else if depth == 0 && (p.tok.Kind == Word || p.tok.Kind == Ident && p.spelling() != "WARP_SZ" || p.is('{') || p.is(';')) {
			break
		}
	}
	if a.Word == ".pragma" && p.is(';') {
		p.next()
	}
	a.Span = p.from(from)
	d.Attrs = append(d.Attrs, a)
}

func (p *oldParser) lastIs(word string) bool { return string(p.text[p.last.Off:p.last.End]) == word }

// variables reads a variable statement; each declarator becomes a Decl.
func (p *oldParser) variables(start int32, linkage Linkage) {
	var t TypeAt
	t.Space = p.word()
	prefixOff, spaceSpan := p.tok.Off, p.tok.Span()
	p.next()
	if p.is('[') { // .const[3], removed in ISA 2.2; ptxas reports it
		for !p.is(']') && p.tok.Kind != EOF {
			p.next()
		}
		p.next()
		t.Space += "[]"
	}
	managed, unified := false, false
	for p.tok.Kind == Word {
		from := p.tok.Off
		p.typeWord(&t)
		attribute := string(p.text[from:p.last.End])
		managed = managed || strings.Contains(attribute, ".managed")
		unified = unified || strings.Contains(attribute, ".unified")
	}
	if t.Word == "" {
		p.expected("a type")
		return
	}
	prefix := p.from(prefixOff)
	first := len(p.m.Decls)
	for {
		d := Decl{Kind: Variable, Linkage: linkage, Storage: &Storage{TypeAt: t, Prefix: prefix, SpaceSpan: spaceSpan, Managed: managed, Unified: unified}}
		p.in = int32(len(p.m.Decls))
		d.FirstUse = int32(len(p.m.Uses))
		d.EndUse = d.FirstUse
		from := p.tok.Off
		name := p.tok
		if p.tok.Kind != Ident {
			p.expected("a name")
			return
		}
		if p.next(); p.is('<') {
			if !p.variableRange(d, name) {
				return
			}
		} else {
			d.Name, d.NameSpan = p.named(p.text[name.Off:name.End]), name.Span()
			d.known = p.m.declared()
			p.declarator(&d, from)
			if p.Err != nil {
				return
			}
			p.m.Decls = append(p.m.Decls, d)
			if p.linked != nil {
				p.link(d)
			}
		}
		if p.is(',') {
			p.next()
			continue
		}
		if !p.is(';') {
			p.expected("',' or ';' after the variable")
			return
		}
		p.next()
		for i := first; i < len(p.m.Decls); i++ {
			p.m.Decls[i].Span = p.from(start)
		}
		return
	}
}

// declarator reads the dimensions and the initial value after the name.
func (p *oldParser) declarator(d *Decl, from int32) {
	dims := p.tok.Off
	p.dimensions(&d.Type)
	d.Dims = p.from(dims)
	if p.is('=') {
		p.next()
		from := p.tok.Off
		p.initialiser(Opaque(d.Word))
		if d.Init = p.from(from); d.Init.Len == 0 {
			p.expected("an initial value")
			return
		}
		p.countInit(d)
	}
	d.Declared = p.from(from)
	d.EndUse = int32(len(p.m.Uses))
}

// variableRange reads the count of `a<3>`, which declares a0, a1 and a2, except
// those that are declared with linkage before. A base with digits at its end, as in
// a7<2>, declares nothing, because ptxas strips all digits of a name to find its
// range. ptxas accepts neither dimensions nor a value after the count.
func (p *oldParser) variableRange(d Decl, base Token) bool {
	p.next()
	count, ok := ParseInt(p.spelling())
	if !ok || count < 1 {
		p.expected("a number of variables")
		return false
	}
	if count > oldMaxRange-p.listed {
		p.errorAt(p.tok.Span(), "", "the ranges of this module stand for more than %d variables", oldMaxRange)
		return false
	}
	p.listed += count
	p.next()
	p.need('>')
	d.NameSpan = p.from(base.Off)
	d.Declared, d.Type.Count = d.NameSpan, 1
	prefix := p.text[base.Off:base.End:base.End]
	if b, _ := splitNumber(prefix); len(b) < len(prefix) {
		return p.Err == nil
	}
	if p.linked == nil {
		p.linked, p.m.ranges = map[NameID]bool{}, map[string]int64{}
		for _, d := range p.m.Decls {
			p.link(d)
		}
	}
	for i := range count {
		d.Name = p.named(strconv.AppendInt(prefix, i, 10))
		if !p.linked[d.Name] {
			p.m.Decls = append(p.m.Decls, d)
		}
	}
	p.m.ranges[string(prefix)] = max(count, p.m.ranges[string(prefix)])
	return p.Err == nil
}

// link notes a variable with linkage.
func (p *oldParser) link(d Decl) {
	if d.Kind == Variable && d.Linkage != Local {
		p.linked[d.Name] = true
	}
}

// countInit sets the size of x[] = {1, 2, 3}.
func (p *oldParser) countInit(d *Decl) {
	if !d.Unsized {
		return
	}
	lex := newOldLexer(p.text[:d.Init.End()], d.Init.Off)
	n, depth, any := int64(0), 0, false
	for t := lex.Next(); t.Kind != EOF; t = lex.Next() {
		switch {
		case t.Kind == Punct && (t.Ch == '{' || t.Ch == '('):
			depth++
		case t.Kind == Punct && (t.Ch == '}' || t.Ch == ')'):
			depth--
		case t.Kind == Punct && t.Ch == ',' && depth == 1:
			n++
		default:
			any = true
		}
	}
	if any {
		d.Unsized, d.Count = false, d.Count*(n+1)
	}
}

// initialiser skips a value or a braced list and records the names in it. The words
// of an opaque initialiser (filter_mode = nearest) and the word generic in
// generic(x) are not names.
func (p *oldParser) initialiser(opaque bool) {
	used := len(p.m.Uses)
	for depth := 0; p.tok.Kind != EOF; p.next() {
		if n := len(p.m.Uses); p.is('(') && n > used && p.m.Uses[n-1].Off == p.last.Off {
			p.m.Uses = p.m.Uses[:n-1]
		}
		switch {
		case p.is('{') || p.is('('):
			depth++
		case p.is('}') || p.is(')'):
			depth--
		case depth == 0 && (p.is(',') || p.is(';')):
			return
		case p.tok.Kind == Ident && !opaque:
			p.use(p.tok.Off, p.text[p.tok.Off:p.tok.End])
		case p.is(';'):
			p.expected("'}' before the end of the statement")
			return
		}
	}
}

// oldSectionSet reads the sections of one module, each once.
type oldSectionSet struct {
	m       *Module
	blocks  map[string][]*Section        // by name
	labels  map[string]string            // defined in sections: the section's name
	readers map[string]*oldSectionReader // of the sections read so far
}

func (s *oldSectionSet) data(name string) (Data, *Error) {
	r := s.reader(name)
	if r.Err == nil {
		r.resolve()
	}
	return r.data, r.Err
}

func (s *oldSectionSet) reader(name string) *oldSectionReader {
	r := s.readers[name]
	if r == nil {
		r = &oldSectionReader{set: s, want: -1}
		r.read(name)
		if s.readers == nil {
			s.readers = map[string]*oldSectionReader{}
		}
		s.readers[name] = r
	}
	return r
}

func (s *oldSectionSet) blocksOf(name string) []*Section {
	if s.blocks == nil {
		s.blocks = map[string][]*Section{}
		for i := range s.m.Sections {
			b := &s.m.Sections[i]
			s.blocks[b.Name] = append(s.blocks[b.Name], b)
		}
	}
	return s.blocks[name]
}

// definer returns the section that defines a label.
func (s *oldSectionSet) definer(label string) (section string, ok bool) {
	if s.labels == nil {
		s.labels = map[string]string{}
		for i := range s.m.Sections {
			for _, l := range s.m.Sections[i].Labels {
				s.labels[s.m.Src.String(l)] = s.m.Sections[i].Name
			}
		}
	}
	section, ok = s.labels[label]
	return section, ok
}

type oldSectionReader struct {
	oldLexer
	set     *oldSectionSet
	tok     Token
	data    Data
	labels  map[string]int64 // of this section
	pending []oldExpression
	shared  bool                                   // data.Bytes and pending are those of the module
	load    bool                                   // write addresses instead of making fixups
	other   func(name string, addend int64) uint64 // with load: the address of a name outside the sections
	want    int64                                  // the offset to look for, or -1
	found   diag.Span
}

// oldExpression is an item that depends on labels: name+addend or name-minus.
type oldExpression struct {
	offset      int64
	addend      int64
	name, minus int32 // SectionNames; -1 if there is none
	span        diag.Span
	nameLen     int32 // at the start of span
	width       int8
	section     bool // the name is that of a section
}

func (r *oldSectionReader) next() { r.tok = r.Next() }

func (r *oldSectionReader) is(ch byte) bool { return r.tok.Kind == Punct && r.tok.Ch == ch }

func (r *oldSectionReader) spelling() string { return string(r.text[r.tok.Off:r.tok.End]) }

func (r *oldSectionReader) errorAt(span diag.Span, format string, args ...any) {
	r.fail(int(span.Off), int(span.End()), "", format, args...)
	r.tok = Token{Off: r.tok.Off, End: r.tok.Off}
}

func (r *oldSectionReader) expected(what string) {
	if r.Err != nil {
		return
	}
	if r.tok.Kind == EOF { // the end of the block: point at its brace
		r.errorAt(diag.Span{Off: r.tok.Off, Len: 1}, "expected %s, found the end of the section", what)
		return
	}
	r.errorAt(r.tok.Span(), "expected %s, found %s", what, r.spelling())
}

// read lays out the section.
func (r *oldSectionReader) read(name string) {
	r.data.Name = name
	r.labels = map[string]int64{}
	blocks := r.set.blocksOf(name)
	for _, s := range blocks {
		if r.Err != nil {
			return
		}
		r.oldLexer = newOldLexer(r.set.m.Src.Text[:s.Body.End()], s.Body.Off)
		for r.next(); r.tok.Kind != EOF; {
			switch r.tok.Kind {
			case Ident:
				r.label()
			case Word:
				r.item()
			default:
				r.expected("a label or .b8, .b16, .b32 or .b64")
			}
		}
	}
}

func (r *oldSectionReader) addLabel(span diag.Span, offset int64) {
	name := r.set.m.Src.String(span)
	if _, ok := r.labels[name]; ok {
		r.errorAt(span, "label %s is defined twice", name)
		return
	}
	r.labels[name] = offset
	r.data.Labels = append(r.data.Labels, Label{name, offset, span})
}

func (r *oldSectionReader) label() {
	span := r.tok.Span()
	if r.addLabel(span, int64(len(r.data.Bytes))); r.Err != nil {
		return
	}
	if r.next(); !r.is(':') {
		r.expected("':' after the label")
		return
	}
	r.next()
}

// width returns the width of the items after the current Word, or 0 for other
// words.
func (r *oldSectionReader) width() int {
	return wordWidth(r.spelling())
}

func (r *oldSectionReader) item() {
	width := r.width()
	if width == 0 {
		r.expected(".b8, .b16, .b32 or .b64")
		return
	}
	if r.next(); r.tok.Kind == Ident || r.tok.Kind == Word && r.width() == 0 {
		r.expression(width)
		return
	}
	for {
		r.number(width)
		if r.Err != nil || !r.is(',') {
			return
		}
		r.next()
	}
}

func (r *oldSectionReader) number(width int) {
	from, negative := r.tok.Off, r.is('-')
	if negative {
		r.next()
	}
	n, ok := r.unsigned()
	if !ok {
		return
	}
	span := diag.Span{Off: from, Len: r.tok.End - from}
	limit := uint64(1) << (8*width - 1) // magnitude of the lowest negative number
	if negative && n > limit || !negative && width < 8 && n >= 2*limit {
		r.errorAt(span, "%s does not fit .b%d", r.set.m.Src.String(span), 8*width)
		return
	}
	if negative {
		n = -n
	}
	r.put(width, n, span)
	r.next()
}

// unsigned reads the current number without moving past it.
func (r *oldSectionReader) unsigned() (uint64, bool) {
	if r.tok.Kind != Number {
		r.expected("a number")
		return 0, false
	}
	n, ok := integer(r.spelling())
	if !ok {
		r.errorAt(r.tok.Span(), "%s is not an integer of at most 64 bits", r.spelling())
	}
	return n, ok
}

// put appends the low bytes of n in little-endian order.
func (r *oldSectionReader) put(width int, n uint64, span diag.Span) {
	from := int64(len(r.data.Bytes))
	for i := range width {
		r.data.Bytes = append(r.data.Bytes, byte(n>>(8*i)))
	}
	if r.want >= from && r.want < from+int64(width) {
		r.found = span
	}
}

func (r *oldSectionReader) expression(width int) {
	e := oldExpression{offset: int64(len(r.data.Bytes)), width: int8(width), name: -1, minus: -1, section: r.tok.Kind == Word, span: r.tok.Span()}
	e.nameLen = e.span.Len
	if !e.section {
		e.name = r.set.m.SectionName(r.text[r.tok.Off:r.tok.End])
	}
	if width < 4 {
		r.errorAt(e.span, "an address needs .b32 or .b64")
		return
	}
	switch r.next(); {
	case r.is('+'):
		r.next()
		n, ok := r.unsigned()
		if ok && n > math.MaxInt64 {
			r.errorAt(r.tok.Span(), "%s is not an offset into a section", r.spelling())
		}
		e.addend = int64(n)
	case r.is('-') && !e.section:
		if r.next(); r.tok.Kind != Ident {
			r.expected("a label")
		}
		e.minus = r.set.m.SectionName(r.text[r.tok.Off:r.tok.End])
	default:
		r.add(e)
		return
	}
	if r.Err == nil {
		e.span.Len = r.tok.End - e.span.Off
		r.next()
		r.add(e)
	}
}

func (r *oldSectionReader) add(e oldExpression) {
	r.pending = append(r.pending, e)
	r.put(int(e.width), 0, e.span)
}

// resolve turns the expressions into fixups and numbers, once every label of the
// section is known.
func (r *oldSectionReader) resolve() {
	pending := r.pending
	if r.pending = nil; len(pending) == 0 {
		return
	}
	fixups := 0
	for i := range pending {
		if pending[i].minus < 0 {
			fixups++
		}
	}
	if r.shared && (r.load || fixups < len(pending)) {
		r.data.Bytes = slices.Clone(r.data.Bytes)
	}
	if !r.load {
		r.data.Fixups = make([]Fixup, 0, fixups)
	}
	names := r.set.m.sectionNames.names
	for i := range pending {
		e := &pending[i]
		section, offset := "", int64(0)
		if e.section {
			section = r.set.m.Src.String(diag.Span{Off: e.span.Off, Len: e.nameLen})
		} else if section, offset = r.find(names[e.name]); r.Err != nil {
			return
		}
		if e.minus < 0 {
			f := Fixup{Offset: e.offset, Width: int32(e.width), Section: section, Name: -1, Addend: e.addend, Span: e.span}
			if section == "" {
				f.Symbol, f.Name = names[e.name], e.name
			} else if f.Addend += offset; f.Addend < 0 {
				r.errorAt(e.span, "%s lies outside every section", r.set.m.Src.String(e.span))
				return
			}
			switch {
			case !r.load:
				r.data.Fixups = append(r.data.Fixups, f)
			case section != "":
				r.fill(e, uint64(f.Addend))
			case r.other != nil:
				r.fill(e, r.other(f.Symbol, f.Addend))
			}
			continue
		}
		section2, offset2 := r.find(names[e.minus])
		if r.Err != nil {
			return
		}
		if section == "" || section != section2 {
			r.errorAt(e.span, "%s is not known before ptxas runs; both must be labels of one section", r.set.m.Src.String(e.span))
			return
		}
		n := uint64(offset - offset2)
		if e.width == 4 && int64(n) != int64(int32(n)) && n > math.MaxUint32 {
			r.errorAt(e.span, "%s does not fit .b32", r.set.m.Src.String(e.span))
			return
		}
		r.fill(e, n)
	}
}

// fill writes the value of an expression.
func (r *oldSectionReader) fill(e *oldExpression, n uint64) {
	for i := range e.width {
		r.data.Bytes[e.offset+int64(i)] = byte(n >> (8 * i))
	}
}

// find returns the section and offset of a label; section is empty if it is not in
// one.
func (r *oldSectionReader) find(label string) (section string, offset int64) {
	if at, ok := r.labels[label]; ok {
		return r.data.Name, at
	}
	name, ok := r.set.definer(label)
	if !ok {
		return "", 0
	}
	other := r.set.reader(name)
	if other.Err != nil {
		r.Err = other.Err
		return "", 0
	}
	return name, other.labels[label]
}

// body reads one function body and records what the linker needs: uses of
// module-scope names, calls, lines, and the names declared inside. Module-scope
// names must be declared before they are used, so the body can refer only to the
// names known when it starts.
func (p *oldParser) body(d *Decl, params []Param) diag.Span {
	from := p.tok.Off
	r := &p.code
	r.oldCursor = p.oldCursor
	r.keep, r.tokens = true, p.buffer
	r.pct = p.pct
	r.begin(p.m, d, params, false)
	for i := range params {
		p.local(&LocalDecl{Kind: Parameter, Name: params[i].NameSpan, Count: -1})
	}
	for {
		r.tokens = r.tokens[:0]
		if !r.statement() {
			break
		}
		p.statementUses()
		switch r.st.Kind {
		case Instruction:
			if op := r.tokens[r.st.Op]; op.End-op.Off == 4 && string(p.text[op.Off:op.End]) == "call" {
				p.call()
			}
		case Directive:
			p.bodyDirective()
		}
		for i := range r.declared {
			p.local(&r.declared[i])
		}
		r.enterDeclared()
	}
	r.leave(0)
	p.buffer = r.tokens
	if r.Err == nil && !r.done {
		r.expected("'}' of " + p.m.Names[d.Name])
	}
	p.oldCursor = r.oldCursor
	p.keep, p.tokens = false, nil
	return p.from(from)
}

// statementUses records the module-scope names in a statement.
func (p *oldParser) statementUses() {
	r := &p.code
	p.firstUse = len(p.m.Uses)
	for i := range r.tokens {
		if t := &r.tokens[i]; t.Kind == Ident && t.Ch == byte(Refers) && p.use(t.Off, p.text[t.Off:t.End]) && r.st.Kind == Instruction {
			p.index(t.End)
		}
	}
	for _, t := range r.targets {
		p.m.TargetRanges = append(p.m.TargetRanges, t.span)
		base := string(p.text[t.base.Off:t.base.End()])
		for k := range t.count {
			p.use(t.base.Off, []byte(base+strconv.FormatInt(k, 10)))
		}
	}
	slices.SortStableFunc(p.m.Uses[p.firstUse:], func(a, b Use) int { return cmp.Compare(a.Off, b.Off) })
}

// use records a name if it refers to a module-scope declaration.
func (p *oldParser) use(off int32, name []byte) bool {
	if name[0] == '%' && !p.pct {
		return false // a register
	}
	id, ok := p.m.moduleName(name)
	if !ok || p.code.find(name) >= 0 {
		return false
	}
	p.m.Padded = p.m.Padded || len(name) != len(p.m.Names[id])
	p.m.Uses = append(p.m.Uses, Use{off, id})
	return true
}

// local records a name that the function declares, if it may conflict with a
// module-scope name of another module.
func (p *oldParser) local(l *LocalDecl) {
	name := p.text[l.Name.Off:l.Name.End()]
	m := p.m
	if l.Count >= 0 {
		if name[0] != '%' {
			m.LocalRanges = append(m.LocalRanges, LocalRange{l.Name, l.Count})
		}
		if Suffixed(append(name[:len(name):len(name)], '0')) {
			m.ReservedRanges = append(m.ReservedRanges, Range{string(name), l.Count})
		}
		return
	}
	switch {
	case name[0] == '%':
	case l.Kind == Register:
		m.LocalRegisters = append(doubled(m.LocalRegisters), LocalName{l.Name.Off, Tail(name)})
	default:
		m.Locals = append(doubled(m.Locals), LocalName{l.Name.Off, Tail(name)})
	}
	if Suffixed(name) {
		m.Reserved = append(m.Reserved, string(name))
	}
}

func (p *oldParser) bodyDirective() {
	r := &p.code
	op := r.tokens[r.st.Op]
	switch string(p.text[op.Off:op.End]) {
	case ".loc":
		p.m.Locs = append(p.m.Locs, r.loc)
	case ".file":
		r.file.In = p.in
		p.m.Files = append(p.m.Files, r.file)
	case ".callprototype":
		proto := Prototype{Signature: p.signature(r.proto, r.results)}
		if r.label >= 0 {
			l := &r.locals[r.label]
			proto.Label, l.Proto = l.Name, int32(len(p.m.Prototypes))
		}
		p.m.Prototypes = append(p.m.Prototypes, proto)
	}
}

// call reads the operands of a call: (results), target, (arguments), prototype. All
// but the target are optional. An unknown form is left alone.
func (p *oldParser) call() {
	r := &p.code
	list := operands(nil, r.tokens, r.st.Operands, r.st.End-1)
	types, results := p.types[:0], 0
	op := r.tokens[r.st.Op]
	c := Call{Use: -1, Proto: -1, In: p.in}
	c.Span = diag.Span{Off: op.Off, Len: r.tokens[r.st.End-2].End - op.Off}
	if len(list) > 0 && list[0].Shape == List {
		types = p.operandTypes(types, list[0])
		results = len(types)
		list = list[1:]
	}
	if len(list) == 0 || list[0].Shape != NameOperand {
		return
	}
	c.Target = r.tokens[list[0].First].Span()
	for i := p.firstUse; i < len(p.m.Uses); i++ {
		if p.m.Uses[i].Off == c.Target.Off {
			c.Use = int32(i)
		}
	}
	if list = list[1:]; len(list) > 0 && list[0].Shape == List {
		types = p.operandTypes(types, list[0])
		list = list[1:]
	} else if len(list) > 0 && list[0].Shape != NameOperand {
		return // the release before did not
	}
	if len(list) > 0 && list[0].Shape == NameOperand {
		name := r.tokens[list[0].First].Span()
		if i := r.find(p.text[name.Off:name.End()]); i >= 0 && r.locals[i].Kind == ProtoLabel {
			c.Proto = r.locals[i].Proto
		}
	}
	p.types = types
	c.Signature = p.intern(types, results)
	p.m.Calls = append(p.m.Calls, c)
}

// operandTypes appends the types of a parenthesised list of arguments or results.
func (p *oldParser) operandTypes(types []Type, o Operand) []Type {
	r := &p.code
	for _, e := range operands(nil, r.tokens, o.First+1, o.End-1) {
		if e.First == e.End {
			continue
		}
		var t Type
		if e.Shape == NameOperand {
			t = r.operandType(p.text[r.tokens[e.First].Off:r.tokens[e.First].End])
		}
		types = append(types, t)
	}
	return types
}

func oldRead(src *diag.Source, p *oldParser) (*Module, *Error) {
	if len(src.Text) >= math.MaxInt32 {
		return &Module{Src: src}, &Error{Text: "module is 2 GiB or larger", Help: "split it"}
	}
	p.read(&Module{Src: src}, func() {
		p.header()
		for p.Err == nil && p.tok.Kind != EOF {
			p.statement()
		}
	})
	p.m.percent = p.pct
	return p.m, p.Err
}

// read reads the text of a module, from its first token on.
func (p *oldParser) read(m *Module, statements func()) {
	text := m.Src.Text
	p.oldCursor = oldCursor{oldLexer: newOldLexer(text, 0)}
	p.m = m
	p.next()
	statements()
	p.m.clip()
}

type oldParser struct {
	oldCursor
	m *Module
	// pct is set once a module-scope name starts with %; before that, registers are
	// skipped without a lookup.
	pct bool
	// in is the declaration being parsed, -1 outside.
	in int32

	code      oldReader // of the body being read
	buffer    []Token   // for its tokens
	paramList []Param   // of the function being read
	signatures
	listed   int64           // variables of all ranges so far
	linked   map[NameID]bool // variables with linkage so far; nil before the first range
	firstUse int             // index in Uses for the current statement
	// arrays says how indices on the arrays among the first seen declarations count.
	arrays map[NameID]Index
	seen   int
}

// name reads a module-scope name, and adds it if it is new.
func (p *oldParser) name() (NameID, diag.Span) {
	if p.tok.Kind != Ident {
		p.expected("a name")
		return 0, p.tok.Span()
	}
	span := p.tok.Span()
	s := p.text[p.tok.Off:p.tok.End]
	id := p.named(s)
	p.next()
	return id, span
}

func (p *oldParser) named(s []byte) NameID {
	id, ok := p.m.find(s)
	if !ok {
		id = p.m.addName(hashed.Bytes(s), s)
		p.pct = p.pct || s[0] == '%'
	}
	return id
}

func (p *oldParser) header() {
	if !p.isWord(".version") {
		if what, help := mistaken(p.m.Src); what != "" {
			p.Err = &Error{Text: what, Help: help, NotPTX: true}
			return
		}
		if p.Err == nil {
			span := p.tok.Span()
			if span.Len > 40 {
				span.Len = 40
			}
			p.errorAt(span, "a PTX module starts with .version, .target and .address_size", "no .version directive at the start; this is not a PTX module")
		}
		return
	}
	from, word := p.tok.Off, p.tok.End
	p.next()
	major, minor, ok := strings.Cut(p.spelling(), ".")
	sameLine := len(bytes.Trim(p.text[word:p.tok.Off], " \t\r\f")) == 0 // ptxas takes SUB for no space here
	if p.tok.Kind != Number || !ok || !sameLine {
		p.expected("a version such as 8.4 behind .version")
		return
	}
	p.m.Version.Major, _ = strconv.Atoi(major)
	p.m.Version.Minor, _ = strconv.Atoi(minor)
	p.next()
	p.m.VersionSpan = p.from(from)

	if !p.isWord(".target") {
		p.expected(".target")
		return
	}
	from = p.tok.Off
	for p.next(); ; p.next() {
		if p.tok.Kind != Ident {
			p.expected("a target such as sm_80")
			return
		}
		p.m.Target = append(p.m.Target, Option{p.spelling(), p.tok.Span()})
		if p.next(); !p.is(',') {
			break
		}
	}
	p.m.TargetSpan = p.from(from)

	if p.isWord(".address_size") {
		from = p.tok.Off
		p.next()
		size := p.spelling()
		if size != "32" && size != "64" {
			p.expected("32 or 64")
			return
		}
		p.m.AddressSize, _ = strconv.Atoi(size)
		p.next()
		p.m.AddressSpan = p.from(from)
	}
}

// statement reads one module-scope statement.
func (p *oldParser) statement() {
	start := p.tok.Off
	if p.tok.Kind != Word {
		if !p.sectionEnd() {
			p.expected("a directive")
		}
		return
	}
	firstUse := int32(len(p.m.Uses))
	p.in = -1
	linkage := Local
	for linkages := 0; ; linkages++ {
		l := linkageOf(p.word())
		if l == Local {
			break
		}
		if linkages > 0 {
			p.errorAt(p.tok.Span(), "keep one of the two", "%s after %s; a declaration has one linkage", p.word(), linkage)
			return
		}
		linkage = l
		if p.next(); p.tok.Kind != Word {
			p.expected("a declaration")
			return
		}
	}
	switch w := p.word(); w {
	case ".func", ".entry":
		p.function(start, linkage)
	case ".global", ".const", ".shared", ".local", ".param", ".reg", ".tex":
		p.variables(start, linkage)
	case ".version", ".target", ".address_size":
		p.errorAt(p.tok.Span(), "these may be several modules written into one file; pass them as separate inputs", "second %s in one module", w)
	case ".file":
		p.m.Files = append(p.m.Files, p.readFile())
	case ".loc":
		if l := p.readLoc(); p.Err == nil {
			p.m.Locs = append(p.m.Locs, l)
		}
	case ".pragma":
		p.pragma()
	case ".section":
		p.section()
	case ".alias":
		p.alias()
	default:
		if linkage != Local {
			p.expected("a declaration")
			return
		}
		p.other(start, firstUse)
	}
}

// sectionEnd reads a label behind a section, with which rustc -g ends it. No ptxas accepts it.
func (p *oldParser) sectionEnd() bool {
	span := p.tok.Span()
	if p.tok.Kind != Ident || !bytes.HasPrefix(p.text[span.Off:], []byte("$L__sec_end")) || len(p.m.Sections) == 0 {
		return false
	}
	p.next()
	p.m.SectionEnds = append(p.m.SectionEnds, span)
	return p.need(':')
}

// readFile reads `.file 1 "a.cu", 1700000000, 1234`.
func (c *oldCursor) readFile() File {
	f := File{Time: -1, Size: -1, In: -1}
	from := c.tok.Off
	c.next()
	ok := false
	if c.tok.Kind == Number {
		f.Index, ok = ParseInt(c.spelling())
	}
	if !ok {
		c.expected("a file index")
		return f
	}
	if c.next(); c.tok.Kind != String {
		c.expected("a file name in quotes")
		return f
	}
	f.Path = string(c.text[c.tok.Off+1 : c.tok.End-1])
	c.next()
	for _, field := range []*int64{&f.Time, &f.Size} {
		if !c.is(',') {
			break
		}
		c.next()
		*field, ok = ParseInt(c.spelling())
		if !ok {
			c.expected("a number")
			return f
		}
		c.next()
	}
	f.Span = c.from(from)
	return f
}

func (p *oldParser) pragma() {
	from := p.tok.Off
	p.next()
	textOff := p.tok.Off
	for p.tok.Kind == String || p.is(',') {
		p.next()
	}
	text := p.from(textOff)
	if !p.need(';') {
		return
	}
	p.m.Pragmas = append(p.m.Pragmas, Pragma{p.m.Src.String(text), p.from(from)})
}

func (p *oldParser) alias() {
	var a Alias
	from := p.tok.Off
	p.next()
	a.Name, a.NameSpan = p.name()
	p.need(',')
	a.Target, a.TargetSpan = p.name()
	p.need(';')
	a.Span = p.from(from)
	if p.Err == nil {
		p.m.Aliases = append(p.m.Aliases, a)
	}
}

// other keeps an unknown statement: up to its semicolon, or to the end of its
// block.
func (p *oldParser) other(start, firstUse int32) {
	if p.word() == ".noreturn" || TypeSize(p.word()) != 0 {
		p.expected("a declaration")
		return
	}
	for depth := 0; ; p.next() {
		switch {
		case p.tok.Kind == EOF:
			p.expected("the end of the statement")
			return
		case p.tok.Kind == Ident:
			p.use(p.tok.Off, p.text[p.tok.Off:p.tok.End])
		case p.is('{') || p.is('('):
			depth++
		case p.is('}') || p.is(')'):
			if depth--; depth < 0 {
				p.expected("a directive")
				return
			}
		}
		if depth == 0 && (p.is(';') || p.is('}')) {
			p.next()
			p.m.Others = append(p.m.Others, Other{p.from(start), firstUse, int32(len(p.m.Uses))})
			return
		}
	}
}

// section reads a .section block. Its names may be declared later, so they are kept
// as references for the linker to resolve.
func (p *oldParser) section() {
	from := p.tok.Off
	p.next()
	if p.tok.Kind != Word && p.tok.Kind != Ident {
		p.expected("a section name")
		return
	}
	s := Section{Name: p.word()}
	if p.tok.Kind == Ident {
		s.Name = p.spelling()
	}
	if p.next(); !p.is('{') {
		p.expected("'{'")
		return
	}
	s.Body.Off = p.tok.End
	for p.next(); !p.is('}'); {
		switch {
		case p.tok.Kind == EOF:
			p.expected("'}' of the section")
			return
		case p.is('{'):
			p.expected("data or '}' of the section")
			return
		case p.tok.Kind == Ident:
			span := p.tok.Span()
			if p.next(); p.is(':') {
				s.Labels = append(s.Labels, span)
				p.next()
			} else {
				s.Refs = append(s.Refs, Ref{span, p.m.sectionNames.add(p.text[span.Off:span.End()])})
			}
			continue
		}
		p.next()
	}
	s.Body.Len = p.tok.Off - s.Body.Off
	p.next()
	s.Span = p.from(from)
	p.m.Sections = append(p.m.Sections, s)
}

// build reads the code of a declaration, and returns nil if it has none.
func oldBuild(m *Module, d *Decl) *oldBuilder {
	span := d.Body
	if d.Kind == Variable {
		span = d.Init
	}
	if span.Len == 0 {
		return nil
	}
	b := &oldBuilder{pending: map[string][]oldForward{}}
	b.Code, b.blocks = &Code{Module: m, refs: b.allRefs, Statements: b.allStatements}, b.blocks[:0]
	b.oldCursor = oldCursor{oldLexer: newOldLexer(m.Src.Text[:span.End()], span.Off), keep: true}
	b.oldCursor.next()
	b.tokens = slices.Grow(b.allTokens, int(span.Len)/5)
	b.begin(m, d, oldParams(m, d), true)
	if d.Kind == Variable {
		b.initialValue(Opaque(d.Word))
	} else {
		for b.statement() {
			b.add()
		}
	}
	b.Tokens, b.Locals = b.tokens, b.locals
	b.allTokens, b.allRefs, b.allStatements = b.tokens[:0], b.Code.refs[:0], b.Statements[:0]
	return b
}

// oldBuilder builds the Code of one declaration. The next one uses its memory again.
type oldBuilder struct {
	*Code
	oldReader
	pending map[string][]oldForward // names that a later label may declare
	blocks  []int32                 // the opening token of each block

	allTokens     []Token
	allRefs       []Reference
	allStatements []Statement
}

// oldForward is a name that a later label may declare: a token, or, with list >= 0,
// one target of the TargetRange at that token.
type oldForward struct{ token, list, target int32 }

func (b *oldBuilder) initialValue(opaque bool) {
	b.initialiser(opaque)
	b.st = Statement{Kind: Directive, End: int32(len(b.tokens))}
	b.add()
}

// add resolves the names of the current statement in the current scopes.
func (b *oldBuilder) add() {
	st := b.st
	b.Statements = append(b.Statements, st)
	for int32(len(b.refs)) < st.End {
		b.refs = append(b.refs, NoReference)
	}
	for i := st.First; i < st.End; i++ {
		if t := b.tokens[i]; t.Kind == Ident && t.Role() == Refers {
			b.refs[i] = b.resolve(b.text[t.Off:t.End], oldForward{token: i, list: -1})
		}
	}
	for _, t := range b.targets {
		for k := range int32(t.count) {
			name := strconv.AppendInt(bytes.Clone(b.text[t.base.Off:t.base.End()]), int64(k), 10)
			at := oldForward{t.token, int32(len(b.TargetRanges)), k}
			t.targets = append(t.targets, b.resolve(name, at))
		}
		b.TargetRanges = append(b.TargetRanges, TargetRange{t.span, t.base, t.targets})
	}
	switch st.Kind {
	case Open:
		b.blocks = append(b.blocks, st.First)
	case Close:
		b.blocks = b.blocks[:len(b.blocks)-1]
	}
	first := len(b.locals)
	b.enterDeclared()
	for i := first; i < len(b.locals); i++ {
		b.refs[b.locals[i].token] = localReference(int32(i))
		if b.locals[i].Kind >= CodeLabel {
			b.locals[i].block = b.blocks[len(b.blocks)-1]
			b.declareLabel(int32(i))
		}
	}
}

// resolve finds the meaning of a name at this point. A later label in a block
// around the name is meant if nothing else is visible, or only a label farther out.
func (b *oldBuilder) resolve(name []byte, at oldForward) Reference {
	ref := NoReference
	if i := b.find(name); i >= 0 {
		ref = localReference(i)
		if b.locals[i].Kind < CodeLabel {
			return ref
		}
	} else if id, ok := b.moduleName(name); ok {
		return moduleReference(id)
	}
	b.pending[string(name)] = append(b.pending[string(name)], at)
	return ref
}

// declareLabel resolves the earlier names that refer to a label: those in its block
// that do not refer to a label of an inner block.
func (b *oldBuilder) declareLabel(i int32) {
	block := b.locals[i].block
	list := b.pending[string(b.nameOf(i))]
	for len(list) > 0 && list[len(list)-1].token > block {
		at := list[len(list)-1]
		list = list[:len(list)-1]
		ref := &b.refs[at.token]
		if at.list >= 0 {
			ref = &b.TargetRanges[at.list].Targets[at.target]
		}
		if inner, ok := ref.Local(); !ok || b.locals[inner].block < block {
			*ref = localReference(i)
		}
	}
	b.pending[string(b.nameOf(i))] = list
}

// index records the last use if an index follows the name, which ends at end. Arrays of
// types that we do not know have none, and ptxas refuses an index on anything else.
func (p *oldParser) index(end int32) {
	lex := newOldLexer(p.text, end)
	if t := lex.Next(); !t.isPunct('[') {
		return
	}
	if p.arrays == nil {
		p.arrays = map[NameID]Index{}
	}
	for ; p.seen < len(p.m.Decls); p.seen++ {
		d := &p.m.Decls[p.seen]
		if d.Kind != Variable || !d.Array {
			continue
		}
		if _, known := p.arrays[d.Name]; d.Size() != 0 {
			p.arrays[d.Name] = Index{Stride: TypeSize(d.Word), Shared: d.Space == ".shared"}
		} else if !known {
			p.arrays[d.Name] = Index{Stride: 1, Shared: d.Space == ".shared"}
		}
	}
	use := len(p.m.Uses) - 1
	if x := p.arrays[p.m.Uses[use].Name]; x.Stride > 0 {
		x.Use = int32(use)
		p.m.Indices = append(p.m.Indices, x)
	}
}

func wordWidth(word string) int {
	switch word {
	case ".b8":
		return 1
	case ".b16":
		return 2
	case ".b32":
		return 4
	case ".b64":
		return 8
	}
	return 0
}

// integer reads 12, 0x1f, 017 or 0b1, with an optional U.
func integer(s string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimSuffix(s, "U"), 0, 64)
	return n, err == nil && !strings.ContainsAny(s, "_oO")
}
