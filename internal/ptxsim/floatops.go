package ptxsim

// floatMods are the modifiers of an operation on floats.
type floatMods struct {
	t              typ
	mode           rounding
	ftz, sat, relu bool
}

// floatMods takes the modifiers if the type is one of floats. ok is false, and
// nothing is taken, for other types.
func (r *reader) floatMods() (m floatMods, ok bool) {
	kept := append([]string(nil), r.mods...)
	m.ftz, m.sat = r.take(".ftz"), r.take(".sat")
	approx := r.takeAny(".approx", ".full") != ""
	m.mode = r.rounding()
	m.t = r.typ()
	if !m.t.float() {
		r.mods = kept
		return m, false
	}
	r.failIf(approx && m.mode != toNearest, "%s with .approx and a rounding mode", r.op)
	return m, true
}

// rounding takes a rounding mode.
func (r *reader) rounding() rounding {
	return roundings[r.takeAny(".rn", ".rz", ".rm", ".rp")]
}

var roundings = map[string]rounding{".rz": toZero, ".rm": down, ".rp": up} // others are toNearest

// binary translates an operation on two floats. It does nothing for other types.
func (r *reader) binary() bool {
	m, ok := r.floatMods()
	if ok {
		r.alu(m.t.bits, arithmetic(r.op, m), m.t, m.t)
	}
	return ok
}

func (r *reader) rcp() {
	m := r.mustFloat()
	fn := arithmetic("div", m)
	one := m.t.format().round(1, toNearest)
	r.alu(m.t.bits, func(a, _, _ uint64) uint64 { return fn(one, a, 0) }, m.t)
}

func (r *reader) sqrt() {
	m := r.mustFloat()
	r.alu(m.t.bits, arithmetic("sqrt", m), m.t)
}

func (r *reader) copysign() {
	t := r.typ()
	f := t.format()
	r.alu(t.bits, func(a, b, _ uint64) uint64 { return b&^f.sign() | a&f.sign() }, t, t)
}

func (r *reader) mustFloat() floatMods {
	m, ok := r.floatMods()
	r.failIf(!ok, "%s has no type of floats", r.op)
	return m
}

func (r *reader) fma() {
	relu := r.take(".relu")
	m := r.mustFloat()
	m.relu = relu
	r.alu(m.t.bits, arithmetic("fma", m), m.t, m.t, m.t)
}

// approximate translates an instruction that rounds the result of a function in f64.
func approximate(fn func(float64) float64) func(r *reader) {
	return func(r *reader) {
		m := r.mustFloat()
		f := m.t.format()
		r.alu(m.t.bits, f.flushing(m.ftz, func(a, _, _ uint64) uint64 { return f.round(fn(f.value(a)), toNearest) }), m.t)
	}
}

// testp is PTX ISA, testp.
func (r *reader) testp() {
	what := r.takeAny(".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal")
	t := r.typ()
	f := t.format()
	r.alu(1, func(a, _, _ uint64) uint64 {
		m := a &^ f.sign()
		switch what {
		case ".finite":
			return truth(m < f.infinity())
		case ".infinite":
			return truth(m == f.infinity())
		case ".number":
			return truth(m <= f.infinity())
		case ".notanumber":
			return truth(m > f.infinity())
		case ".normal":
			return truth(m < f.infinity() && !f.subnormal(m)) // 0 is normal
		}
		return truth(f.subnormal(m))
	}, t)
}
