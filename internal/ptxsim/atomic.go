package ptxsim

// atomic translates atom and red (PTX ISA, Parallel Synchronization and
// Communication Instructions).
func (r *reader) atomic() {
	result := r.op == "atom"
	mem := &memory{space: r.space()}
	r.dropHints()
	op := r.takeAny(".and", ".or", ".xor", ".cas", ".exch", ".add", ".inc", ".dec", ".min", ".max")
	r.take(".noftz")
	t := r.typ()
	mem.t, mem.size, mem.op = t, t.bits/8, op[min(1, len(op)):]+t.word
	mem.fn = atomic(op, t)
	mem.flush = op == ".add" && t.format() == f32 && t.float() && mem.space == global
	r.failIf((op == ".cas" || op == ".exch") && !result, "red.%s", mem.op)
	r.failIf(mem.fn == nil, "%s.%s is not supported", r.op, mem.op)
	n := 2
	if result {
		n++
	}
	if op == ".cas" {
		n++
	}
	r.operands(n)
	r.in.kind, r.in.mem, r.in.run = kRun, mem, doAtomic
	ops := r.ops
	if result {
		r.in.dst, _ = r.dest(ops[0], t.bits)
		ops = ops[1:]
	}
	r.where(ops[0], mem)
	r.failIf(mem.slot != nil || mem.space == param || mem.space == constant || mem.space == local, "%s in %s", r.op, mem.space)
	for i, o := range ops[1:] {
		r.in.src[i] = r.source(o, t, false)
	}
}

func doAtomic(t *thread, in *instr) {
	mem := in.mem
	b, o := t.memoryAt(mem, true)
	if o == nil && mem.space != shared && spaceAt(t.get(&mem.base)+mem.off) != shared {
		t.fail("an atomic operation outside .global and .shared")
	}
	x, y := t.get(&in.src[0]), t.get(&in.src[1])
	old := load(b)
	if mem.flush {
		store(b, f32.flush(mem.fn(f32.flush(old), f32.flush(x), 0)))
	} else {
		store(b, mem.fn(old, x, y))
	}
	if o != nil {
		value := make([]byte, mem.size, 2*mem.size)
		store(value, x)
		if mem.op[0] == 'c' {
			value = value[:2*mem.size]
			store(value[mem.size:], y)
		}
		t.record(mem.op, mem, o, value)
	}
	t.set(in.dst, old)
}

// atomics are the atomic operations on integers that do not depend on the type.
var atomics = map[string]aluFunc{
	".exch": func(_, b, _ uint64) uint64 { return b },
	".and":  func(old, b, _ uint64) uint64 { return old & b },
	".or":   func(old, b, _ uint64) uint64 { return old | b },
	".xor":  func(old, b, _ uint64) uint64 { return old ^ b },
	".add":  func(old, b, _ uint64) uint64 { return old + b },
	".cas": func(old, b, c uint64) uint64 {
		if old == b {
			return c
		}
		return old
	},
	".inc": func(old, b, _ uint64) uint64 {
		if old >= b {
			return 0
		}
		return old + 1
	},
	".dec": func(old, b, _ uint64) uint64 {
		if old == 0 || old > b {
			return b
		}
		return old - 1
	},
}

// atomic returns the new value of an atomic operation on a type, or nil.
func atomic(op string, t typ) aluFunc {
	switch minimum := op == ".min" || op == ".max"; {
	case op == ".add" && t.float():
		return halves(t, arithmetic("add", floatMods{t: t}))
	case minimum && t.float():
		return halves(t, floatMinMax(op[1:], t.format(), false, false))
	case minimum:
		return minMax(op[1:], t)
	}
	return atomics[op]
}
