package ptxsim

import (
	"strconv"
	"strings"

	"ptxlink/object/ptx"
)

// operand is a source operand.
type operand struct {
	kind opKind
	reg  int32
	val  uint64 // of a register to which ld writes: the mask of its width
}

type opKind uint8

const (
	opConst   opKind = iota
	opReg            // the value of a register
	opNot            // a negated predicate
	opFrame          // val bytes behind the start of the frame
	opSpecial        // a special register
)

// get returns the value of an operand.
func (t *thread) get(o *operand) uint64 {
	switch o.kind {
	case opConst:
		return o.val
	case opReg:
		return t.regs[o.reg]
	case opNot:
		return t.regs[o.reg] ^ 1
	case opFrame:
		return t.frame.base + o.val
	}
	return specials[o.reg].get(t)
}

// set writes a register.
func (t *thread) set(reg int32, v uint64) {
	if reg >= 0 {
		t.regs[reg] = v
	}
}

// source translates a source operand of a type. Its width must be that of the type;
// wide accepts wider registers too (PTX ISA, Operand Size Exceeding
// Instruction-Type Size).
func (r *reader) source(o ptx.Operand, t typ, wide bool) operand {
	first := o.First
	not := o.End-first == 2 && r.isPunct(first, '!')
	if not {
		first++
	}
	if n, bits, ok := r.anyRegister(first); ok {
		switch {
		case bits != t.bits && !(wide && bits > t.bits && t.bits > 1 && bits > 1):
			r.fail("register %s has %d bits, not %d", r.text(first), bits, t.bits)
		case not && bits == 1:
			return operand{kind: opNot, reg: n}
		case not:
			r.fail("! before %s, which is not a predicate", r.text(first))
		case o.End-first > 1 && r.locals[r.mustLocal(first)].lanes == 0:
			r.fail("operand %s is not supported", r.operandText(o))
		}
		return operand{kind: opReg, reg: n}
	}
	if code, bits, ok := r.specialRegister(o); ok {
		if bits != t.bits && !(bits == 32 && t.bits == 64) && !(bits == 32 && t.bits == 16) {
			r.fail("%s has %d bits, not %d", r.operandText(o), bits, t.bits)
		}
		return operand{kind: opSpecial, reg: code}
	}
	return operand{kind: opConst, val: r.constant(o, t)}
}

func (r *reader) mustLocal(token int32) int32 {
	li, _ := r.c.Reference(int(token)).Local()
	return li
}

func (r *reader) operandText(o ptx.Operand) string {
	from := r.c.Tokens[o.First].Off
	return string(r.c.Module.Src.Text[from:r.c.Tokens[o.End-1].End])
}

// constant evaluates an immediate operand.
func (r *reader) constant(o ptx.Operand, t typ) uint64 {
	e := r.expr("operand", o, o.First, o.End)
	word := t.word
	if t.pair {
		word = ".b32"
	}
	// A .b32 operand may be an 0f literal, and a .b64 operand a decimal or 0d literal.
	last := r.text(o.End - 1)
	literal := r.c.Tokens[o.End-1].Kind == ptx.Number && isFloat(last)
	switch {
	case t.float() && !t.pair && t.bits >= 32 && !literal:
		r.fail("integer %s as %s", r.operandText(o), t.word)
	case !literal || t.float() && t.bits >= 32 && !t.pair:
	case t.class == 'b' && t.bits == 32 && isSingle(last):
		word = ".f32"
	case t.class == 'b' && t.bits == 64 && !isSingle(last):
		word = ".f64"
	default:
		r.fail("literal %s as %s", r.operandText(o), t.word)
	}
	v := e.scalar(word)
	e.done()
	return v & mask(t.bits)
}

// expr returns an expression in the tokens of an operand. Messages call the operand what.
func (r *reader) expr(what string, o ptx.Operand, at, end int32) *expr {
	fail := func(why string) { r.fail("%s %s: %s", what, r.operandText(o), why) }
	return &expr{mod: r.f.mod, c: r.c, at: at, end: end, fail: fail}
}

// dest translates a destination of exactly this width; any width for 0.
func (r *reader) dest(o ptx.Operand, bits int) (reg int32, width int) {
	if o.End-o.First == 1 && r.isPunct(o.First, '_') {
		return -1, bits
	}
	return r.registerAt(o.First, bits)
}

// pair translates a destination p|q, or p alone, to where p has some bits and q is a predicate.
func (r *reader) pair(o ptx.Operand, bits int) (p, q int32) {
	for i := o.First; i < o.End; i++ {
		if r.isPunct(i, '|') {
			p, _ = r.dest(ptx.Operand{First: o.First, End: i}, bits)
			q, _ = r.dest(ptx.Operand{First: i + 1, End: o.End}, 1)
			return p, q
		}
	}
	p, _ = r.dest(o, bits)
	return p, -1
}

// integerLiteral reads a literal of up to 64 bits (PTX ISA, Integer Constants).
func integerLiteral(s string) (uint64, bool) {
	if isFloat(s) {
		return 0, false
	}
	s = strings.TrimSuffix(s, "U")
	v, err := strconv.ParseUint(s, 0, 64)
	return v, err == nil
}

// isFloat reports whether a literal is 0f3F800000, 0d3FF0000000000000, 1.5 or 1e3.
func isFloat(s string) bool {
	if len(s) > 1 && s[0] == '0' && strings.IndexByte("xXbB", s[1]) >= 0 {
		return false
	}
	return len(s) > 2 && s[0] == '0' && strings.IndexByte("fFdD", s[1]) >= 0 || strings.ContainsAny(s, ".eE")
}

// isSingle reports whether a literal is 0f3F800000.
func isSingle(s string) bool { return len(s) > 2 && s[0] == '0' && (s[1] == 'f' || s[1] == 'F') }

// floatLiteral reads 0f3F800000, 0d3FF0000000000000 or 1.5 (PTX ISA,
// Floating-Point Constants).
func floatLiteral(s string, f format) (uint64, bool) {
	if !isFloat(s) {
		return 0, false
	}
	if s[0] == '0' && strings.IndexByte("fFdD", s[1]) >= 0 {
		v, err := strconv.ParseUint(s[2:], 16, 64)
		from := f64
		if isSingle(s) {
			from = f32
		}
		if f != from {
			v = f.round(from.value(v), toNearest)
		}
		return v, err == nil
	}
	v, err := strconv.ParseFloat(s, 64)
	return f.round(v, toNearest), err == nil
}

// address is the place that a memory operand names.
type address struct {
	slot  *slot // in the frame
	base  operand
	off   uint64
	index index // of a register
	fixed space // the space of the name; generic if the base is a register
	size  int64 // of the named object, -1 if the base is a register
}

// address translates [x+4], [%rd1+-8], [16] or x[1].
func (r *reader) address(o ptx.Operand) address {
	if o.Shape == ptx.Address {
		parts := r.c.Elements(o)
		r.failIf(len(parts) != 1, "address %s is not supported", r.operandText(o))
		o = parts[0]
	} else {
		r.failIf(!r.indexed(o), "%s is not an address", r.operandText(o))
	}
	return r.location(o)
}

// location translates x, x+4, x[1], %rd1+-8 or 16.
func (r *reader) location(o ptx.Operand) (a address) {
	if r.indexed(o) {
		a, ok := r.named(o.First)
		r.failIf(!ok, "index on %s, which is not an array", r.text(o.First))
		if a.index = r.index(o); a.index.reg.kind == opConst {
			a.off = a.index.bytes(nil)
		}
		return a
	}
	rest := o.First + 1
	if n, bits, ok := r.anyRegister(o.First); ok {
		r.failIf(bits != 64 && bits != 32, "register %s has %d bits and cannot be an address", r.text(o.First), bits)
		a = address{base: operand{kind: opReg, reg: n}, size: -1}
	} else if a, ok = r.named(o.First); !ok {
		rest, a.size = o.First, -1
	}
	if rest < o.End {
		e := r.expr("address", o, rest, o.End)
		if rest > o.First && !e.is('+') && !e.is('-') {
			e.fail("'+' expected")
		}
		a.off = e.sum()
		e.done()
	}
	return a
}

// named returns the place of an object: its address is the base.
func (r *reader) named(token int32) (a address, ok bool) {
	ref := r.c.Reference(int(token))
	var sym *symbol
	if li, isLocal := ref.Local(); isLocal {
		p := r.locals[li]
		switch {
		case p.slot != nil:
			s := r.slotAt(token)
			a = address{base: operand{kind: opFrame, val: uint64(s.off)}, fixed: param, slot: s, size: s.size}
			if r.c.Locals[li].Type.Space == ".local" {
				a.fixed = local
			}
			return a, true
		case p.param != nil:
			return address{base: operand{val: p.param.addr}, fixed: param, size: p.param.size}, true
		}
		sym = p.sym
	} else if id, isName := ref.Name(); isName {
		sym = r.f.mod.symbols[id]
	}
	if sym == nil || sym.fn != nil {
		return a, false // a function is a constant
	}
	r.failIf(sym.obj == nil, "%s is not defined as a variable", sym.name)
	a = address{base: operand{val: sym.obj.addr}, fixed: sym.space, size: sym.obj.size}
	if sym.obj == r.m.dynamic {
		a.size = -1
	}
	return a, true
}
