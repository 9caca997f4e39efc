package ptxsim

import (
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// memory is the memory operand of ld, st, atom and red.
type memory struct {
	address
	space space
	t     typ
	size  int // bytes of the access
	lanes []operand
	op    string
	fn    aluFunc // of an atomic
	flush bool    // atom.add.f32 in global memory
}

// space takes the state space of an instruction.
func (r *reader) space() space {
	word := r.takeIf(func(w string) bool {
		base, _, _ := strings.Cut(w, "::")
		return slices.Contains(spaceNames[1:], base)
	})
	base, part, _ := strings.Cut(word, "::")
	r.failIf(!slices.Contains([]string{"", "entry", "func", "cta"}, part), "%s is not supported", word)
	return space(slices.Index(spaceNames[:], base))
}

// dropHints removes modifiers that do not change what an access does when there is one
// interleaving of all threads.
func (r *reader) dropHints() {
	r.mods = slices.DeleteFunc(r.mods, func(w string) bool {
		switch w {
		case ".weak", ".relaxed", ".acquire", ".release", ".acq_rel", ".sc", ".volatile", ".mmio", ".nc", ".cta", ".cluster", ".gpu", ".sys",
			".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt", ".unified":
			return true
		}
		return strings.HasPrefix(w, ".L1::") || strings.HasPrefix(w, ".L2::") && w != ".L2::cache_hint"
	})
}

// place returns the address of an access, or its offset in the frame.
func (mem *memory) place(t *thread) uint64 {
	addr := t.get(&mem.base) + mem.off
	if mem.index.reg.kind == opReg {
		if addr += mem.index.bytes(t); mem.space != generic && mem.space != global {
			addr &= mask(32) // these spaces have 32-bit addresses
		}
	}
	return addr
}

// where translates the address of an access of size bytes.
func (r *reader) where(o ptx.Operand, mem *memory) {
	mem.address = r.address(o)
	if mem.space == generic && (mem.fixed == global || mem.fixed == shared || mem.fixed == local) {
		mem.space = mem.fixed // ptxas takes the space of the name
	}
	switch {
	case mem.fixed != generic && mem.fixed != mem.space:
		r.fail("%s is in %s", r.operandText(o), mem.fixed)
	case mem.index.reg.kind == opConst && mem.address.size >= 0 && (mem.slot == nil || !mem.slot.unsized) && (int64(mem.off) < 0 || int64(mem.off)+int64(mem.size) > mem.address.size):
		r.fail("access of %d bytes at %s is outside the object, which has %d bytes", mem.size, r.operandText(o), mem.address.size)
	}
	// An address of .param in a register comes from mov, which moves the parameters
	// of functions to .local (PTX ISA, Kernel and Device Function Parameters).
	if mem.space == param && mem.slot == nil && mem.fixed == generic && r.f.decl.Kind == ptx.Func {
		mem.space = local
	}
}

// memoryAt returns the memory of an access.
func (t *thread) memoryAt(mem *memory, store bool) ([]byte, *Object) {
	addr := mem.place(t)
	if mem.slot == nil {
		return t.at(mem.space, addr, mem.size, store)
	}
	if addr&uint64(mem.size-1) != 0 {
		t.fail("%s of %d bytes at %s+%d is misaligned", access(store), mem.size, mem.slot.name, mem.off)
	}
	if addr+uint64(mem.size) > t.frame.end() {
		t.fail("%s of %d bytes at %s+%d is outside the frame", access(store), mem.size, mem.slot.name, mem.off)
	}
	return t.local[addr : addr+uint64(mem.size)], nil
}

func (r *reader) loadOrStore() {
	isLoad := r.op != "st"
	mem := &memory{space: r.space()}
	r.dropHints()
	lanes := 1
	if vector := r.takeAny(".v2", ".v4", ".v8"); vector != "" {
		lanes = int(vector[2] - '0')
	}
	t := r.typ()
	r.failIf(t.class == 'p', "%s of %s", r.op, t.word)
	mem.t, mem.size = t, lanes*t.bits/8
	r.operands(2)
	value, at := r.ops[0], r.ops[1]
	r.in.kind, r.in.mem, r.in.run = kRun, mem, doLoad
	translate := func(o ptx.Operand, t typ) operand {
		reg, width := r.dest(o, 0)
		r.failIf(reg >= 0 && (width < t.bits || width == 1), "register %s has %d bits, the type %d", r.operandText(o), width, t.bits)
		return operand{kind: opReg, reg: reg, val: mask(width)}
	}
	if !isLoad {
		value, at = at, value
		r.in.run = doStore
		translate = func(o ptx.Operand, t typ) operand { return r.source(o, t, true) }
	}
	r.where(at, mem)
	mem.lanes = r.elements(value, func(int) typ { return t }, true, translate)
	if mem.lanes == nil {
		mem.lanes = []operand{translate(value, t)}
	}
	r.failIf(len(mem.lanes) != lanes, "%d values for %d elements", len(mem.lanes), lanes)
}

func doLoad(t *thread, in *instr) {
	mem := in.mem
	b, _ := t.memoryAt(mem, false)
	n := mem.t.bits / 8
	for i, lane := range mem.lanes {
		v := load(b[i*n : i*n+n])
		if mem.t.class == 's' {
			v = extend(v, mem.t.bits) & lane.val
		}
		t.set(lane.reg, v)
	}
}

func doStore(t *thread, in *instr) {
	mem := in.mem
	b, o := t.memoryAt(mem, true)
	n := mem.t.bits / 8
	for i := range mem.lanes {
		store(b[i*n:i*n+n], t.get(&mem.lanes[i]))
	}
	if o != nil {
		t.record("st", mem, o, append([]byte(nil), b...))
	}
}

// copy is cp.async, which copies at once here.
func (r *reader) copy() {
	r.failIf(!r.take(".async"), "cp without .async is not supported")
	if r.takeAny(".commit_group", ".wait_group", ".wait_all") != "" {
		r.nothing()
		return
	}
	to, from := &memory{space: r.space()}, &memory{space: r.space()}
	r.dropHints()
	r.failIf(len(r.ops) != 3 && len(r.ops) != 4, "this form of cp.async is not supported")
	to.size = int(r.source(r.ops[2], u32, false).val)
	from.size = 1
	r.where(r.ops[0], to)
	r.where(r.ops[1], from)
	count := operand{val: uint64(to.size)}
	_, bits, _ := r.anyRegister(r.ops[len(r.ops)-1].First)
	if bits == 1 { // whether to ignore the source
		count = r.source(r.ops[3], pred, false)
	} else if len(r.ops) == 4 {
		count = r.source(r.ops[3], u32, false)
	}
	r.in.kind = kRun
	r.in.run = func(t *thread, in *instr) {
		n := int(t.get(&count))
		if bits == 1 {
			n = to.size * (1 - n)
		}
		b, _ := t.memoryAt(to, true)
		clear(b)
		for i := range min(n, len(b)) {
			one := *from
			one.off += uint64(i)
			v, _ := t.memoryAt(&one, false)
			b[i] = v[0]
		}
	}
}

// record adds a store to the trace.
func (t *thread) record(op string, mem *memory, o *Object, value []byte) {
	addr := mem.place(t)
	t.m.Stores = append(t.m.Stores, Store{t.m.launch, t.number(), op, o.Name, int64(addr - o.addr), value})
}

// cvta is PTX ISA, cvta.
func (r *reader) cvta() {
	to := r.take(".to")
	s := r.space()
	t := r.typ()
	r.failIf(s == generic || t.bits != 64, "cvta without a state space, or of 32 bits")
	r.operands(2)
	r.result(64)
	window := s.window()
	if r.f.decl.Kind == ptx.Func && s == param {
		window = localWindow
	}
	if to {
		window = -window
	}
	r.in.alu = func(a, _, _ uint64) uint64 { return a + window }
	r.addressOperand(r.ops[1], t, s)
}

// addressOperand makes an operand that may be the name of a variable, x, x+4 or x[1],
// the source of the instruction. The address of a parameter of a function is in .local.
func (r *reader) addressOperand(o ptx.Operand, t typ, in space) {
	if _, ok := r.named(o.First); !ok {
		r.in.src[0] = r.source(o, t, false)
		return
	}
	a := r.location(o)
	r.failIf(in != generic && a.fixed != in, "%s is in %s", r.operandText(o), a.fixed)
	if a.slot != nil && a.fixed == param {
		li := r.mustLocal(o.First)
		r.failIf(r.c.Locals[li].Kind != ptx.Parameter, "the address of %s, an argument of a call, cannot be taken", a.slot.name)
		a.slot.addressed = true
	}
	r.in.src[0] = a.base
	r.in.src[0].val += a.off
	if a.index.reg.kind == opReg {
		alu := r.in.alu
		r.in.kind = kRun
		r.in.run = func(t *thread, in *instr) { t.set(in.dst, alu(t.get(&in.src[0])+a.index.bytes(t), 0, 0)&in.mask) }
	}
}

func (r *reader) isspacep() {
	s := r.space()
	r.alu(1, func(a, _, _ uint64) uint64 { return truth(spaceAt(a) == s) }, u64)
}

// alloca is PTX ISA, Stack Manipulation Instructions.
func (r *reader) alloca() {
	t := r.typ()
	r.failIf(len(r.ops) != 2 && len(r.ops) != 3 || t.bits != 64, "this form of alloca is not supported")
	r.in.kind = kRun
	r.in.dst, _ = r.dest(r.ops[0], 64)
	r.in.src[0] = r.source(r.ops[1], t, false)
	r.in.src[1] = operand{val: 8}
	if len(r.ops) == 3 {
		r.in.src[1] = r.source(r.ops[2], u32, false)
	}
	r.in.run = func(t *thread, in *instr) {
		size, align := t.get(&in.src[0]), t.get(&in.src[1])
		at := alignedTo(t.frame.end()+redZone, int64(align))
		if at+size > stackSize || size > 1<<30 {
			t.fail("stack overflow by alloca of %d bytes", size)
		}
		t.fill(at, at+size)
		t.frame.dynamic = append(t.frame.dynamic, dynamicObject{at, size})
		t.set(in.dst, at)
	}
}
