package ptxsim

func init() {
	opcodes["setp"] = (*reader).setp
	opcodes["set"] = (*reader).set
}

var comparisons = []string{".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs",
	".equ", ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"}

// compare returns a comparison of values of a type, or nil (PTX ISA, Comparisons).
// Comparisons of floats that end in u hold if an operand is NaN; the others but .ne
// do not.
func compare(op string, t typ) func(a, b uint64) bool {
	if t.float() {
		f := t.format()
		fn := compareFloats(op)
		if fn == nil {
			return nil
		}
		return func(a, b uint64) bool { return fn(f.value(a), f.value(b)) }
	}
	signed := t.signed()
	switch op {
	case ".lo":
		op, signed = ".lt", false
	case ".ls":
		op, signed = ".le", false
	case ".hi":
		op, signed = ".gt", false
	case ".hs":
		op, signed = ".ge", false
	}
	// The sign bit flipped, signed values order like unsigned ones.
	flip := uint64(0)
	if signed {
		flip = 1 << (t.bits - 1)
	}
	switch op {
	case ".eq":
		return func(a, b uint64) bool { return a == b }
	case ".ne":
		return func(a, b uint64) bool { return a != b }
	case ".lt":
		return func(a, b uint64) bool { return a^flip < b^flip }
	case ".le":
		return func(a, b uint64) bool { return a^flip <= b^flip }
	case ".gt":
		return func(a, b uint64) bool { return a^flip > b^flip }
	case ".ge":
		return func(a, b uint64) bool { return a^flip >= b^flip }
	}
	return nil
}

func compareFloats(op string) func(x, y float64) bool {
	switch op {
	case ".eq":
		return func(x, y float64) bool { return x == y }
	case ".ne": // ordered: false for NaN
		return func(x, y float64) bool { return x < y || x > y }
	case ".lt":
		return func(x, y float64) bool { return x < y }
	case ".le":
		return func(x, y float64) bool { return x <= y }
	case ".gt":
		return func(x, y float64) bool { return x > y }
	case ".ge":
		return func(x, y float64) bool { return x >= y }
	case ".equ":
		return func(x, y float64) bool { return !(x < y || x > y) }
	case ".neu":
		return func(x, y float64) bool { return x != y }
	case ".ltu":
		return func(x, y float64) bool { return !(x >= y) }
	case ".leu":
		return func(x, y float64) bool { return !(x > y) }
	case ".gtu":
		return func(x, y float64) bool { return !(x <= y) }
	case ".geu":
		return func(x, y float64) bool { return !(x < y) }
	case ".num":
		return func(x, y float64) bool { return x == x && y == y }
	case ".nan":
		return func(x, y float64) bool { return x != x || y != y }
	}
	return nil
}

// comparison takes the modifiers of set and setp. The result combines the comparison
// with operand c.
func (r *reader) comparison(source func() typ) (fn func(a, b, c uint64) (p, q bool), t typ, combined bool) {
	op := r.takeAny(comparisons...)
	with := r.takeAny(".and", ".or", ".xor")
	ftz := r.take(".ftz")
	t = source()
	f := t.format()
	if t.pair || t.class == 'p' || t.class == 'b' && op != ".eq" && op != ".ne" {
		r.fail("%s%s%s is not supported", r.op, op, t.word)
		return nil, t, false
	}
	cmp := compare(op, t)
	if cmp == nil {
		r.fail("%s%s%s is not supported", r.op, op, t.word)
		return nil, t, false
	}
	return func(a, b, c uint64) (p, q bool) {
		if ftz && t.float() {
			a, b = f.flush(a), f.flush(b)
		}
		p = cmp(a, b)
		q = !p
		switch with {
		case ".and":
			return p && c != 0, q && c != 0
		case ".or":
			return p || c != 0, q || c != 0
		case ".xor":
			return p != (c != 0), q != (c != 0)
		}
		return p, q
	}, t, with != ""
}

// setp is PTX ISA, setp.
func (r *reader) setp() {
	fn, t, combined := r.comparison(r.typ)
	r.compareOperands(t, combined)
	if r.err != "" {
		return
	}
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 1, 1)
	if r.in.dst2 < 0 {
		r.in.mask = 1
		r.in.alu = func(a, b, c uint64) uint64 { p, _ := fn(a, b, c); return truth(p) }
		return
	}
	r.in.kind = kRun
	r.in.run = func(t *thread, in *instr) {
		p, q := fn(t.get(&in.src[0]), t.get(&in.src[1]), t.get(&in.src[2]))
		t.set(in.dst, truth(p))
		t.set(in.dst2, truth(q))
	}
}

func (r *reader) compareOperands(t typ, combined bool) {
	sources := []typ{t, t}
	if combined {
		sources = append(sources, pred)
	}
	if !r.operands(1 + len(sources)) {
		return
	}
	for i, st := range sources {
		r.in.src[i] = r.source(r.ops[1+i], st, false)
	}
}

// set is PTX ISA, set: 1.0 or all ones if the comparison holds.
func (r *reader) set() {
	var d typ
	fn, t, combined := r.comparison(func() typ { d = r.typ(); return r.typ() })
	r.compareOperands(t, combined)
	if r.err != "" {
		return
	}
	yes := mask(d.bits)
	if d.float() {
		yes = d.format().round(1, toNearest)
	}
	r.in.dst, _ = r.dest(r.ops[0], d.bits)
	r.in.mask = mask(d.bits)
	r.in.alu = func(a, b, c uint64) uint64 {
		if p, _ := fn(a, b, c); p {
			return yes
		}
		return 0
	}
}
