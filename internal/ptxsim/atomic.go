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
	mem.fn = atomics(op, t)
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
	if o != nil && t.m.opt.Trace {
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

// atomics returns the new value of an atomic operation on a type, or nil.
func atomics(op string, t typ) aluFunc {
	switch op {
	case ".exch":
		return func(_, b, _ uint64) uint64 { return b }
	case ".cas":
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	case ".and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case ".or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case ".xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case ".inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case ".dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case ".add":
		if t.float() {
			return halves(t, arithmetic("add", floatMods{t: t}))
		}
		return func(old, b, _ uint64) uint64 { return old + b }
	case ".min", ".max":
		if t.float() {
			return halves(t, floatMinMax(op[1:], t.format(), false, false))
		}
		return minMax(op[1:], t)
	}
	return nil
}
