package ptxsim

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// rounding is a rounding mode (PTX ISA, Rounding Modifiers).
type rounding uint8

const (
	toNearest rounding = iota // .rn: ties to even
	toZero                    // .rz
	down                      // .rm
	up                        // .rp
	tiesAway                  // .rna, of cvt to .tf32
)

// format is a binary floating-point format: its bits and those of its fraction.
type format struct{ bits, fraction int }

var (
	f16  = format{16, 10}
	bf16 = format{16, 7}
	f32  = format{32, 23}
	f64  = format{64, 52}
)

func (f format) sign() uint64     { return 1 << (f.bits - 1) }
func (f format) infinity() uint64 { return f.sign() - 1<<f.fraction }
func (f format) nan() uint64 {
	if f == f64 {
		return 0x7ff8000000000000
	}
	return f.sign() - 1
}
func (f format) isNaN(v uint64) bool { return v&^f.sign() > f.infinity() }

// subnormal reports whether a value is subnormal.
func (f format) subnormal(v uint64) bool {
	v &^= f.sign()
	return v != 0 && v < 1<<f.fraction
}

// flush turns a subnormal value into a zero of its sign (.ftz).
func (f format) flush(v uint64) uint64 {
	if f.subnormal(v) {
		return v & f.sign()
	}
	return v
}

// least returns the exponent of the least subnormal.
func (f format) least() int {
	bias := 1<<(f.bits-f.fraction-2) - 1
	return 1 - bias - f.fraction
}

// value returns the value of an encoding. It is exact.
func (f format) value(v uint64) float64 {
	switch f {
	case f64:
		return math.Float64frombits(v)
	case f32:
		return float64(math.Float32frombits(uint32(v)))
	case bf16:
		return float64(math.Float32frombits(uint32(v) << 16))
	}
	x := math.Inf(1)
	fraction, exponent := v&mask(10), v>>10&31
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 0:
		x = math.Ldexp(float64(fraction), -24)
	case exponent < 31:
		x = math.Ldexp(float64(fraction|1<<10), int(exponent)-25)
	}
	if v&f.sign() != 0 {
		return -x
	}
	return x
}

// round returns the encoding of a value. x may stand for a value of higher precision that
// was rounded to odd.
func (f format) round(x float64, mode rounding) uint64 {
	b := math.Float64bits(x)
	fraction, exponent := b&mask(52), int(b>>52&0x7ff)
	switch {
	case x != x:
		return f.nan()
	case f == f64:
		return b
	case exponent == 0x7ff:
		return f.infinity() | b>>63<<(f.bits-1)
	case exponent > 0:
		return f.encode(math.Signbit(x), fraction|1<<52, exponent-1075, mode)
	}
	return f.encode(math.Signbit(x), fraction, -1074, mode)
}

// encode returns the encoding of m times 2^e, which may have been rounded to odd.
func (f format) encode(negative bool, m uint64, e int, mode rounding) uint64 {
	sign := truth(negative) << (f.bits - 1)
	if m == 0 {
		return sign
	}
	zeros := bits.LeadingZeros64(m)
	m, e = m<<zeros, e-zeros
	q := max(e+63-f.fraction, f.least()) // the exponent of the last bit of the result
	shift := q - e
	if shift > 64 { // less than half of the least subnormal
		m, shift = 1, 64
	}
	v := m >> shift
	if away(negative, v&1 != 0, m&mask(shift), 1<<(shift-1), mode) {
		v++
	}
	out := uint64(q-f.least())<<f.fraction + v
	if out >= f.infinity() {
		out = f.infinity()
		if mode == toZero || mode == down && !negative || mode == up && negative {
			out--
		}
	}
	return out | sign
}

// away reports whether a truncated magnitude is rounded away from zero.
func away(negative, odd bool, rest, half uint64, mode rounding) bool {
	switch mode {
	case toNearest:
		return rest > half || rest == half && odd
	case tiesAway:
		return rest >= half
	case down:
		return rest != 0 && negative
	case up:
		return rest != 0 && !negative
	}
	return false
}

// odd rounds to odd a result x with an error: the exact result is x plus something
// with the sign of err. A result rounded to odd can be rounded again to a format with at
// least two bits less as if it were exact.
func odd(x, err float64) float64 {
	b := math.Float64bits(x)
	if err == 0 || err != err || b&1 != 0 || math.IsInf(x, 0) || x == 0 {
		return x
	}
	if err > 0 == (x > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// sum returns a+b rounded to odd.
func sum(a, b float64) float64 {
	s := a + b
	bb := s - a
	return odd(s, float64(a-float64(s-bb))+float64(b-bb))
}

// operations are computed in f64, for a result that can be rounded again to nearest in the
// format: f64 has more than twice the digits of the others, and a sum with a product is
// rounded to odd. exact changes x to the result of one on finite numbers.
var operations = map[string]struct {
	nearest func(f format, a, b, c float64) float64
	exact   func(x, y, z *big.Float) *big.Float
}{
	"add": {func(_ format, a, b, _ float64) float64 { return a + b }, func(x, y, _ *big.Float) *big.Float { return x.Add(x, y) }},
	"sub": {func(_ format, a, b, _ float64) float64 { return a - b }, func(x, y, _ *big.Float) *big.Float { return x.Sub(x, y) }},
	"mul": {func(_ format, a, b, _ float64) float64 { return a * b }, func(x, y, _ *big.Float) *big.Float { return x.Mul(x, y) }},
	"div": {func(_ format, a, b, _ float64) float64 { return a / b }, func(x, y, _ *big.Float) *big.Float { return x.Quo(x, y) }},
	"fma": {func(f format, a, b, c float64) float64 {
		if f == f64 {
			return math.FMA(a, b, c)
		}
		return sum(float64(a*b), c)
	}, func(x, y, z *big.Float) *big.Float { return x.Add(x.Mul(x, y), z) }},
	"sqrt": {func(_ format, a, _, _ float64) float64 { return math.Sqrt(a) },
		// Package big finds roots with few digits in this mode only.
		func(x, _, _ *big.Float) *big.Float { return x.SetMode(big.ToNearestEven).Sqrt(x) }},
}

// number returns a number of 5000 bits: a quotient or root that does not end there has other
// bits than 0 after the first 64.
func number(v float64) *big.Float {
	return new(big.Float).SetPrec(5000).SetMode(big.ToZero).SetFloat64(v)
}

// directed rounds the result of an operation on finite numbers.
func directed(op string, f format, a, b, c float64, mode rounding) uint64 {
	x := operations[op].exact(number(a), number(b), number(c))
	if x.Sign() == 0 {
		if op == "mul" || op == "div" || op == "sqrt" {
			return f.round(operations[op].nearest(f, a, b, c), mode)
		}
		// Two zeros with one sign keep it; other sums are -0 in one mode.
		product, term := a, b
		if op == "sub" {
			term = -b
		} else if op == "fma" {
			product, term = a*b, c
		}
		same := term == 0 && math.Signbit(product) == math.Signbit(term)
		return f.encode(same && math.Signbit(term) || !same && mode == down, 0, 0, mode)
	}
	m := new(big.Float)
	e := x.MantExp(m)
	digits, accuracy := m.SetMantExp(m.Abs(m), 64).Uint64()
	if accuracy != big.Exact {
		digits |= 1
	}
	return f.encode(x.Sign() < 0, digits, e-64, mode)
}

func finite(list ...float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return math.IsInf(v, 0) || v != v })
}

// arithmetic returns an operation of up to three values. Those that it does not have are 0.
func arithmetic(op string, m floatMods) aluFunc {
	f, mode, nearest := m.t.format(), m.mode, operations[op].nearest
	return f.flushing(m.ftz, func(a, b, c uint64) uint64 {
		x, y, z := f.value(a), f.value(b), f.value(c)
		n := nearest(f, x, y, z)
		v := f.round(n, mode)
		if mode != toNearest && finite(x, y, z) && n == n && !(op == "div" && y == 0) {
			v = directed(op, f, x, y, z, mode)
		}
		if m.sat {
			v = f.saturate(v)
		}
		if m.relu {
			v = f.relu(v)
		}
		return v
	})
}

// flushing applies .ftz to the operands and the result of an operation.
func (f format) flushing(ftz bool, fn aluFunc) aluFunc {
	if !ftz {
		return fn
	}
	return func(a, b, c uint64) uint64 { return f.flush(fn(f.flush(a), f.flush(b), f.flush(c))) }
}

// saturate clamps to [0, 1]; NaN becomes 0 (.sat).
func (f format) saturate(v uint64) uint64 {
	x := f.value(v)
	switch {
	case !(x > 0):
		return 0
	case x > 1:
		return f.round(1, toNearest)
	}
	return v
}

// relu turns negative numbers into 0 (.relu).
func (f format) relu(v uint64) uint64 {
	if v&f.sign() != 0 && !f.isNaN(v) {
		return 0
	}
	return v
}

// floatMinMax is PTX ISA, min and max: -0 is below +0; of a number and a NaN the
// number is the result, except with .NaN.
func floatMinMax(op string, f format, nan, xorsign bool) aluFunc {
	return func(a, b, _ uint64) uint64 {
		sign := uint64(0)
		if xorsign {
			sign = (a ^ b) & f.sign()
			a, b = a&^f.sign(), b&^f.sign()
		}
		v := a
		switch x, y := f.value(a), f.value(b); {
		case x != x && y != y, nan && (x != x || y != y):
			return f.nan()
		case y != y:
		case x != x, (x < y || x == y && a&f.sign() != 0) == (op == "max"):
			v = b
		}
		if xorsign {
			v = v&^f.sign() | sign
		}
		return v
	}
}

// halves applies an operation to both halves of a pair.
func halves(t typ, fn aluFunc) aluFunc {
	if !t.pair {
		return fn
	}
	return func(a, b, c uint64) uint64 {
		low := fn(a&0xffff, b&0xffff, c&0xffff)
		return low&0xffff | fn(a>>16, b>>16, c>>16)<<16
	}
}
