package ptx

import (
	"ptxlink/link/diag"
)

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
		if r.tok.Kind == EOF || r.is('{') || r.is('}') {
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
		var ok bool
		if t.count, ok = ParseInt(r.spelling()); !ok {
			r.expected("the number of names")
			return
		}
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
			var ok bool
			if in.Addend, ok = ParseInt(c.spelling()); !ok {
				c.expected("a number")
				return l
			}
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
