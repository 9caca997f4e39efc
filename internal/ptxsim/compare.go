package ptxsim

// relation is a set of ways in which two values compare.
type relation uint8

const (
	below relation = 1 << iota
	same
	above
	unordered // one is NaN
)

// The relations for which comparisons of all types, of unsigned integers and of floats hold
// (PTX ISA, Comparisons).
var (
	comparisons         = map[string]relation{".eq": same, ".ne": below | above, ".lt": below, ".le": below | same, ".gt": above, ".ge": above | same}
	unsignedComparisons = map[string]relation{".lo": below, ".ls": below | same, ".hi": above, ".hs": above | same}
	floatComparisons    = map[string]relation{
		".equ": same | unordered, ".neu": below | above | unordered, ".num": below | same | above, ".nan": unordered,
		".ltu": below | unordered, ".leu": below | same | unordered, ".gtu": above | unordered, ".geu": above | same | unordered,
	}
)

// compare returns a comparison of values of a type, or nil.
func compare(op string, t typ) func(a, b uint64) bool {
	holds, others := comparisons[op], unsignedComparisons
	if t.float() {
		others = floatComparisons
	}
	holds |= others[op]
	switch f := t.format(); {
	case holds == 0:
		return nil
	case t.float():
		return func(a, b uint64) bool { return holds&relate(f.value(a), f.value(b)) != 0 }
	}
	// The sign bit flipped, signed values order like unsigned ones.
	flip := uint64(0)
	if t.signed() && unsignedComparisons[op] == 0 {
		flip = 1 << (t.bits - 1)
	}
	return func(a, b uint64) bool { return holds&relate(a^flip, b^flip) != 0 }
}

func relate[T uint64 | float64](a, b T) relation {
	switch {
	case a < b:
		return below
	case a > b:
		return above
	case a == b:
		return same
	}
	return unordered
}

// comparison translates the comparison of set and setp and its sources. The result combines the comparison with operand c.
func (r *reader) comparison() func(a, b, c uint64) (p, q bool) {
	op := r.takeIf(func(word string) bool { return comparisons[word]|unsignedComparisons[word]|floatComparisons[word] != 0 })
	with := r.takeAny(".and", ".or", ".xor")
	ftz := r.take(".ftz")
	t := r.typ()
	f := t.format()
	cmp := compare(op, t)
	r.failIf(t.pair || t.class == 'p' || t.class == 'b' && op != ".eq" && op != ".ne" || cmp == nil, "%s%s%s is not supported", r.op, op, t.word)
	sources := []typ{t, t}
	if with != "" {
		sources = append(sources, pred)
	}
	r.operandsOf(sources...)
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
	}
}

// setp is PTX ISA, setp.
func (r *reader) setp() {
	fn := r.comparison()
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 1)
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

// set is PTX ISA, set: 1.0 or all ones if the comparison holds.
func (r *reader) set() {
	d := r.typ()
	fn := r.comparison()
	yes := mask(d.bits)
	if d.float() {
		yes = d.format().round(1, toNearest)
	}
	r.result(d.bits)
	r.in.alu = func(a, b, c uint64) uint64 {
		if p, _ := fn(a, b, c); p {
			return yes
		}
		return 0
	}
}
