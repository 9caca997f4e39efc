package ptx

import (
	"strconv"

	"ptxlink/link/diag"
)

// body reads one function body and records what the linker needs: uses of
// module-scope names, calls, lines, and the names declared inside. Module-scope
// names must be declared before they are used, so the body can refer only to the
// names known when it starts.
func (p *parser) body(d *Decl, params []Param) diag.Span {
	from := p.tok.Off
	r := &p.code
	r.cursor = p.cursor
	r.keep, r.tokens = true, p.buffer
	r.pct, r.lean = p.pct, true
	r.begin(p.m, d, params, false)
	for i := range params {
		p.local(&LocalDecl{Kind: Parameter, Name: params[i].NameSpan, Count: -1})
	}
	for {
		r.tokens = r.tokens[:0]
		if p.skim(); !r.statement() {
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
	p.cursor = r.cursor
	p.keep, p.tokens = false, nil
	return p.from(from)
}

// statementUses records the module-scope names in a statement.
func (p *parser) statementUses() {
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
}

// use records a name if it refers to a module-scope declaration.
func (p *parser) use(off int32, name []byte) bool {
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
func (p *parser) local(l *LocalDecl) {
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

// Suffixed reports whether a name has the form of the linker's new names:
// something, a dollar sign, digits.
func Suffixed(name []byte) bool {
	i := len(name)
	for i > 0 && class[name[i-1]] == cDigit {
		i--
	}
	return i < len(name) && i > 1 && name[i-1] == '$'
}

func (p *parser) bodyDirective() {
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
func (p *parser) call() {
	r := &p.code
	list := operands(r.tokens, r.st.Operands, r.st.End-1)
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
func (p *parser) operandTypes(types []Type, o Operand) []Type {
	r := &p.code
	for _, e := range operands(r.tokens, o.First+1, o.End-1) {
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

// operandType returns the type of a call's operand: that of an object in .param, or
// else none.
func (s *scopes) operandType(name []byte) Type {
	if i := s.find(name); i >= 0 && s.locals[i].Type.Space == ".param" {
		return s.locals[i].Type.Type
	}
	return Type{}
}
