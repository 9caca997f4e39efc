package ptxsim

import (
	"math"
	"math/bits"
	"slices"
)

// opcodes translates instructions by opcode.
var opcodes = map[string]func(r *reader){
	// Integers, floats, and both.
	"add": (*reader).addOrSub, "addc": (*reader).addOrSub, "sub": (*reader).addOrSub, "subc": (*reader).addOrSub,
	"mul": (*reader).mul, "mad": (*reader).mad, "madc": (*reader).mad, "mul24": (*reader).mul24, "mad24": (*reader).mul24,
	"div": (*reader).div, "rem": integer(remainder, 2), "sad": (*reader).sad,
	"min": (*reader).minMax, "max": (*reader).minMax, "abs": (*reader).absOrNeg, "neg": (*reader).absOrNeg,
	"dp4a": (*reader).dotProduct, "dp2a": (*reader).dotProduct,
	"vadd": (*reader).video, "vsub": (*reader).video, "vabsdiff": (*reader).video, "vmin": (*reader).video, "vmax": (*reader).video,
	"vshl": (*reader).video, "vshr": (*reader).video,
	"fma": (*reader).fma, "rcp": (*reader).rcp, "sqrt": (*reader).sqrt, "testp": (*reader).testp, "copysign": (*reader).copysign,
	"rsqrt": approximate(func(x float64) float64 { return 1 / math.Sqrt(x) }),
	"sin":   approximate(math.Sin), "cos": approximate(math.Cos), "lg2": approximate(math.Log2), "ex2": approximate(math.Exp2), "tanh": approximate(math.Tanh),
	"cvt": (*reader).cvt,

	// Bits.
	"not":  bitwise(func(a, _, _ uint64) uint64 { return ^a }, 1),
	"cnot": bitwise(func(a, _, _ uint64) uint64 { return truth(a == 0) }, 1),
	"and":  bitwise(func(a, b, _ uint64) uint64 { return a & b }, 2),
	"or":   bitwise(func(a, b, _ uint64) uint64 { return a | b }, 2),
	"xor":  bitwise(func(a, b, _ uint64) uint64 { return a ^ b }, 2),
	"shl":  (*reader).shift, "shr": (*reader).shift, "shf": (*reader).shf,
	"popc": func(r *reader) {
		r.alu(32, func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }, r.typ())
	},
	"clz": func(r *reader) {
		t := r.typ()
		r.alu(32, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a) - (64 - t.bits)) }, t)
	},
	"brev": integer(func(t typ) aluFunc {
		return func(a, _, _ uint64) uint64 { return bits.Reverse64(a) >> (64 - t.bits) }
	}, 1),
	"bfe": (*reader).bfe, "bfi": (*reader).bfi, "bfind": (*reader).bfind, "prmt": (*reader).prmt, "lop3": (*reader).lop3,
	"bmsk": (*reader).bmsk, "szext": (*reader).szext,

	// Choices and moves.
	"setp": (*reader).setp, "set": (*reader).set, "selp": (*reader).selp, "slct": (*reader).slct, "mov": (*reader).mov,

	// Memory.
	"ld": (*reader).loadOrStore, "ldu": (*reader).loadOrStore, "st": (*reader).loadOrStore,
	"atom": (*reader).atomic, "red": (*reader).atomic,
	"cp": (*reader).copy, "cvta": (*reader).cvta, "isspacep": (*reader).isspacep, "alloca": (*reader).alloca,

	// Several threads.
	"shfl": (*reader).shfl, "vote": (*reader).vote, "match": (*reader).match, "redux": (*reader).redux, "elect": (*reader).elect,
	"activemask": (*reader).activemask, "bar": (*reader).barrier, "barrier": (*reader).barrier,

	// Control.
	"bra": (*reader).branch, "brx": (*reader).indexedBranch, "call": (*reader).call, "trap": (*reader).trap, "brkpt": (*reader).trap,
	"ret": (*reader).leave, "exit": (*reader).leave,
	"membar": (*reader).nothing, "fence": (*reader).nothing, "nanosleep": (*reader).nothing, "pmevent": (*reader).nothing,
	"prefetch": (*reader).nothing, "prefetchu": (*reader).nothing, "griddepcontrol": (*reader).nothing,
	"discard": (*reader).nothing, "applypriority": (*reader).nothing,
}

type aluFunc = func(a, b, c uint64) uint64

// operandsOf translates the operands behind the destination, of these types.
func (r *reader) operandsOf(types ...typ) {
	r.operands(1 + len(types))
	for i, t := range types {
		r.in.src[i] = r.source(r.ops[1+i], t, false)
	}
}

// result translates the destination, of some bits.
func (r *reader) result(bits int) {
	r.in.dst, _ = r.dest(r.ops[0], bits)
	r.in.mask = mask(bits)
}

// alu makes the instruction dst = fn(sources) with sources of these types. It applies fn to both
// halves of pairs.
func (r *reader) alu(dst int, fn aluFunc, sources ...typ) {
	r.operandsOf(sources...)
	r.result(dst)
	r.in.alu = halves(sources[0], fn)
}

// integer translates an instruction on one integer type, with n sources of it.
func integer(make func(t typ) aluFunc, n int) func(r *reader) {
	return func(r *reader) {
		t := r.typ()
		r.failIf(t.float(), "%s%s is not supported", r.op, t.word)
		r.alu(t.bits, make(t), slices.Repeat([]typ{t}, n)...)
	}
}

// bitwise is integer for an instruction that is the same for all types.
func bitwise(fn aluFunc, n int) func(r *reader) { return integer(func(typ) aluFunc { return fn }, n) }

func remainder(t typ) aluFunc {
	return func(a, b, _ uint64) uint64 {
		switch {
		case b == 0:
			return math.MaxUint64
		case !t.signed():
			return a % b
		case extend(b, t.bits) == math.MaxUint64:
			return 0
		}
		return uint64(int64(extend(a, t.bits)) % int64(extend(b, t.bits)))
	}
}

func (r *reader) selp() {
	t := r.typ()
	r.alu(t.bits, func(a, b, c uint64) uint64 {
		if c != 0 {
			return a
		}
		return b
	}, t, t, pred)
}

// lop3 is PTX ISA, lop3: bit i of the table is the result for bits of a, b and c that make i.
func (r *reader) lop3() {
	t := r.typ()
	r.operands(5)
	table := r.source(r.ops[4], u32, false).val
	r.ops = r.ops[:4]
	r.alu(32, func(a, b, c uint64) (v uint64) {
		for n := range t.bits {
			i := a>>n&1<<2 | b>>n&1<<1 | c>>n&1
			v |= table >> i & 1 << n
		}
		return v
	}, t, t, t)
}

// shift is PTX ISA, shl and shr: shifts by the width or more give 0, or the sign.
func (r *reader) shift() {
	t := r.typ()
	switch {
	case t.float():
		r.fail("%s%s is not supported", r.op, t.word)
	case r.op == "shl":
		r.alu(t.bits, func(a, b, _ uint64) uint64 { return a << b }, t, u32)
	case t.signed():
		r.alu(t.bits, func(a, b, _ uint64) uint64 { return uint64(int64(extend(a, t.bits)) >> b) }, t, u32)
	default:
		r.alu(t.bits, func(a, b, _ uint64) uint64 { return a >> b }, t, u32)
	}
}

// slct is PTX ISA, slct: a if c >= 0, else b.
func (r *reader) slct() {
	ftz := r.take(".ftz")
	t, by := r.typ(), r.typ()
	r.alu(t.bits, func(a, b, c uint64) uint64 {
		first := c>>31 == 0
		if by.float() {
			if ftz {
				c = f32.flush(c)
			}
			first = f32.value(c) >= 0
		}
		if first {
			return a
		}
		return b
	}, t, t, by)
}
