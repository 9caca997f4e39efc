package ptxsim

import (
	"math"
	"math/bits"
	"strings"
)

// addOrSub is add, sub, addc and subc (PTX ISA, Integer Arithmetic Instructions and
// Extended-Precision Integer Arithmetic Instructions).
func (r *reader) addOrSub() {
	sub := strings.HasPrefix(r.op, "sub")
	set, use := r.take(".cc"), r.op == "addc" || r.op == "subc"
	if set || use {
		t := r.typ()
		r.operandsOf(t, t)
		r.carrying(set, use, sub, t.bits, nil)
		return
	}
	if r.binary() {
		return
	}
	sat := r.take(".sat")
	t := r.typ()
	r.failIf(sat && t.word != ".s32", "%s.sat%s is not supported", r.op, t.word)
	sign := int64(1)
	if sub {
		sign = -1
	}
	r.alu(t.bits, func(a, b, _ uint64) uint64 {
		if sat {
			return clampTo(int64(extend(a, 32))+sign*int64(extend(b, 32)), 32)
		}
		return a + uint64(sign)*b
	}, t, t)
}

// clampTo saturates to a signed integer of n bits.
func clampTo(v int64, n int) uint64 {
	return uint64(min(max(v, math.MinInt64>>(64-n)), math.MaxInt64>>(64-n)))
}

// carrying is add.cc, addc, sub.cc, subc, mad.cc and madc, of n bits, whose sources are
// translated: it sets or uses CC.CF, the carry, or for subtractions the borrow. product is
// that of mad.
func (r *reader) carrying(set, use, sub bool, n int, product aluFunc) {
	r.result(n)
	r.in.kind = kRun
	r.in.run = func(t *thread, in *instr) {
		a, b := t.get(&in.src[0]), t.get(&in.src[1])
		if product != nil {
			a, b = product(a, b, 0)&mask(n), t.get(&in.src[2])
		}
		carry := uint64(0)
		if use {
			carry = t.carry
		}
		v, out := addCarry(a, b, carry, n, sub)
		t.set(in.dst, v)
		if set {
			t.carry = out
		}
	}
}

// addCarry returns a+b+carry or a-b-carry of n bits, and the carry out.
func addCarry(a, b, carry uint64, n int, sub bool) (v, out uint64) {
	if sub {
		v, out = bits.Sub64(a, b, carry)
		return v & mask(n), out
	}
	v, out = bits.Add64(a, b, carry)
	return v & mask(n), out | v>>n
}

// product returns the low and high halves of the product of integers of a type.
func product(a, b uint64, t typ) (low, high uint64) {
	if t.bits < 64 {
		if t.signed() {
			a, b = extend(a, t.bits), extend(b, t.bits)
		}
		p := a * b
		return p, p >> t.bits
	}
	high, low = bits.Mul64(a, b)
	if t.signed() {
		if int64(a) < 0 {
			high -= b
		}
		if int64(b) < 0 {
			high -= a
		}
	}
	return low, high
}

// part returns the part of a product that .lo, .hi or .wide asks for.
func part(which string, t typ) aluFunc {
	if which == ".hi" {
		return func(a, b, _ uint64) uint64 { _, h := product(a, b, t); return h & mask(t.bits) }
	}
	return func(a, b, _ uint64) uint64 { l, _ := product(a, b, t); return l }
}

func (r *reader) mul() {
	which := r.takeAny(".lo", ".hi", ".wide")
	if which == "" && r.binary() {
		return
	}
	t := r.typ()
	width := t.bits
	if which == ".wide" {
		width *= 2
	}
	r.failIf(width > 64 || t.float() || which == "", "mul%s%s is not supported", which, t.word)
	r.alu(width, part(which, t), t, t)
}

// mad is mad and madc of integers and mad of floats.
func (r *reader) mad() {
	which := r.takeAny(".lo", ".hi", ".wide")
	if which == "" {
		r.fma()
		return
	}
	set, use := r.take(".cc"), r.op == "madc"
	sat := r.take(".sat")
	t := r.typ()
	width := t
	if which == ".wide" {
		width = typ{t.word, t.class, 2 * t.bits, false}
	}
	r.failIf(width.bits > 64 || t.float(), "mad%s%s is not supported", which, t.word)
	fn := part(which, t)
	switch {
	case set || use:
		r.operandsOf(t, t, width)
		r.carrying(set, use, false, width.bits, fn)
	case sat && (t.word != ".s32" || which != ".hi"):
		r.fail("mad%s.sat%s is not supported", which, t.word)
	default:
		r.multiplyAdd(fn, sat, t, width)
	}
}

// multiplyAdd translates the sum of a product and operand c, of 32 bits if it is saturated.
func (r *reader) multiplyAdd(product aluFunc, sat bool, t, sum typ) {
	r.alu(sum.bits, func(a, b, c uint64) uint64 {
		p := product(a, b, 0)
		if sat {
			return clampTo(int64(extend(p, 32))+int64(extend(c, 32)), 32)
		}
		return p + c
	}, t, t, sum)
}

// mul24 is mul24 and mad24: .lo are bits 31..0 of the product of 48 bits, .hi bits
// 47..16.
func (r *reader) mul24() {
	which := r.takeAny(".lo", ".hi")
	sat := r.take(".sat")
	t := r.typ()
	fn := func(a, b, _ uint64) uint64 {
		if t.signed() {
			a, b = extend(a, 24), extend(b, 24)
		} else {
			a, b = a&mask(24), b&mask(24)
		}
		p := a * b
		if which == ".hi" {
			p >>= 16
		}
		return p & mask(32)
	}
	if r.op == "mul24" {
		r.alu(32, fn, t, t)
	} else {
		r.multiplyAdd(fn, sat, t, t)
	}
}

func (r *reader) div() {
	if r.binary() {
		return
	}
	t := r.typ()
	r.alu(t.bits, func(a, b, _ uint64) uint64 {
		switch {
		case b == 0:
			return math.MaxUint64
		case !t.signed():
			return a / b
		case extend(b, t.bits) == math.MaxUint64:
			return -a
		}
		return uint64(int64(extend(a, t.bits)) / int64(extend(b, t.bits)))
	}, t, t)
}

// minMax returns min or max of integers of a type.
func minMax(op string, t typ) aluFunc {
	less := compare(".lt", t)
	return func(a, b, _ uint64) uint64 {
		if less(a, b) == (op == "min") {
			return a
		}
		return b
	}
}

func (r *reader) minMax() {
	ftz, nan, xorsign := r.take(".ftz"), r.take(".NaN"), r.take(".xorsign")
	abs := r.take(".abs")
	t := r.typ()
	r.failIf(xorsign != abs, "%s with .xorsign or .abs alone", r.op)
	if t.float() {
		fn := t.format().flushing(ftz, floatMinMax(r.op, t.format(), nan, xorsign))
		if len(r.ops) == 4 {
			r.alu(t.bits, func(a, b, c uint64) uint64 { return fn(fn(a, b, 0), c, 0) }, t, t, t)
			return
		}
		r.alu(t.bits, fn, t, t)
		return
	}
	r.alu(t.bits, minMax(r.op, t), t, t)
}

func (r *reader) sad() {
	t := r.typ()
	less := compare(".lt", t)
	r.alu(t.bits, func(a, b, c uint64) uint64 {
		if less(a, b) {
			a, b = b, a
		}
		return c + a - b
	}, t, t, t)
}

func (r *reader) absOrNeg() {
	ftz := r.take(".ftz")
	t := r.typ()
	neg := r.op == "neg"
	if t.float() {
		f := t.format()
		r.alu(t.bits, f.flushing(ftz, func(a, _, _ uint64) uint64 {
			if neg {
				return a ^ f.sign()
			}
			return a &^ f.sign()
		}), t)
		return
	}
	r.failIf(!t.signed(), "%s%s is not supported", r.op, t.word)
	r.alu(t.bits, func(a, _, _ uint64) uint64 {
		if neg || int64(extend(a, t.bits)) < 0 {
			return -a
		}
		return a
	}, t)
}

// dotProduct is PTX ISA, dp4a and dp2a.
func (r *reader) dotProduct() {
	n, half := 8, 0
	if r.op == "dp2a" {
		n = 16
		if r.takeAny(".lo", ".hi") == ".hi" {
			half = 16
		}
	}
	at, bt := r.typ(), r.typ()
	element := func(v uint64, i, bits int, t typ) uint64 {
		v = v >> (i * bits) & mask(bits)
		if t.signed() {
			return extend(v, bits)
		}
		return v
	}
	r.alu(32, func(a, b, c uint64) uint64 {
		for i := range 32 / n {
			c += element(a, i, n, at) * element(b>>half, i, 8, bt)
		}
		return c
	}, at, bt, b32)
}

// video is a scalar video instruction on whole words: an operation of 33 bits or more,
// saturated on request, and a second operation with operand c.
func (r *reader) video() {
	sat := r.take(".sat")
	second := r.takeAny(".add", ".min", ".max")
	wraps := r.takeAny(".clamp", ".wrap") == ".wrap"
	d, at, bt := r.typ(), r.typ(), r.typ()
	value := func(v uint64, t typ) int64 {
		if t.signed() {
			return int64(extend(v, 32))
		}
		return int64(v)
	}
	op := r.op
	sources := []typ{at, bt}
	if second != "" {
		sources = append(sources, d)
	}
	r.alu(32, func(a, b, c uint64) uint64 {
		x, y := value(a, at), value(b, bt)
		switch op {
		case "vadd":
			x += y
		case "vsub":
			x -= y
		case "vabsdiff":
			x = max(x-y, y-x)
		case "vmin":
			x = min(x, y)
		case "vshl", "vshr":
			if y = min(int64(b), 32); wraps {
				y = int64(b & 31)
			}
			if op == "vshl" {
				x <<= y
			} else {
				x >>= y
			}
		default:
			x = max(x, y)
		}
		if sat && d.signed() {
			x = int64(extend(clampTo(x, 32), 32))
		} else if sat {
			x = min(max(x, 0), math.MaxUint32)
		}
		v := uint64(x) & mask(32)
		switch second {
		case ".add":
			return v + c
		case ".min", ".max":
			return minMax(second[1:], d)(v, c, 0)
		}
		return v
	}, sources...)
}
