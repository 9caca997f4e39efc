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
	for _, f := range []format{f16, bf16, f32, f64} {
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
					got := arithmetic(op, f, mode, false, false)(a, b, c)
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
