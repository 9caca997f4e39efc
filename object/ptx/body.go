package ptx

import (
	"bytes"
	"math"

	"ptxlink/internal/diag"
)

// body walks one function body and records the places where a module-scope
// name stands. PTX scoping, as ptxas has it (testdata/script/scope_*.txtar):
//
//  1. Module-scope names must be declared before they are used, so the names
//     known when a body starts are all that it can mean.
//  2. A register, parameter, local, shared object or label hides a module-scope
//     name from its declaration to the end of its block.
//  3. An opcode is the first name of a statement, and no name at all.
func (p *parser) body(d *Decl) diag.Span {
	from := p.tok.Off
	p.hidden, p.ranges, p.objects, p.protos = p.hidden[:0], p.ranges[:0], p.objects[:0], p.protos[:0]
	for _, list := range [][]Param{d.Results, d.Params} {
		for i := range list {
			p.hide(list[i].NameSpan)
			p.objects = append(p.objects, object{list[i].NameSpan, list[i].Type})
		}
	}
	type scope struct{ hidden, ranges, objects, protos int }
	var scopes []scope
	for {
		switch p.tok.Kind {
		case EOF:
			p.expected("'}' of " + p.m.Names[d.Name])
			return diag.Span{}
		case Word:
			p.bodyDirective()
		case Ident:
			p.instruction()
		case Punct:
			switch p.tok.Ch {
			case '{':
				scopes = append(scopes, scope{len(p.hidden), len(p.ranges), len(p.objects), len(p.protos)})
				p.next()
			case '}':
				top := scopes[len(scopes)-1]
				scopes = scopes[:len(scopes)-1]
				p.hidden, p.ranges = p.hidden[:top.hidden], p.ranges[:top.ranges]
				p.objects, p.protos = p.objects[:top.objects], p.protos[:top.protos]
				p.next()
				if len(scopes) == 0 {
					return p.from(from)
				}
			case '@': // @p, @!p
				if p.next(); p.is('!') {
					p.next()
				}
				if p.tok.Kind != Ident {
					p.expected("a predicate")
					return diag.Span{}
				}
				p.use()
				p.next()
			case ';':
				p.next()
			default:
				p.expected("an instruction")
				return diag.Span{}
			}
		default:
			p.expected("an instruction")
			return diag.Span{}
		}
	}
}

// instruction reads `label:` or an opcode with its operands.
func (p *parser) instruction() {
	opcode := p.tok
	p.next()
	if p.is(':') {
		p.hide(opcode.Span())
		p.label = opcode.Span()
		p.next()
		return
	}
	switch string(p.text[opcode.Off:opcode.End]) {
	case "call":
		p.call(opcode)
	default:
		p.operands()
	}
}

// call reads the operands of a call: (results), target, (arguments), prototype.
// Everything but the target may be missing.
func (p *parser) call(opcode Token) {
	c := Call{Use: -1, Proto: -1, In: p.in}
	for p.tok.Kind == Word {
		p.next()
	}
	if p.is('(') {
		c.Results = p.callOperands()
	}
	if p.is(',') {
		p.next()
	}
	if p.tok.Kind != Ident {
		p.operands() // a form that we do not know
		return
	}
	c.Target = p.tok.Span()
	if p.use() {
		c.Use = int32(len(p.m.Uses) - 1)
	}
	if p.next(); p.is(',') {
		p.next()
	}
	if p.is('(') {
		c.Args = p.callOperands()
	}
	if p.is(',') {
		if p.next(); p.tok.Kind == Ident {
			for i := len(p.protos) - 1; i >= 0; i-- {
				if p.sameName(p.m.Prototypes[p.protos[i]].Label, p.tok.Span()) {
					c.Proto = p.protos[i]
					break
				}
			}
		}
	}
	c.Span = p.from(opcode.Off)
	p.operands()
	p.m.Calls = append(p.m.Calls, c)
}

// callOperands reads a parenthesised list of arguments or results.
func (p *parser) callOperands() []Operand {
	var list []Operand
	start := p.tok.End // of the operand at hand
	var o Operand
	for p.next(); p.tok.Kind != EOF && !p.is(';'); p.next() {
		if p.is(',') || p.is(')') {
			if o.Span.Len > 0 {
				list = append(list, o)
			}
			o = Operand{}
			if p.is(')') {
				p.next()
				return list
			}
			continue
		}
		if p.tok.Kind == Ident {
			p.use()
			if o.Span.Len == 0 {
				o.Type = p.objectType(p.tok.Span())
			}
		}
		if o.Span.Len == 0 {
			start = p.tok.Off
		}
		o.Span = diag.Span{Off: start, Len: p.tok.End - start}
	}
	return list
}

// objectType is the type of a .param object in scope; the zero Type for
// anything else.
func (p *parser) objectType(name diag.Span) Type {
	for i := len(p.objects) - 1; i >= 0; i-- {
		if p.sameName(p.objects[i].name, name) {
			if p.objects[i].Space != ".param" {
				return Type{}
			}
			return p.objects[i].Type
		}
	}
	return Type{}
}

func (p *parser) sameName(a, b diag.Span) bool {
	return bytes.Equal(p.text[a.Off:a.End()], p.text[b.Off:b.End()])
}

// operands passes everything up to the semicolon and records the names in it.
func (p *parser) operands() {
	for {
		switch p.tok.Kind {
		case EOF:
			p.expected("';'")
			return
		case Ident:
			p.use()
		case Punct:
			if p.tok.Ch == ';' {
				p.next()
				return
			}
		}
		p.next()
	}
}

func (p *parser) bodyDirective() {
	switch w := p.word(); w {
	case ".reg", ".local", ".shared", ".param", ".global", ".const", ".tex", ".sreg":
		p.localVariables()
	case ".loc":
		p.loc()
	case ".file":
		p.m.Files = append(p.m.Files, p.file(p.in))
	case ".callprototype":
		p.callPrototype()
	case ".version", ".target", ".address_size", ".func", ".entry", ".visible", ".extern", ".weak", ".common", ".section", ".alias":
		p.errorAt(p.tok.Span(), "a '}' is missing before it", "%s inside a function body", w)
	default: // .branchtargets, .calltargets, .pragma, and what ISA 10 brings
		p.next()
		p.operands()
	}
}

// callPrototype reads `label: .callprototype (results) _ (params) .noreturn;`.
// The names in it belong to nobody.
func (p *parser) callPrototype() {
	proto := Prototype{Label: p.label}
	if p.next(); p.is('(') {
		proto.Results = p.params(true)
	}
	if p.is('_') || p.tok.Kind == Ident {
		p.next()
	}
	if p.is('(') {
		proto.Params = p.params(true)
	}
	for !p.is(';') && p.tok.Kind != EOF {
		p.next()
	}
	p.need(';')
	p.protos = append(p.protos, int32(len(p.m.Prototypes)))
	p.m.Prototypes = append(p.m.Prototypes, proto)
}

// localVariables reads a declaration inside a body; its names hide
// module-scope ones from here to the end of the block.
func (p *parser) localVariables() {
	if p.isWord(".param") {
		p.localParams()
		return
	}
	opaque := false
	p.next()
	for p.tok.Kind == Word {
		opaque = opaque || Opaque(p.word())
		align := p.isWord(".align")
		if p.next(); align {
			p.next() // the number
		}
		if p.is('(') { // .attribute(.managed)
			for !p.is(')') && !p.is(';') && p.tok.Kind != EOF {
				p.next()
			}
			p.next()
		}
	}
	// ptxas enters the names behind the whole statement: in `x = x` the second is
	// the outer one.
	type declared struct {
		name  diag.Span
		count int64 // of a range, else -1
	}
	var names []declared
	for {
		if p.tok.Kind != Ident {
			p.expected("a name")
			return
		}
		name := p.tok.Span()
		if p.next(); p.is('<') {
			p.next()
			count, ok := ParseInt(p.spelling())
			if !ok {
				p.expected("the number of registers")
				return
			}
			p.next()
			p.need('>')
			names = append(names, declared{name, count})
		} else {
			names = append(names, declared{name, -1})
		}
		for p.is('[') {
			for p.next(); !p.is(']') && !p.is(';') && p.tok.Kind != EOF; p.next() {
			}
			p.need(']')
		}
		if p.is('=') {
			p.next()
			p.initialiser(opaque)
		}
		if p.is(',') {
			p.next()
			continue
		}
		p.need(';')
		for _, d := range names {
			if d.count >= 0 {
				p.hideRange(d.name, d.count)
			} else {
				p.hide(d.name)
			}
		}
		return
	}
}

// localParams reads `.param .align 8 .b8 a[16], b[8];`: the objects that calls
// pass, whose types are kept.
func (p *parser) localParams() {
	t := Type{Space: ".param"}
	for p.next(); p.tok.Kind == Word; {
		p.typeWord(&t)
	}
	for {
		if p.tok.Kind != Ident {
			p.expected("a name")
			return
		}
		o := object{p.tok.Span(), t}
		p.hide(o.name)
		p.next()
		if p.is('<') { // .param .b32 p<4>
			p.next()
			count, _ := ParseInt(p.spelling())
			p.next()
			p.need('>')
			p.hideRange(o.name, count)
		} else {
			p.dimensions(&o.Type)
			p.objects = append(p.objects, o)
		}
		if p.is(',') {
			p.next()
			continue
		}
		p.need(';')
		return
	}
}

// use records the name at hand if it means a module-scope declaration, and
// says whether it does.
func (p *parser) use() bool {
	s := p.text[p.tok.Off:p.tok.End]
	if s[0] == '%' && !p.pct {
		return false // a register
	}
	id, ok := p.m.ids[string(s)]
	if !ok || p.isHidden(id, s) {
		return false
	}
	p.m.Uses = append(p.m.Uses, Use{p.tok.Off, id})
	return true
}

func (p *parser) isHidden(id NameID, s []byte) bool {
	for _, h := range p.hidden {
		if h == id {
			return true
		}
	}
	for _, r := range p.ranges {
		if base := p.text[r.base.Off:r.base.End()]; bytes.HasPrefix(s, base) {
			if inRange(string(s[len(base):]), r.count) {
				return true
			}
		}
	}
	return false
}

// inRange says whether digits name a register of a range: plain decimals, with
// leading zeros if need be, as ptxas reads them.
func inRange(digits string, count int64) bool {
	n := int64(0)
	for i := range len(digits) {
		if class[digits[i]] != cDigit || n > math.MaxInt32 {
			return false
		}
		n = 10*n + int64(digits[i]-'0')
	}
	return digits != "" && n < count
}

// hide notes that a name declared in the function covers a module-scope one,
// and reserves it if it looks like a name that the linker would make.
func (p *parser) hide(name diag.Span) {
	s := p.text[name.Off:name.End()]
	if id, ok := p.m.ids[string(s)]; ok {
		p.hidden = append(p.hidden, id)
	}
	if s[0] != '%' {
		p.m.Locals = append(p.m.Locals, name)
	}
	if Suffixed(s) {
		p.m.Reserved = append(p.m.Reserved, string(s))
	}
}

func (p *parser) hideRange(base diag.Span, count int64) {
	s := p.text[base.Off:base.End()]
	if s[0] != '%' || p.pct {
		p.ranges = append(p.ranges, nameRange{base, count})
	}
	if s[0] != '%' {
		p.m.LocalRanges = append(p.m.LocalRanges, LocalRange{base, count})
	}
	if Suffixed(append(s[:len(s):len(s)], '0')) {
		p.m.ReservedRanges = append(p.m.ReservedRanges, Range{string(s), count})
	}
}

// Suffixed says whether a name has the shape that the linker gives to a name
// it must change: something, a dollar sign, digits.
func Suffixed(name []byte) bool {
	i := len(name)
	for i > 0 && class[name[i-1]] == cDigit {
		i--
	}
	return i < len(name) && i > 1 && name[i-1] == '$'
}

// loc reads `.loc 1 20 3` with its optional `, function_name L, inlined_at
// 1 4 2`. It ends where the next statement starts: there is no semicolon.
func (p *parser) loc() {
	from := p.tok.Off
	var l Loc
	p.next()
	l.File, l.FileSpan = p.lineNumbers()
	if p.is(',') {
		tail := p.last.End
		p.next()
		if p.tok.Kind != Ident || p.spelling() != "function_name" {
			p.expected("function_name")
			return
		}
		if p.next(); p.tok.Kind != Ident && p.tok.Kind != Word {
			p.expected("a label")
			return
		}
		if p.next(); p.is('+') {
			p.next()
			p.next()
		}
		if p.need(','); p.tok.Kind != Ident || p.spelling() != "inlined_at" {
			p.expected("inlined_at")
			return
		}
		p.next()
		l.InlinedAt, l.Inlined = p.lineNumbers()
		l.Tail = p.from(tail)
	}
	l.Span = p.from(from)
	if p.Err == nil {
		p.m.Locs = append(p.m.Locs, l)
	}
}

func (p *parser) lineNumbers() (file int64, span diag.Span) {
	ok := false
	if p.tok.Kind == Number {
		file, ok = ParseInt(p.spelling())
	}
	if !ok {
		p.expected("a file index")
		return 0, span
	}
	span = p.tok.Span()
	for n := 0; n < 3 && p.tok.Kind == Number; n++ {
		p.next()
	}
	return file, span
}
