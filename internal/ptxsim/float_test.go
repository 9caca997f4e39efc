package ptxsim

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var bigModes = map[rounding]big.RoundingMode{toNearest: big.ToNearestEven, toZero: big.ToZero, down: big.ToNegativeInf, up: big.ToPositiveInf}

// reference rounds an exact value, which is not 0, with package big.
func reference(f format, x *big.Float, mode rounding) uint64 {
	sign := uint64(0)
	if x.Sign() < 0 {
		sign = f.sign()
	}
	exponent := x.MantExp(nil) // x is below 2^exponent
	precision := min(f.fraction+1, exponent-f.least())
	r := new(big.Float).SetMode(bigModes[mode])
	if precision > 0 {
		r.SetPrec(uint(precision)).Set(x)
	} else { // between 0 and the least subnormal
		least := new(big.Float).SetMantExp(big.NewFloat(math.Copysign(1, float64(x.Sign()))), f.least())
		half := new(big.Float).SetMantExp(least, -1)
		c := new(big.Float).Abs(x).Cmp(half.Abs(half))
		if mode == toNearest && c > 0 || mode == up && sign == 0 || mode == down && sign != 0 {
			r = least
		} else {
			return sign
		}
	}
	v, _ := r.Float64()
	limit := f.value(f.infinity() - 1)
	if math.Abs(v) > limit {
		if mode == toZero || mode == down && sign == 0 || mode == up && sign != 0 {
			return sign | f.infinity() - 1
		}
		return sign | f.infinity()
	}
	return f.round(v, toNearest) // exact
}

// TestArithmetic compares every operation and rounding mode with package big.
func TestArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(f format) uint64 {
		v := rnd.Uint64() & mask(f.bits)
		switch rnd.IntN(4) {
		case 0: // near 1
			bias := uint64(1)<<(f.bits-f.fraction-2) - 1
			v = v&(f.sign()|mask(f.fraction)) | (bias+uint64(rnd.IntN(5))-2)<<f.fraction
		case 1: // few bits
			v &= rnd.Uint64() & rnd.Uint64()
		case 2: // small
			v &= f.sign() | mask(f.fraction+2)
		}
		return v
	}
	count := 0
	for _, word := range []string{".f16", ".bf16", ".f32", ".f64"} {
		kind, _ := typeOf(word)
		f := kind.format()
		rounds := 4000
		if f == f64 {
			rounds = 400
		}
		for range rounds {
			a, b, c := random(f), random(f), random(f)
			if rnd.IntN(3) == 0 {
				c = f.round(-f.value(a)*f.value(b), toNearest) // cancels
			}
			if f.isNaN(a) || f.isNaN(b) || f.isNaN(c) || a&^f.sign() == f.infinity() || b&^f.sign() == f.infinity() || c&^f.sign() == f.infinity() {
				continue
			}
			for mode := toNearest; mode <= up; mode++ {
				for _, op := range []string{"add", "sub", "mul", "div", "fma", "sqrt"} {
					exact := func(v uint64) *big.Float {
						return new(big.Float).SetPrec(5000).SetMode(big.ToZero).SetFloat64(f.value(v))
					}
					x := exact(a)
					switch op {
					case "add":
						x.Add(x, exact(b))
					case "sub":
						x.Sub(x, exact(b))
					case "mul":
						x.Mul(x, exact(b))
					case "fma":
						x.Mul(x, exact(b))
						x.Add(x, exact(c))
					case "div":
						if f.value(b) == 0 {
							continue
						}
						x.Quo(x, exact(b))
					case "sqrt":
						if x.Sign() < 0 {
							continue
						}
						x.SetMode(big.ToNearestEven).Sqrt(x)
					}
					got := arithmetic(op, floatMods{t: kind, mode: mode})(a, b, c)
					if x.Sign() == 0 {
						if f.value(got) != 0 {
							t.Fatalf("%v %s mode %d of %x %x %x is %x, want 0", f, op, mode, a, b, c, got)
						}
						continue
					}
					if want := reference(f, x, mode); got != want {
						t.Fatalf("%v %s mode %d of %x %x %x is %x, want %x", f, op, mode, a, b, c, got, want)
					}
					count++
				}
			}
		}
	}
	t.Logf("%d results", count)
}

// TestConversions compares conversions between floats, and from and to integers,
// with package big.
func TestConversions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	types := map[string]typ{}
	for _, word := range []string{".f16", ".bf16", ".f32", ".f64", ".s8", ".u8", ".s16", ".u16", ".s32", ".u32", ".s64", ".u64"} {
		types[word], _ = typeOf(word)
	}
	toInteger := []func(float64) float64{toNearest: math.RoundToEven, toZero: math.Trunc, down: math.Floor, up: math.Ceil}
	count := 0
	for range 300 {
		for _, s := range types {
			v := rnd.Uint64() >> rnd.IntN(64) & mask(s.bits)
			if s.float() && rnd.IntN(2) == 0 { // of the size of integers
				f := s.format()
				v = f.round(math.Ldexp(float64(int64(rnd.Uint64())), -rnd.IntN(70)), toNearest)
			}
			x := new(big.Float).SetPrec(200)
			switch {
			case s.float():
				f := s.format()
				if v&^f.sign() >= f.infinity() {
					continue
				}
				x.SetFloat64(f.value(v))
			case s.signed():
				x.SetInt64(int64(extend(v, s.bits)))
			default:
				x.SetUint64(v)
			}
			if x.Sign() == 0 {
				continue
			}
			for _, d := range types {
				for mode := toNearest; mode <= up; mode++ {
					var got, want uint64
					switch {
					case d.float() && s.float():
						got, want = floatToFloat(d, s, mode, nil, false, false, false)(v, 0, 0), reference(d.format(), x, mode)
					case d.float():
						got, want = integerToFloat(d, s, mode, false)(v, 0, 0), reference(d.format(), x, mode)
					case s.float():
						got, want = floatToInteger(d, s, toInteger[mode], false)(v, 0, 0)&mask(d.bits), bigToInteger(x, d, mode)
					default:
						got, want = integerToInteger(d, s, true)(v, 0, 0)&mask(d.bits), bigToInteger(x, d, mode)
					}
					if got != want {
						t.Fatalf("cvt mode %d %s from %s %x is %x, want %x", mode, d.word, s.word, v, got, want)
					}
					count++
				}
			}
		}
	}
	t.Logf("%d results", count)
}

// bigToInteger rounds and clamps with package big.
func bigToInteger(x *big.Float, d typ, mode rounding) uint64 {
	whole, acc := x.Int(nil)
	rest := new(big.Float).SetPrec(400).Sub(x, new(big.Float).SetPrec(400).SetInt(whole))
	away := int64(x.Sign())
	if acc != big.Exact {
		half := rest.Abs(rest).Cmp(big.NewFloat(0.5))
		if mode == toNearest && (half > 0 || half == 0 && whole.Bit(0) == 1) || mode == up && away > 0 || mode == down && away < 0 {
			whole.Add(whole, big.NewInt(away))
		}
	}
	low, high := big.NewInt(0), new(big.Int).SetUint64(mask(d.bits))
	if d.signed() {
		high.SetUint64(mask(d.bits - 1))
		low.Neg(high).Sub(low, big.NewInt(1))
	}
	if whole.Cmp(low) < 0 {
		whole = low
	} else if whole.Cmp(high) > 0 {
		whole = high
	}
	return new(big.Int).And(whole, new(big.Int).SetUint64(mask(d.bits))).Uint64()
}
