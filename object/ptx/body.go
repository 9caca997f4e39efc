package ptx

import (
	"slices"
	"strconv"

	"ptxlink/link/diag"
)

// use records that a name, which was passed, refers to what it names. It returns true for
// module-scope names.
func (p *parser) use(span diag.Span) bool {
	if p.code != nil {
		p.code.use(span)
		return false
	}
	name := p.bytes(span)
	if len(name) == 0 || name[0] == '%' && !p.pct {
		return false // a register
	}
	return p.useName(span.Off, name)
}

func (p *parser) useName(off int32, name []byte) bool {
	id, ok := p.m.moduleName(name)
	if !ok || p.find(name) >= 0 {
		return false
	}
	p.m.Padded = p.m.Padded || len(name) != len(p.m.Names[id])
	p.m.Uses = append(p.m.Uses, Use{off, id})
	return true
}

// useList records that the names of a list of targets refer to what they name. Its base
// is a token.
func (p *parser) useList(token int32, base diag.Span, count int64) {
	list := TargetRange{Span: p.from(base.Off), Base: base}
	if p.code == nil {
		p.m.TargetRanges = append(p.m.TargetRanges, list.Span)
	}
	for k := range count {
		name := strconv.AppendInt(slices.Clip(p.bytes(base)), k, 10)
		if p.code == nil {
			p.useName(base.Off, name)
			continue
		}
		at := forward{token, int32(len(p.code.TargetRanges)), int32(k)}
		list.Targets = append(list.Targets, p.code.resolve(name, at))
	}
	if p.code != nil {
		p.code.TargetRanges = append(p.code.TargetRanges, list)
	}
}

// local records a name that the function declares, if it may conflict with a
// module-scope name of another module.
func (p *parser) local(l *LocalDecl) {
	name := p.text[l.Name.Off:l.Name.End()]
	m := p.m
	if l.Count >= 0 {
		if name[0] != '%' {
			m.LocalRanges = append(m.LocalRanges, LocalRange{l.Name, l.Count})
		}
		if suffixedRange(name) {
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

// Suffixed reports whether a name has the form of the linker's new names:
// something, a dollar sign, digits.
func Suffixed(name []byte) bool {
	return len(name) > 0 && class[name[len(name)-1]] == cDigit && suffixedRange(name)
}

// suffixedRange reports whether digits behind a name give it that form.
func suffixedRange(base []byte) bool {
	i := len(base)
	for i > 0 && class[base[i-1]] == cDigit {
		i--
	}
	return i > 1 && base[i-1] == '$'
}

// call reads the operands of a call: (results), target, (arguments), prototype. All
// but the target are optional. An unknown form is left alone.
func (p *parser) call(op int32) {
	p.types = p.types[:0]
	results := 0
	shape, name := p.callOperand()
	if shape == List {
		results = len(p.types)
		shape, name = p.nextOperand()
	}
	if shape != NameOperand {
		return
	}
	c := Call{Use: -1, Proto: -1, In: p.in, Target: name}
	if n := len(p.m.Uses) - 1; n >= 0 && p.m.Uses[n].Off == name.Off {
		c.Use = int32(n)
	}
	if shape, name = p.nextOperand(); shape == List {
		shape, name = p.nextOperand()
	}
	if shape == NameOperand {
		if i := p.find(p.bytes(name)); i >= 0 && p.locals[i].Kind == ProtoLabel {
			c.Proto = p.locals[i].Proto
		}
	}
	for p.operandToken() {
	}
	if p.Err == nil {
		c.Span = p.from(op)
		c.Signature = p.intern(p.types, results)
		p.m.Calls = append(p.m.Calls, c)
	}
}

// nextOperand reads a comma and the operand behind it, if one comes next.
func (p *parser) nextOperand() (shape Shape, name diag.Span) {
	if !p.accept(',') {
		return OtherOperand, name
	}
	return p.callOperand()
}

// callOperand reads one operand of a call, and appends the types of those in a list.
func (p *parser) callOperand() (shape Shape, name diag.Span) {
	shape = OtherOperand
	types := len(p.types)
	switch {
	case p.atName():
		shape, name = NameOperand, p.operandName()
	case p.accept('('):
		for !p.is(')') {
			from := p.at
			var t Type
			if p.atName() {
				if name := p.operandName(); p.is(',') || p.is(')') {
					t = p.operandType(p.bytes(name))
				}
			}
			if p.skipOperand(true); p.at > from {
				p.types = append(p.types, t)
			}
			if !p.accept(',') {
				break
			}
		}
		if p.accept(')') {
			shape = List
		}
	}
	if !p.is(',') && !p.is(';') {
		p.skipOperand(false)
		shape = OtherOperand
	}
	if shape != List {
		p.types = p.types[:types]
	}
	return shape, name
}

// skipOperand passes the rest of an operand: up to a comma or semicolon and, in a list,
// up to its end.
func (p *parser) skipOperand(inList bool) {
	for depth := 0; ; {
		switch p.peek() {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 && inList {
				return
			}
			depth--
		case ',':
			if depth <= 0 {
				return
			}
		}
		if !p.operandToken() {
			return
		}
	}
}

// operandType returns the type of a call's operand: that of an object in .param, or
// else none.
func (s *scopes) operandType(name []byte) Type {
	if i := s.find(name); i >= 0 && s.locals[i].Type.Space == ".param" {
		return s.locals[i].Type.Type
	}
	return Type{}
}
