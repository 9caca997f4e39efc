package ptxsim

import (
	"math"
	"math/big"
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

// formatOf returns the format of a type word.
func formatOf(word string) (format, bool) {
	t, ok := typeOf(word)
	return t.format(), ok && t.float() && !t.pair
}

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
	if x != x {
		return f.nan()
	}
	b := math.Float64bits(x)
	if f == f64 {
		return b
	}
	sign := b >> 63
	out := uint64(0)
	switch {
	case math.IsInf(x, 0):
		out = f.infinity()
	case x != 0:
		m, e := b&mask(52), int(b>>52&0x7ff)-1075
		if e > -1075 {
			m |= 1 << 52
		} else {
			e++
		}
		for m>>52 == 0 {
			m <<= 1
			e--
		}
		q := max(e+52-f.fraction, f.least())
		shift := q - e
		rest, half := m, uint64(1)<<62
		if shift < 63 {
			rest, half = m&mask(shift), 1<<(shift-1)
			m >>= shift
		} else {
			m = 0
		}
		if away(sign != 0, m&1 != 0, rest, half, mode) {
			m++
		}
		out = uint64(q-f.least())<<f.fraction + m
		if out >= f.infinity() {
			out = f.infinity()
			if mode == toZero || mode == down && sign == 0 || mode == up && sign != 0 {
				out--
			}
		}
	}
	return out | sign<<(f.bits-1)
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

// sum returns a+b rounded to odd, and a zero with the sign that the mode asks for.
func sum(a, b float64, mode rounding) float64 {
	s := a + b
	if s == 0 {
		if mode == down && (a != 0 || math.Signbit(a) != math.Signbit(b)) {
			return math.Copysign(0, -1)
		}
		return s
	}
	bb := s - a
	return odd(s, float64(a-float64(s-bb))+float64(b-bb))
}

// narrow computes an operation on formats below f64: rounded to odd.
func narrow(op string, a, b, c float64, mode rounding) float64 {
	switch op {
	case "add":
		return sum(a, b, mode)
	case "sub":
		return sum(a, -b, mode)
	case "mul":
		return a * b // exact
	case "fma":
		return sum(float64(a*b), c, mode)
	case "div":
		q := a / b
		r := math.FMA(-q, b, a)
		if b < 0 {
			r = -r
		}
		return odd(q, r)
	}
	q := math.Sqrt(a)
	return odd(q, math.FMA(-q, q, a))
}

// wide computes an operation on f64.
func wide(op string, a, b, c float64, mode rounding) float64 {
	var x float64
	switch op {
	case "add":
		x = a + b
	case "sub":
		x, b = a-b, -b
	case "mul":
		x = a * b
	case "fma":
		x = math.FMA(a, b, c)
	case "div":
		x = a / b
	case "sqrt":
		x = math.Sqrt(a)
	}
	finite := func(v float64) bool { return !math.IsInf(v, 0) && v == v }
	if mode == toNearest || x != x || !finite(a) || !finite(b) || !finite(c) || op == "div" && b == 0 {
		return x
	}
	return directed(op, a, b, c, x, mode)
}

// directed rounds an exact f64 result. nearest is the result of toNearest, for the
// signs of zeros.
func directed(op string, a, b, c, nearest float64, mode rounding) float64 {
	x, sticky := unrounded(op, a, b, c)
	if x.Sign() == 0 {
		exactZero := op == "add" || op == "sub" || op == "fma"
		product := a * b
		if op != "fma" {
			product, c = a, b
		}
		if exactZero && mode == down && (c != 0 || math.Signbit(product) != math.Signbit(c)) {
			return math.Copysign(0, -1)
		}
		return nearest
	}
	q := max(x.MantExp(nil)-53, -1074)
	scaled := new(big.Float).SetPrec(5000).SetMantExp(x, -q)
	n, acc := scaled.Int(nil)
	if acc != big.Exact || sticky {
		if mode == up && x.Sign() > 0 {
			n.Add(n, big.NewInt(1))
		} else if mode == down && x.Sign() < 0 {
			n.Sub(n, big.NewInt(1))
		}
	}
	r, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(n), q).Float64()
	if math.IsInf(r, 0) && (mode == toZero || mode == down && r > 0 || mode == up && r < 0) {
		return math.Copysign(math.MaxFloat64, r)
	}
	if r == 0 && x.Sign() < 0 {
		return math.Copysign(0, -1)
	}
	return r
}

// unrounded returns the exact result of an operation, or its first digits: sticky is then
// true.
func unrounded(op string, a, b, c float64) (x *big.Float, sticky bool) {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(v) }
	x, y := exact(a), exact(b)
	switch op {
	case "add", "sub":
		x.Add(x, y)
	case "mul":
		x.Mul(x, y)
	case "fma":
		x.Mul(x, y)
		x.Add(x, exact(c))
	case "div":
		q := new(big.Float).SetPrec(5000).SetMode(big.ToZero).Quo(x, y)
		sticky = q.Acc() != big.Exact
		x = q
	case "sqrt":
		q := new(big.Float).SetPrec(5000).Sqrt(x) // exact if the root has few bits
		sticky = new(big.Float).SetPrec(11000).Mul(q, q).Cmp(x) != 0
		x = q
	}
	return x, sticky
}

// arithmetic returns an operation of up to three values of a format.
func arithmetic(op string, f format, mode rounding, ftz, sat bool) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		if ftz {
			a, b, c = f.flush(a), f.flush(b), f.flush(c)
		}
		var v uint64
		if x, y, z := f.value(a), f.value(b), f.value(c); f == f64 {
			v = f.round(wide(op, x, y, z, mode), mode)
		} else {
			v = f.round(narrow(op, x, y, z, mode), mode)
		}
		if ftz {
			v = f.flush(v)
		}
		if sat {
			v = f.saturate(v)
		}
		return v
	}
}

// floatBinary is arithmetic for two operands.
func floatBinary(op string, f format, mode rounding, ftz, sat bool) func(a, b, c uint64) uint64 {
	fn := arithmetic(op, f, mode, ftz, sat)
	return func(a, b, _ uint64) uint64 { return fn(a, b, 0) }
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

// floatMinMax is PTX ISA, min and max: -0 is below +0; of a number and a NaN the
// number is the result, except with .NaN.
func floatMinMax(op string, f format, ftz, nan, xorsign bool) func(a, b, c uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		if ftz {
			a, b = f.flush(a), f.flush(b)
		}
		sign := uint64(0)
		if xorsign {
			sign = (a ^ b) & f.sign()
			a, b = a&^f.sign(), b&^f.sign()
		}
		var v uint64
		switch x, y := f.value(a), f.value(b); {
		case x != x && y != y, nan && (x != x || y != y):
			return f.nan()
		case x != x:
			v = b
		case y != y:
			v = a
		case x < y || x == y && a&f.sign() != 0:
			v = a
			if op == "max" {
				v = b
			}
		default:
			v = b
			if op == "max" {
				v = a
			}
		}
		if xorsign {
			v = v&^f.sign() | sign
		}
		return v
	}
}

// halves applies an operation to both halves of a pair.
func halves(t typ, fn func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	if !t.pair {
		return fn
	}
	return func(a, b, c uint64) uint64 {
		low := fn(a&0xffff, b&0xffff, c&0xffff)
		return low&0xffff | fn(a>>16, b>>16, c>>16)<<16
	}
}
