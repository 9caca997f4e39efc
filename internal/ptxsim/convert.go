package ptxsim

import "math"

// integerModes round a float to an integer, and keep the sign of zero.
var integerModes = map[string]func(float64) float64{".rni": math.RoundToEven, ".rzi": math.Trunc, ".rmi": math.Floor, ".rpi": math.Ceil}

// cvt is PTX ISA, cvt.
func (r *reader) cvt() {
	ftz, sat := r.take(".ftz"), r.take(".sat")
	relu := r.take(".relu")
	toInteger := integerModes[r.takeAny(".rni", ".rzi", ".rmi", ".rpi")]
	mode := r.rounding()
	if r.take(".rna") {
		mode = tiesAway
	}
	if r.take(".tf32") {
		r.tf32(mode)
		return
	}
	d, s := r.typ(), r.typ()
	r.failIf(d.class == 'b' || s.class == 'b' || d.class == 'p' || s.class == 'p' || s.pair, "cvt%s%s is not supported", d.word, s.word)
	if d.pair {
		r.packed(d, s, mode, relu)
		return
	}
	r.operands(2)
	var fn aluFunc
	switch {
	case !d.float() && !s.float():
		fn = integerToInteger(d, s, sat)
	case !d.float():
		r.failIf(toInteger == nil, "cvt of a float to an integer without a rounding mode")
		fn = floatToInteger(d, s, toInteger, ftz)
	case !s.float():
		fn = integerToFloat(d, s, mode, sat)
	default:
		fn = floatToFloat(d, s, mode, toInteger, ftz, sat, relu)
	}
	reg, width := r.dest(r.ops[0], 0)
	r.failIf(width < d.bits || width == 1 || d.float() && width != d.bits, "register %s has %d bits, the type %d", r.operandText(r.ops[0]), width, d.bits)
	r.in.dst, r.in.mask = reg, mask(width)
	if d.float() {
		r.in.mask = mask(d.bits)
	}
	r.in.src[0] = r.source(r.ops[1], s, true)
	source, signed, n := mask(s.bits), d.signed(), d.bits
	r.in.alu = func(a, _, _ uint64) uint64 {
		v := fn(a&source, 0, 0) & mask(n)
		if signed {
			v = extend(v, n)
		}
		return v
	}
}

func integerToInteger(d, s typ, sat bool) aluFunc {
	return func(a, _, _ uint64) uint64 {
		if s.signed() {
			a = extend(a, s.bits)
		}
		if !sat {
			return a
		}
		// a is below 0 only if the source is signed.
		negative := s.signed() && int64(a) < 0
		switch {
		case d.signed() && negative:
			return clampTo(int64(a), d.bits)
		case d.signed():
			return min(a, mask(d.bits-1))
		case negative:
			return 0
		}
		return min(a, mask(d.bits))
	}
}

// floatToInteger clamps to the range of the destination. NaN becomes 0, but for .f64
// sources and 64-bit destinations the value with only the top bit set.
func floatToInteger(d, s typ, toInteger func(float64) float64, ftz bool) aluFunc {
	f := s.format()
	return func(a, _, _ uint64) uint64 {
		if ftz {
			a = f.flush(a)
		}
		x := f.value(a)
		if x != x {
			if f == f64 || d.bits == 64 {
				return 1 << (d.bits - 1)
			}
			return 0
		}
		x = toInteger(x)
		bits, least := d.bits, 0.0
		if d.signed() {
			bits--
			least = -math.Ldexp(1, bits)
		}
		switch {
		case x >= math.Ldexp(1, bits):
			return mask(bits)
		case x < least:
			return uint64(int64(least))
		case x < 0:
			return uint64(int64(x))
		}
		return uint64(x)
	}
}

func integerToFloat(d, s typ, mode rounding, sat bool) aluFunc {
	f := d.format()
	return func(a, _, _ uint64) uint64 {
		if s.signed() {
			a = extend(a, s.bits)
		}
		negative := s.signed() && int64(a) < 0
		if negative {
			a = -a
		}
		v := f.encode(negative, a, 0, mode)
		if sat {
			v = f.saturate(v)
		}
		return v
	}
}

func floatToFloat(d, s typ, mode rounding, toInteger func(float64) float64, ftz, sat, relu bool) aluFunc {
	from, to := s.format(), d.format()
	return func(a, _, _ uint64) uint64 {
		if ftz && from == f32 {
			a = from.flush(a)
		}
		x := from.value(a)
		if toInteger != nil {
			x = toInteger(x)
		}
		v := to.round(x, mode)
		if ftz && to == f32 {
			v = to.flush(v)
		}
		if sat {
			v = to.saturate(v)
		}
		if relu {
			v = to.relu(v)
		}
		return v
	}
}

// packed is cvt to .f16x2 and .bf16x2: a becomes the upper half.
func (r *reader) packed(d, s typ, mode rounding, relu bool) {
	one := d
	one.pair, one.bits = false, 16
	fn := floatToFloat(one, s, mode, nil, false, false, relu)
	r.failIf(s.word != ".f32", "cvt%s%s is not supported", d.word, s.word)
	r.alu(32, func(a, b, _ uint64) uint64 { return fn(a, 0, 0)<<16 | fn(b, 0, 0) }, s, s)
}

// tf32 is cvt to .tf32: the fraction has 10 bits, the others are 0.
func (r *reader) tf32(mode rounding) {
	s := r.typ()
	r.failIf(s.word != ".f32", "cvt.tf32%s is not supported", s.word)
	tf := format{19, 10}
	r.alu(32, func(a, _, _ uint64) uint64 { return tf.round(f32.value(a), mode) << 13 }, s)
}
