package ptx

import (
	"slices"
	"strconv"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// use records a use of the name that was passed last. It returns true for module-scope names.
func (p *parser) use(span diag.Span) bool {
	if p.code != nil {
		p.code.use(span)
		return false
	}
	name := p.bytes(span)
	if len(name) == 0 || name[0] == '%' && !p.pct {
		return false // a register
	}
	return p.useName(span, name)
}

func (p *parser) useName(at diag.Span, name []byte) bool {
	hash := sets.HashBytes(name)
	id, ok := p.m.moduleName(hash, name)
	if p.find(hash, name) >= 0 {
		return false
	}
	if !ok {
		p.undeclared(at, hash, name)
		return false
	}
	p.m.Padded = p.m.Padded || len(name) != len(p.m.Names[id])
	p.m.Uses = append(p.m.Uses, Use{at.Off, id})
	return true
}

// useList records uses of the names in a list of targets. token is the index of the token of its
// base.
func (p *parser) useList(token int32, base diag.Span, count int64) {
	list := TargetRange{Span: p.from(base.Off), Base: base}
	if p.code == nil {
		p.m.TargetRanges = append(p.m.TargetRanges, list.Span)
	}
	for k := range count {
		name := strconv.AppendInt(slices.Clip(p.bytes(base)), k, 10)
		if p.code == nil {
			p.useName(base, name)
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

// suffixedRange reports whether a name followed by digits has the form of Suffixed.
func suffixedRange(base []byte) bool {
	base, _ = splitNumber(base)
	return len(base) > 1 && base[len(base)-1] == '$'
}

// call reads the operands of a call. An unknown form is left alone.
func (p *parser) call(op int32) {
	uses := len(p.m.Uses)
	p.keep, p.tokens = true, p.callTokens[:0]
	for p.operandToken() {
	}
	p.keep, p.callTokens = false, p.tokens
	p.operandList = operands(p.operandList[:0], p.tokens, 0, int32(len(p.tokens)))
	parts, ok := callParts(p.operandList)
	if !ok || p.Err != nil {
		return
	}
	c := Call{Use: -1, Proto: -1, In: p.in, Target: p.tokens[parts.target.First].Span(), Span: p.from(op)}
	for i := uses; i < len(p.m.Uses); i++ {
		if p.m.Uses[i].Off == c.Target.Off {
			c.Use = int32(i)
		}
	}
	if parts.proto.End > 0 {
		name := p.bytes(p.tokens[parts.proto.First].Span())
		if i := p.find(sets.HashBytes(name), name); i >= 0 && p.locals[i].Kind == ProtoLabel {
			c.Proto = p.locals[i].Proto
		}
	}
	p.types = p.operandTypes(p.types[:0], parts.results)
	results := len(p.types)
	p.types = p.operandTypes(p.types, parts.arguments)
	c.Signature = p.intern(p.types, results)
	p.m.Calls = append(p.m.Calls, c)
}

func (p *parser) operandTypes(types []Type, o Operand) []Type {
	p.operandList = operands(p.operandList[:0], p.tokens, o.First+1, o.End-1)
	for _, e := range p.operandList {
		if e.First == e.End {
			continue
		}
		var t Type
		if e.Shape == NameOperand {
			t = p.operandType(p.bytes(p.tokens[e.First].Span()))
		}
		types = append(types, t)
	}
	return types
}

// operandType returns the type of a call's operand if it is an object in .param, otherwise the zero
// Type.
func (s *scopes) operandType(name []byte) Type {
	if i := s.find(sets.HashBytes(name), name); i >= 0 && s.locals[i].Type.Space == ".param" {
		return s.locals[i].Type.Type
	}
	return Type{}
}
