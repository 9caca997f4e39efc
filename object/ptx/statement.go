package ptx

import (
	"bytes"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// What a few bytes of text can stand for must be limited: the names of all ranges of variables of a
// module, and the targets of all its lists like L<3>.
const maxRange, maxListed = 1 << 16, 1 << 20

// body reads the body of a declaration, from its opening brace on. Module-scope names
// must be declared before they are used, so it can refer only to those known when it
// starts. ok is false if the text ends before the closing brace.
func (p *parser) body(d *Decl, params []Param) (span diag.Span, ok bool) {
	from := int32(p.at)
	p.open(d, params)
	for i := range params {
		p.local(&LocalDecl{Kind: Parameter, Name: params[i].NameSpan, Count: -1})
	}
	for p.codeStatement() {
	}
	p.leave(0)
	p.settle()
	return p.from(from), p.done
}

func (p *parser) open(d *Decl, params []Param) {
	p.done, p.begun, p.label, p.known, p.inFunc = false, p.begun[:0], -1, d.known, d.Kind == Func
	p.scopes.reset(p.text)
	p.forget()
	for i := range params {
		p.enter(LocalDecl{Kind: Parameter, Name: params[i].NameSpan, Count: -1, Type: params[i].TypeAt, token: -1})
	}
}

// codeStatement reads the next statement of a body. It returns false after the last one
// and after an error.
func (p *parser) codeStatement() bool {
	if p.done || p.eof() {
		return false
	}
	switch c := p.text[p.at]; {
	case c == '.':
		p.directive()
	case class[c] == cLetter || p.atName():
		from := p.at
		p.instruction(false)
		p.paramAddress(from, from)
	case c == '@': // @p, @!p
		from := p.at
		p.accept('@')
		p.accept('!')
		p.use(p.name(Refers, "a predicate"))
		if !p.atName() {
			p.expected("an instruction")
			return false
		}
		op := p.at
		p.instruction(true)
		p.paramAddress(from, op)
	case c == '{':
		p.st.Kind = Open
		p.begun = append(p.begun, begun{len(p.visible), int32(len(p.blocks))})
		p.blocks = append(p.blocks, block{from: int32(p.at)})
		p.accept(c)
	case c == '}':
		p.st.Kind = Close
		last := p.begun[len(p.begun)-1]
		p.leave(last.visible)
		p.blocks[last.block].to = int32(p.at)
		p.begun = p.begun[:len(p.begun)-1]
		p.done = len(p.begun) == 0
		p.accept(c)
	case p.accept(';'):
		p.st.Kind = Empty
	default:
		p.expected("an instruction")
	}
	return p.Err == nil
}

// paramAddress records an instruction, from its guard and from its opcode on, that moves the address of a
// parameter of a function to a register.
func (p *parser) paramAddress(from, op int) {
	if p.text[op] != 'm' || p.code != nil || !p.inFunc || p.Err != nil || !bytes.HasPrefix(p.text[op:p.last], []byte("mov.")) {
		return
	}
	register := opcodeEnd(p.text, op)
	for register < p.last && class[p.text[register]] == cSpace {
		register++
	}
	comma := bytes.IndexByte(p.text[register:p.last], ',')
	operand := bytes.TrimLeft(p.text[register+comma+1:p.last], " \t\n")
	if comma <= 0 || len(operand) == 0 || nameEnd(p.text, register+1) != register+comma {
		return
	}
	if c := class[operand[0]]; c != cLetter && c != cSigil || operand[0] == '%' && p.percent == 0 {
		return
	}
	operand = operand[:nameEnd(operand, 1)]
	if i := p.find(sets.HashBytes(operand), operand); i >= 0 && p.locals[i].Kind == Parameter && p.locals[i].Type.Space == ".param" {
		p.m.ParamAddresses = append(p.m.ParamAddresses, ParamAddress{Guard: span(from, op), Register: span(register, register+comma), End: int32(p.last)})
	}
}

func span(from, to int) diag.Span { return diag.Span{Off: int32(from), Len: int32(to - from)} }

// instruction reads `label:`, or an opcode with its modifiers and operands.
func (p *parser) instruction(guarded bool) {
	call := p.isNamed("call")
	if !call && p.code == nil && !p.pct && p.plainInstruction() {
		return
	}
	name := Token{Ident, byte(Opcode), int32(p.at), int32(nameEnd(p.text, p.at+1))}
	p.st.Kind, p.st.Op = Instruction, int32(len(p.tokens))
	if p.pass(name); p.is(':') && !guarded {
		p.labelStatement(name.Span())
		return
	}
	for p.is('.') {
		p.pass(p.Lexer.word(p.at))
	}
	p.st.Operands, p.braces = int32(len(p.tokens)), 0
	if call && p.code == nil {
		p.call(name.Off)
	}
	p.operands()
}

// plainInstruction reads an instruction whose operands hold nothing unusual, such as a
// comment or a float with a decimal point: it looks only at the bytes that events finds.
// Otherwise it returns false, and does nothing.
func (p *parser) plainInstruction() bool {
	text, from := p.text, p.at
	uses, unknown, depth := len(p.m.Uses), len(p.unknown), 0
	for at := from + 1; ; {
		if at = p.events.next(text, at); at >= len(text) || text[at-1] == '.' {
			break
		}
		switch c := text[at]; {
		case c == ';':
			if depth == 0 {
				p.move(at + 1)
				return true
			}
		case c == '{':
			depth++
			at++
			continue
		case c == '}':
			if depth--; depth >= 0 {
				at++
				continue
			}
		case class[c] == cLetter, class[c] == cSigil:
			end := nameEnd(text, at+1)
			if (end-at > 1 || class[c] == cLetter) && p.use(diag.Span{Off: int32(at), Len: int32(end - at)}) {
				next := end
				for next < len(text) && class[text[next]] == cSpace {
					next++
				}
				if next < len(text) && text[next] == '[' { // an index
					break
				}
			}
			if end-at > 1 || c != '$' { // _ alone is the sink
				at = end
				continue
			}
		case c == ':', c == '.': // .shared::cluster, .v2.f32
			if end := opcodeEnd(text, from); at < end {
				at = end
				continue
			}
		}
		break
	}
	p.m.Uses, p.unknown = p.m.Uses[:uses], p.unknown[:unknown]
	return false
}

// opcodeEnd returns the end of an opcode and the modifiers that follow it without a
// space.
func opcodeEnd(text []byte, from int) int {
	at := nameEnd(text, from)
	for at < len(text) && text[at] == '.' {
		end := wordEnd(text, at)
		if end == at+1 {
			break
		}
		at = end
	}
	return at
}

// operands reads the rest of an instruction or directive, up to and including the
// semicolon.
func (p *parser) operands() {
	for p.operandToken() {
	}
	p.accept(';')
}

// operandToken passes one token. It returns false at the semicolon and after an error.
func (p *parser) operandToken() bool {
	if p.atName() {
		name := p.name(Refers, "a name")
		if p.use(name) && p.st.Kind == Instruction && p.is('[') {
			p.index()
		}
		return true
	}
	if p.eof() || p.is('}') && p.braces == 0 {
		p.expected("';'")
		return false
	}
	switch c := p.text[p.at]; {
	case c == ';':
		if p.braces > 0 {
			p.expected("'}' before the end of the statement")
		}
		return false
	case c == ',' || c == '(' || c == ')' || c == '[' || c == ']':
		return p.mark()
	case c == '{':
		p.braces++
	case c == '}':
		p.braces--
	}
	p.next()
	return true
}

// labelStatement reads the colon after a label.
func (p *parser) labelStatement(name diag.Span) {
	l := LocalDecl{Kind: CodeLabel, Name: name, Count: -1, token: p.st.Op}
	p.st.Kind = LabelStatement
	if p.keep {
		p.tokens[p.st.Op].setRole(Declares)
	}
	p.accept(':')
	switch {
	case !p.is('.'):
	case p.isWord(".callprototype"):
		l.Kind = ProtoLabel
	case p.isWord(".branchtargets"), p.isWord(".calltargets"):
		l.Kind = TargetList
	}
	p.enterLocal(&l)
}

func (p *parser) directive() {
	p.st.Kind = Directive
	p.braced = false
	word := p.Lexer.word(p.at)
	switch w := p.text[word.Off:word.End]; string(w) {
	case ".reg", ".local", ".shared", ".param", ".global", ".const", ".tex", ".sreg":
		p.pass(word)
		p.localVariables(known(w))
	case ".loc":
		p.loc(word)
	case ".loc_intermediate": // of Tile IR, since PTX 9.4; no semicolon ends it
		p.pass(word)
		p.lineNumbers()
	case ".file":
		f := p.readFile()
		if f.In = p.in; p.code == nil {
			p.m.Files = append(p.m.Files, f)
		}
	case ".callprototype":
		p.pass(word)
		p.callPrototype()
	case ".branchtargets", ".calltargets":
		p.pass(word)
		p.st.Operands = int32(len(p.tokens))
		p.targetList()
	case ".version", ".target", ".address_size", ".func", ".entry", ".visible", ".extern", ".weak", ".common", ".section", ".alias":
		p.errorAt(word.Span(), "a '}' is missing before it", "%s inside a function body", w)
	default: // .pragma, and statements of later ISA versions
		unknown := len(p.unknown)
		p.pass(word)
		p.st.Operands, p.braces = int32(len(p.tokens)), 0
		p.operands()
		p.unknown = p.unknown[:unknown] // because words of the directive may look like names
	}
	if p.braced {
		p.balanced(word.Off)
	}
}

// balanced checks that the braces of the statement that starts at from match, because Outline finds
// the end of a body by counting them.
func (p *parser) balanced(from int32) {
	depth := 0
	lex := NewLexer(p.text[:p.last], from)
	for t := lex.Next(); t.Kind != EOF; t = lex.Next() {
		switch {
		case t.isPunct('{'):
			depth++
		case t.isPunct('}'):
			depth--
		}
		if depth < 0 || depth > 0 && t.isPunct(';') {
			p.errorAt(t.Span(), "", "the braces of this statement do not match")
			return
		}
	}
}

// targetList reads `L0, L1, N<2>;`.
func (p *parser) targetList() {
	for !p.is(';') {
		if p.eof() || p.is('{') || p.is('}') {
			p.expected("';'")
			return
		}
		if !p.atName() {
			p.next()
			continue
		}
		at, base := int32(len(p.tokens)), p.name(Nothing, "")
		if !p.accept('<') {
			p.use(base)
			continue
		}
		count, number := p.needInteger("the number of names")
		if p.listed += min(count, maxListed+1); p.listed > maxListed {
			p.errorAt(number, "", "the lists of this module stand for more than %d targets", maxListed)
			return
		}
		p.need('>')
		p.useList(at, base, count)
	}
	p.accept(';')
}

// callPrototype reads `label: .callprototype (results) _ (params) .noreturn;`. Its
// names have no meaning outside.
func (p *parser) callPrototype() {
	list := p.paramList[:0]
	if p.is('(') {
		list = p.params(list, true)
	}
	results := len(list)
	if p.is('_') || p.atName() {
		p.next()
	}
	if p.is('(') {
		list = p.params(list, true)
	}
	for !p.is(';') && !p.eof() {
		p.next()
	}
	p.need(';')
	p.paramList = list
	if p.code != nil {
		return
	}
	proto := Prototype{Signature: p.signature(list, results)}
	if p.label >= 0 {
		l := &p.locals[p.label]
		proto.Label, l.Proto = l.Name, int32(len(p.m.Prototypes))
		p.label = -1
	}
	p.m.Prototypes = append(p.m.Prototypes, proto)
}

// localVariables reads `.param .align 8 .b8 a[16], b[8];` or `.reg .b32 %r<9>;` after its first
// word. Its names are visible after the whole statement: in `x = x` the second x is the outer one.
func (p *parser) localVariables(space string) {
	l := LocalDecl{Kind: Object, Type: TypeAt{Type: Type{Space: space}}}
	if space == ".reg" {
		l.Kind = Register
	}
	for p.is('.') {
		w, word := p.word()
		p.pass(word)
		p.typeWord(&l.Type, w, word.Span())
	}
	if l.Type.Word != "" && !p.typed(&l.Type) {
		return
	}
	p.declared = p.declared[:0]
	for p.Err == nil {
		l.token = int32(len(p.tokens))
		l.Name = p.name(Declares, "a name")
		if l.Count = -1; p.accept('<') {
			l.Count, _ = p.needInteger("the number of names")
			p.need('>')
		}
		l.Type.Array, l.Type.Unsized = false, false
		p.dimensions(&l.Type.Type)
		if p.accept('=') {
			p.initialiser(Opaque(l.Type.Word))
		}
		if !p.accept(',') {
			break
		}
		p.declared = append(p.declared, l)
	}
	if p.need(';') {
		for i := range p.declared {
			p.enterLocal(&p.declared[i])
		}
		p.enterLocal(&l)
	}
}

func (p *parser) enterLocal(l *LocalDecl) {
	if p.code != nil {
		p.code.entered(p.enter(*l))
		return
	}
	p.local(l)
	name := p.bytes(l.Name)
	if name[0] == '%' && !p.pct && l.Kind < CodeLabel && l.Type.Space != ".param" && !p.hides(name, l.Count >= 0) {
		return
	}
	if l.Kind >= CodeLabel {
		hash := sets.HashBytes(name)
		if l.Kind == CodeLabel { // ptxas takes the labels of prototypes and lists only before their uses
			p.labels = append(p.labels, blockLabel{hash, p.begun[len(p.begun)-1].block})
			if _, ok := p.m.moduleName(hash, name); !ok {
				return // it hides nothing
			}
		}
	}
	if n := p.enter(*l); l.Kind == ProtoLabel {
		p.label = n
	}
}

// loc reads `.loc 1 20 3` with its optional `, function_name L, inlined_at 1 4 2`. It
// ends where the next statement starts, because no semicolon ends it.
func (p *parser) loc(word Token) {
	var l Loc
	p.pass(word)
	l.LocPlace, l.FileSpan = p.lineNumbers()
	if p.is(',') {
		l.Inlining = p.inlining()
	}
	if l.Span = p.from(word.Off); p.Err != nil || p.code != nil {
		return
	}
	if cap(p.m.Locs) == 0 {
		p.m.Locs = make([]Loc, 0, 16+(len(p.text)-p.at)/256) // clang's lines are denser than others
	}
	p.m.Locs = append(doubled(p.m.Locs), l)
}

// inlining reads `, function_name L, inlined_at 1 4 2`.
func (c *cursor) inlining() *Inlining {
	in := &Inlining{}
	tail := int32(c.last)
	c.accept(',')
	c.needNamed("function_name")
	if c.is('.') {
		in.Function = c.span()
		c.next()
	} else {
		in.Function = c.name(Nothing, "a label")
	}
	if in.FunctionSpan = in.Function; c.accept('+') {
		in.Addend, _ = c.needInteger("a number")
		in.FunctionSpan = c.from(in.Function.Off)
	}
	c.need(',')
	c.needNamed("inlined_at")
	in.InlinedAt, in.Inlined = c.lineNumbers()
	in.Tail = c.from(tail)
	return in
}

// lineNumbers reads the index of a file, and a line and a column, which may be missing.
func (c *cursor) lineNumbers() (at LocPlace, file diag.Span) {
	value, number, ok := c.integer()
	if number.Kind != Number || !ok {
		c.expected("a file index")
		return at, file
	}
	at.File, file = value, number.Span()
	c.pass(number)
	if value, number, _ = c.integer(); number.Kind == Number {
		at.Line = value
		c.pass(number)
		if value, number, _ = c.integer(); number.Kind == Number {
			at.Column = value
			c.pass(number)
		}
	}
	return at, file
}
