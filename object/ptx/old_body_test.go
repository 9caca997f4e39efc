package ptx

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ptxlink/link/diag"
)

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
