package optimize

import (
	"fmt"
	"slices"

	"ptxlink/object/ptx"
)

// bind finds the replacement for each parameter of a call. If the call cannot be inlined, it
// returns the reason.
func (s *state) bind(c *ptx.Code, used []usage, at *site) string {
	at.code = at.callee.code()
	at.usages, _ = at.callee.usages()
	st := c.Statements[at.statement]
	operands := c.Operands(st)
	var results, arguments []ptx.Operand
	if operands[0].Shape == ptx.List {
		results, operands = c.Elements(operands[0]), operands[1:]
	}
	switch {
	case len(operands) == 1:
	case operands[1].Shape == ptx.List:
		arguments = c.Elements(operands[1])
	default:
		return "a call of a form that is not understood"
	}
	signature := at.callee.decl.Signature
	if len(results) != len(signature.Results) || len(arguments) != len(signature.Params) {
		return "the arguments do not match the parameters"
	}
	at.names = map[int32]string{}
	for i := range signature.Len() { // parameters are the first locals
		if signature.At(i).Space == ".reg" {
			at.names[int32(i)] = s.register(at.caller)
		}
	}
	for i, o := range slices.Concat(results, arguments) {
		if reason := s.bindOne(c, used, at, i, i < len(results), o); reason != "" {
			return reason
		}
	}
	return ""
}

// argument is the operand that a call passes for a parameter, or in which it leaves a result: an
// object in .param of the caller, or another operand.
type argument struct {
	what   string // for messages
	object int32  // the local of the caller, or -1
	outer  *usage // of the object
	passed *access
	size   int64
	align  int64 // of the object
}

// accesses returns the callee's accesses of the parameter, and the caller's accesses of the
// argument.
func (a *argument) accesses(inner *usage) []access {
	list := slices.Clone(inner.accesses)
	if a.outer != nil {
		return append(list, a.outer.accesses...)
	}
	return append(list, *a.passed)
}

// bindOne finds the replacement for parameter i, which is a result or an argument.
func (s *state) bindOne(c *ptx.Code, used []usage, at *site, i int, result bool, o ptx.Operand) string {
	t := at.callee.decl.Signature.At(i)
	if t.Space == ".reg" {
		p, ok := place{name: at.names[int32(i)], word: t.Word, size: t.Size()}, false
		if p.passes, ok = p.passRegister(asWritten(c), o, result); !ok {
			return nameOf(c, o) + " has another type than the parameter"
		}
		at.places, at.objects = append(at.places, p), append(at.objects, -1)
		return ""
	}
	inner := &at.usages[i]
	if inner.other || len(inner.calls) > 0 {
		return "its code uses a parameter in a way that is not understood"
	}
	a, reason := argumentOf(c, used, t, result, o)
	if reason != "" {
		return reason
	}
	accesses := a.accesses(inner)
	if slices.ContainsFunc(accesses, func(x access) bool { return x.offset < 0 || x.offset > a.size-x.width()*int64(len(x.elements)) }) {
		return a.what + " is accessed outside its bytes"
	}
	at.objects = append(at.objects, a.object)
	p := place{size: a.size, align: max(t.Alignment(), a.align)}
	if list, ok := cells(accesses); ok && len(inner.taken) == 0 { // registers, if they fit
		for k := range list {
			list[k].name = s.register(at.caller)
		}
		p.cells = list
		if s.fit(c, at, inner, a.outer, a.passed, &p) {
			at.places = append(at.places, p)
			return ""
		}
		p.cells = nil
	}
	switch {
	case a.outer == nil:
		return a.what + " is passed without an object, and the parameter needs one"
	case p.size > maxObject:
		return fmt.Sprintf("%s has %d bytes", a.what, p.size)
	case !result && len(inner.taken) > 0 && !straight(c, a.outer, at.statement):
		// The callee may change its copy, so each call needs a new one.
		return a.what + " is not stored right before the call"
	}
	p.memory = s.register(at.caller)
	p.alignFor(accesses, len(inner.taken) > 0)
	s.fit(c, at, inner, a.outer, nil, &p) // memory serves all accesses
	at.places = append(at.places, p)
	return ""
}

func nameOf(c *ptx.Code, o ptx.Operand) string {
	return "argument " + asWritten(c).spell(o.First, o.End)
}

// argumentOf reads an operand of a call, for a parameter of type t. If the call cannot be inlined,
// it returns the reason.
func argumentOf(c *ptx.Code, used []usage, t *ptx.Type, result bool, o ptx.Operand) (a argument, reason string) {
	a = argument{what: nameOf(c, o), object: -1, size: t.Size()}
	local, ok := c.Reference(int(o.First)).Local()
	if !ok || o.Shape != ptx.NameOperand || c.Locals[local].Type.Space != ".param" {
		x := access{store: !result, word: t.Word, elements: []ptx.Operand{o}}
		a.passed = &x
		if _, bits, class, ok := asWritten(c).register(o); ok && class != 'p' && bits == 8*a.size && !t.Array {
			x.word = fmt.Sprintf(".b%d", bits)
		} else if t.Array || o.Shape != ptx.Immediate || result {
			return a, a.what + " is not understood"
		} else if _, ok := literal(t.Word, asWritten(c).spell(o.First, o.End)); !ok {
			return a, a.what + " has another type than the parameter"
		}
		return a, ""
	}
	l := &c.Locals[local]
	a.object, a.outer, a.align = local, &used[local], l.Type.Alignment()
	switch {
	case l.Kind != ptx.Object || l.Count >= 0 || l.Type.Vector != 0 || l.Type.Unsized:
		return a, a.what + " is not an object of the caller"
	case l.Type.Size() != a.size:
		return a, a.what + " has another size than the parameter"
	case a.outer.other || len(a.outer.taken) > 0 || len(a.outer.calls) != 1:
		return a, a.what + " is used by other statements"
	}
	if slices.ContainsFunc(a.outer.accesses, func(x access) bool { return x.store == result }) {
		return a, a.what + " is loaded before or stored after the call"
	}
	return a, ""
}

// alignFor aligns an object in memory for its accesses. The declared alignment may be too small,
// because ptxas aligns objects that it places by the ABI better than declared.
func (p *place) alignFor(accesses []access, taken bool) {
	for k := range accesses {
		if n := accesses[k].width() * int64(len(accesses[k].elements)); n <= 16 && n&(n-1) == 0 {
			p.align = max(p.align, n)
		}
	}
	if taken {
		p.align = max(p.align, 8)
	}
}

// fit adds the edits of the accesses of one parameter on both sides. It reports false if there are
// no instructions for them. An operand is either an object of the caller (outer), or passed.
func (s *state) fit(c *ptx.Code, at *site, inner, outer *usage, passed *access, p *place) bool {
	edits, ok := p.rewrite(view{at.code, at.names}, inner)
	if !ok {
		return false
	}
	if passed != nil {
		if p.passes, ok = p.moves(asWritten(c), passed, ""); !ok {
			return false
		}
	}
	if outer != nil {
		outside, ok := p.rewrite(asWritten(c), outer)
		if !ok {
			return false
		}
		at.edits = append(at.edits, outside...)
	}
	at.inner = append(at.inner, edits...)
	return true
}

// straight reports whether all stores of an object come right before a call, so that no other code
// can branch in between.
func straight(c *ptx.Code, u *usage, call int32) bool {
	for i := range u.accesses {
		from := u.accesses[i].statement
		if from > call || slices.ContainsFunc(c.Statements[from:call], func(st ptx.Statement) bool { return st.Kind == ptx.LabelStatement }) {
			return false
		}
	}
	return true
}
