package ptxsim

import (
	"math"
	"math/bits"
)

// opcodes translates instructions by opcode.
var opcodes = map[string]func(r *reader){}

type aluFunc = func(a, b, c uint64) uint64

var (
	u32  = typ{".u32", 'u', 32, false}
	pred = typ{".pred", 'p', 1, false}
)

// alu makes the instruction dst = fn(sources) with sources of these types.
func (r *reader) alu(dst int, fn aluFunc, sources ...typ) {
	if !r.operands(1 + len(sources)) {
		return
	}
	r.in.dst, _ = r.dest(r.ops[0], dst)
	r.in.mask = mask(dst)
	for i, t := range sources {
		r.in.src[i] = r.source(r.ops[1+i], t, false)
	}
	r.in.alu = fn
}

// integer registers an instruction on one integer type, with n sources of it.
func integer(op string, n int, make func(t typ) aluFunc) {
	opcodes[op] = func(r *reader) {
		t := r.typ()
		if t.float() {
			r.fail("%s%s is not supported", op, t.word)
			return
		}
		fn := make(t)
		if n == 1 {
			r.alu(t.bits, fn, t)
		} else {
			r.alu(t.bits, fn, t, t)
		}
	}
}

func init() {
	integer("not", 1, func(typ) aluFunc { return func(a, _, _ uint64) uint64 { return ^a } })
	integer("cnot", 1, func(typ) aluFunc { return func(a, _, _ uint64) uint64 { return truth(a == 0) } })
	integer("and", 2, func(typ) aluFunc { return func(a, b, _ uint64) uint64 { return a & b } })
	integer("or", 2, func(typ) aluFunc { return func(a, b, _ uint64) uint64 { return a | b } })
	integer("xor", 2, func(typ) aluFunc { return func(a, b, _ uint64) uint64 { return a ^ b } })
	integer("rem", 2, func(t typ) aluFunc {
		return func(a, b, _ uint64) uint64 {
			switch {
			case b == 0:
				return a
			case !t.signed():
				return a % b
			case extend(b, t.bits) == math.MaxUint64:
				return 0
			}
			return uint64(int64(extend(a, t.bits)) % int64(extend(b, t.bits)))
		}
	})
	opcodes["popc"] = func(r *reader) {
		r.alu(32, func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }, r.typ())
	}
	opcodes["clz"] = func(r *reader) {
		t := r.typ()
		r.alu(32, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a) - (64 - t.bits)) }, t)
	}
	integer("brev", 1, func(t typ) aluFunc {
		return func(a, _, _ uint64) uint64 { return bits.Reverse64(a) >> (64 - t.bits) }
	})
	opcodes["shl"] = (*reader).shift
	opcodes["shr"] = (*reader).shift
	opcodes["selp"] = func(r *reader) {
		t := r.typ()
		r.alu(t.bits, func(a, b, c uint64) uint64 {
			if c != 0 {
				return a
			}
			return b
		}, t, t, pred)
	}
	opcodes["slct"] = (*reader).slct
	opcodes["mov"] = (*reader).mov
	opcodes["lop3"] = func(r *reader) {
		t := r.typ()
		if !r.operands(5) {
			return
		}
		table := r.source(r.ops[4], u32, false).val
		r.ops = r.ops[:4]
		r.alu(32, func(a, b, c uint64) uint64 {
			v := uint64(0)
			for i := range uint64(8) {
				if table>>i&1 == 0 {
					continue
				}
				x, y, z := a, b, c
				if i&4 == 0 {
					x = ^x
				}
				if i&2 == 0 {
					y = ^y
				}
				if i&1 == 0 {
					z = ^z
				}
				v |= x & y & z
			}
			return v
		}, t, t, t)
	}
}

// shift is PTX ISA, shl and shr: shifts by the width or more give 0, or the sign.
func (r *reader) shift() {
	t := r.typ()
	n := uint64(t.bits)
	switch {
	case t.float():
		r.fail("%s%s is not supported", r.op, t.word)
	case r.op == "shl":
		r.alu(t.bits, func(a, b, _ uint64) uint64 {
			if b >= n {
				return 0
			}
			return a << b
		}, t, u32)
	case t.signed():
		r.alu(t.bits, func(a, b, _ uint64) uint64 { return uint64(int64(extend(a, t.bits)) >> min(b, n-1)) }, t, u32)
	default:
		r.alu(t.bits, func(a, b, _ uint64) uint64 {
			if b >= n {
				return 0
			}
			return a >> b
		}, t, u32)
	}
}

// slct is PTX ISA, slct: a if c >= 0, else b.
func (r *reader) slct() {
	ftz := r.take(".ftz")
	t, by := r.typ(), r.typ()
	choose := func(a, b uint64, first bool) uint64 {
		if first {
			return a
		}
		return b
	}
	if by.float() {
		r.alu(t.bits, func(a, b, c uint64) uint64 {
			if ftz {
				c = f32.flush(c)
			}
			return choose(a, b, f32.value(c) >= 0)
		}, t, t, by)
		return
	}
	r.alu(t.bits, func(a, b, c uint64) uint64 { return choose(a, b, c>>31 == 0) }, t, t, by)
}
