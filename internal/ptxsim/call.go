package ptxsim

import (
	"slices"

	"ptxlink/object/ptx"
)

// call is a call instruction.
type call struct {
	target  operand // the address of the function
	sym     *symbol // of a direct call
	results []actual
	args    []actual
	proto   *ptx.Signature // of an indirect call
}

// actual is an argument or result of a call, or a parameter or result of a function: an object in
// the frame, or a value.
type actual struct {
	slot *slot
	val  operand
	reg  int32 // where it is stored; -1 for nowhere
	size int64 // -1 if unknown
}

func (r *reader) trap() { r.in.kind, r.in.run = kJump, fault("trap") }

// fault returns what fails when it is executed.
func fault(text string) func(t *thread, in *instr) {
	return func(t *thread, _ *instr) { t.fail("%s", text) }
}

// nothing is an instruction without an effect here.
func (r *reader) nothing() { r.mods, r.in.kind, r.in.run = nil, kRun, func(*thread, *instr) {} }

// leave is ret or exit.
func (r *reader) leave() {
	r.take(".uni")
	r.operands(0)
	r.in.kind, r.in.run = kLeave, (*thread).doReturn
	if r.op == "exit" {
		r.in.run = func(t *thread, _ *instr) { t.exit() }
	}
}

func (r *reader) label(token int32) int32 {
	li, ok := r.c.Reference(int(token)).Local()
	r.failIf(!ok || r.locals[li].kind < ptx.CodeLabel, "%s is not a label", r.text(token))
	return li
}

func (r *reader) branch() {
	r.take(".uni")
	r.operands(1)
	r.in.kind, r.in.targets = kJump, []int32{r.label(r.ops[0].First)}
	r.in.run = func(t *thread, in *instr) { t.frame.pc = in.targets[0] }
}

// indexedBranch is brx.idx with its list of labels.
func (r *reader) indexedBranch() {
	r.take(".uni")
	r.failIf(!r.take(".idx"), "brx without .idx is not supported")
	r.operands(2)
	r.in.kind = kJump
	r.in.src[0] = r.source(r.ops[0], u32, false)
	r.in.run = func(t *thread, in *instr) {
		i := t.get(&in.src[0])
		if i >= uint64(len(in.targets)) {
			t.fail("index %d in a list of %d targets", i, len(in.targets))
		}
		t.frame.pc = in.targets[i]
	}
	list := r.label(r.ops[1].First)
	for _, st := range r.c.Statements {
		if st.Kind != ptx.LabelStatement {
			continue
		}
		if li, ok := r.c.Reference(int(st.Op)).Local(); !ok || li != list {
			continue
		}
		// The directive follows its label.
		for i := st.End; i < int32(len(r.c.Tokens)) && !r.isPunct(i, ';'); i++ {
			for _, tr := range r.c.TargetRanges {
				if tr.Span.Off == r.c.Tokens[i].Off {
					r.targets(tr.Targets...)
				}
			}
			r.targets(r.c.Reference(int(i)))
		}
		return
	}
	r.fail("no list of targets")
}

// targets adds those that are labels to the targets of a branch. translate replaces them by the
// places of their instructions.
func (r *reader) targets(refs ...ptx.Reference) {
	for _, ref := range refs {
		if li, ok := ref.Local(); ok && r.locals[li].kind >= ptx.CodeLabel {
			r.in.targets = append(r.in.targets, li)
		}
	}
}

// call is `call (results), function, (arguments), prototype`.
func (r *reader) call() {
	r.take(".uni")
	c := &call{}
	r.in.kind, r.in.run, r.in.call = kJump, (*thread).doCall, c
	ops := r.ops
	if len(ops) > 0 && ops[0].Shape == ptx.List {
		for _, o := range r.c.Elements(ops[0]) {
			c.results = append(c.results, r.actual(o, true))
		}
		ops = ops[1:]
	}
	r.failIf(len(ops) == 0, "call without a function")
	target := ops[0]
	ops = ops[1:]
	proto := r.prototype(target)
	if len(ops) > 0 && ops[0].Shape == ptx.List {
		for i, o := range r.c.Elements(ops[0]) {
			a := r.actual(o, false)
			if a.slot == nil && a.val.kind == opConst {
				a.val.val = r.literal(o, proto, i)
			}
			c.args = append(c.args, a)
		}
		ops = ops[1:]
	}
	if id, ok := r.c.Reference(int(target.First)).Name(); ok {
		c.sym = r.f.mod.symbols[id]
		r.failIf(c.sym == nil || c.sym.kind == ptx.Variable, "%s is not a function", r.text(target.First))
		return
	}
	c.target.kind = opReg
	c.target.reg, _ = r.registerAt(target.First, 64)
	r.failIf(proto == nil && len(ops) != 1, "indirect call without a prototype") // nor through .calltargets
	c.proto = proto
}

// prototype returns the types that a call is compiled with: those of the declaration of
// the function in this module, or of .callprototype; nil for other calls.
func (r *reader) prototype(target ptx.Operand) *ptx.Signature {
	if id, ok := r.c.Reference(int(target.First)).Name(); ok {
		for i := range r.f.mod.Decls {
			if d := &r.f.mod.Decls[i]; d.Name == id && d.Kind != ptx.Variable {
				return d.Signature
			}
		}
		return nil
	}
	for _, call := range r.f.mod.CallsIn(r.f.decl) {
		if call.Span.Off == r.c.Tokens[r.st.Op].Off && call.Proto >= 0 {
			return r.f.mod.Prototypes[call.Proto].Signature
		}
	}
	return nil
}

// literal returns what ptxas passes for a constant argument, by the type of the
// parameter (see TestMeaningsPtxas): .f32 converts a decimal or 0d literal, .b32 takes
// the low word of the double that it stands for, types of 16 and 8 bits take nothing,
// and .f64 takes the bits of an 0f literal. Integers fit no float type, and float
// literals no integer type.
func (r *reader) literal(o ptx.Operand, proto *ptx.Signature, n int) uint64 {
	last := r.text(o.End - 1)
	if proto == nil || n >= len(proto.Params) || !isFloat(last) {
		t := typ{word: "", class: 'b', bits: 64}
		if proto != nil && n < len(proto.Params) {
			if p, ok := typeOf(proto.Params[n].Word); ok && p.float() {
				r.fail("integer %s for a parameter of %s", r.operandText(o), p.word)
			}
		}
		return r.constant(o, t)
	}
	t, _ := typeOf(proto.Params[n].Word)
	single := isSingle(last)
	switch {
	case t.class == 'u' || t.class == 's', t.pair && !single, single && o.End-o.First > 1:
		r.fail("literal %s for a parameter of %s", r.operandText(o), t.word)
	case t.bits < 32, t.pair:
	case t.word == ".f32":
		return r.constant(o, t)
	case single:
		return r.constant(o, b32)
	default:
		return r.constant(o, typ{".f64", 'f', 64, false}) // the low word, if it is for .b32
	}
	return 0
}

// actual translates one argument or result of a call.
func (r *reader) actual(o ptx.Operand, result bool) actual {
	if s := r.slotAt(o.First); s != nil && o.End-o.First == 1 {
		return actual{slot: s, size: s.size, reg: -1}
	}
	if n, bits, ok := r.anyRegister(o.First); ok {
		return actual{val: operand{kind: opReg, reg: n}, reg: n, size: int64(max(8, bits) / 8)}
	}
	if result {
		reg, _ := r.dest(o, 0)
		return actual{reg: reg, size: -1}
	}
	return actual{reg: -1, size: -1} // see literal
}

// doCall starts the function that a call names.
func (t *thread) doCall(in *instr) {
	c := in.call
	var f *function
	if c.sym != nil {
		if c.sym.fn == nil && c.sym.builtin == nil {
			t.fail("call of %s, which is not defined", c.sym.name)
		}
		if c.sym.builtin != nil {
			c.sym.builtin(t, c)
			t.frame.pc++
			return
		}
		f = c.sym.fn
	} else {
		addr := t.get(&c.target)
		if f = t.m.funcs[addr]; f == nil {
			t.fail("call of 0x%x, which is not a function", addr)
		}
		if c.proto != nil && !(agree(c.proto.Results, f.results) && agree(c.proto.Params, f.params)) {
			t.fail("call of %s through a prototype with other sizes", f.name)
		}
	}
	if len(c.args) != len(f.params) || len(c.results) != len(f.results) {
		t.fail("call of %s with %d arguments and %d results, which has %d and %d", f.name, len(c.args), len(c.results), len(f.params), len(f.results))
	}
	extra := uint64(0)
	if n := len(f.params); n > 0 && f.params[n-1].slot != nil && f.params[n-1].slot.unsized {
		extra = uint64(max(0, c.args[n-1].size))
	}
	fr := t.enter(f, in, extra)
	for i, p := range f.params {
		a := &c.args[i]
		size := p.size
		if p.slot != nil && p.slot.unsized {
			size = int64(extra)
			fr.dynamic = append(fr.dynamic, dynamicObject{fr.base + uint64(p.slot.off), extra})
		}
		if a.size >= 0 && a.size != size {
			t.fail("argument %d of the call of %s has %d bytes, its parameter %d", i, f.name, a.size, size)
		}
		t.put(&p, fr, t.bytesOf(a, t.frame, size))
	}
	t.push(fr)
}

// agree reports whether a prototype has the sizes of a function.
func agree(proto []ptx.Type, list []actual) bool {
	return slices.EqualFunc(proto, list, func(t ptx.Type, f actual) bool {
		if f.slot != nil && f.slot.unsized {
			return t.Unsized
		}
		return !t.Unsized && t.Size() == f.size
	})
}

// bytesOf returns the bytes of an argument.
func (t *thread) bytesOf(a *actual, fr *frame, size int64) []byte {
	if a.slot != nil {
		return t.local[fr.base+uint64(a.slot.off):][:size]
	}
	b := make([]byte, max(8, size))
	store(b[:8], t.get(&a.val))
	return b[:size]
}

// put stores an argument or result in a frame.
func (t *thread) put(a *actual, fr *frame, b []byte) {
	if a.slot != nil {
		copy(t.local[fr.base+uint64(a.slot.off):], b)
	} else if a.reg >= 0 {
		fr.regs[a.reg] = load(b[:min(8, len(b))])
	}
}

// doReturn ends the innermost function and copies its results.
func (t *thread) doReturn(*instr) {
	fr := t.frame
	if len(t.frames) == 1 {
		t.exit()
		return
	}
	caller := t.frames[len(t.frames)-2]
	c := fr.site.call
	for i, res := range fr.fn.results {
		a := &c.results[i]
		if a.size >= 0 && a.size != res.size {
			t.fail("result %d of %s has %d bytes, %d expected", i, fr.fn.name, res.size, a.size)
		}
		t.put(a, caller, t.bytesOf(&res, fr, res.size))
	}
	t.pop()
	t.frame.pc++
}
