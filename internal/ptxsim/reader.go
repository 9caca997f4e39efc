package ptxsim

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ptxlink/internal/parallel"
	"ptxlink/object/ptx"
)

// reader translates the body of one function into instructions. An instruction that
// it cannot translate becomes one that fails when it is executed.
type reader struct {
	m      *Machine
	f      *function
	c      *ptx.Code
	locals []place                  // by index of Code.Locals
	regs   map[ptx.RegisterID]int32 // register numbers; the lanes of vectors count as ranges
	labels map[int32]int32          // label to instruction

	// The current instruction.
	st   ptx.Statement
	op   string
	mods []string // those not yet taken
	ops  []ptx.Operand
	in   instr
}

// place is where a local of a function is.
type place struct {
	kind  ptx.LocalKind
	slot  *slot   // the first one of a range
	slots []*slot // of a range
	param *Object // of an entry
	sym   *symbol // a static object
	bits  int     // of a register
	lanes int     // of a vector register
}

// scan reads the declarations of a function and places its static objects.
func (m *Machine) scan(f *function) *reader {
	c := f.mod.Code(f.decl)
	r := &reader{m: m, f: f, c: c, regs: map[ptx.RegisterID]int32{}, labels: map[int32]int32{}}
	f.align = 16
	formals := f.decl.Signature.Len()
	for i := range c.Locals {
		l := &c.Locals[i]
		p := place{kind: l.Kind}
		name := f.mod.Src.String(l.Name)
		s := &slot{name: name, size: l.Type.Size(), align: l.Type.Alignment(), unsized: l.Type.Unsized}
		switch {
		case l.Kind == ptx.Register || l.Type.Space == ".reg":
			p.kind = ptx.Register
			p.bits, p.lanes = int(8*ptx.TypeSize(l.Type.Word)), int(l.Type.Vector)
			if l.Type.Word == ".pred" {
				p.bits = 1
			}
		case l.Kind == ptx.Parameter && f.decl.Kind == ptx.Entry:
			p.param = &Object{Name: name, Space: ".param", size: s.size, align: s.align}
			f.entry.add(p.param)
		case l.Kind == ptx.Parameter, l.Kind == ptx.Object && (l.Type.Space == ".param" || l.Type.Space == ".local"):
			if s.size < 0 {
				f.mod.fail(l.Name.Off, "the size of %s is unknown", name)
			}
			s.addressed = l.Type.Space == ".local"
			p.slot = s
			if l.Count >= 0 {
				p.slots = make([]*slot, l.Count)
				for n := range p.slots {
					one := *s
					one.name = fmt.Sprint(name, n)
					p.slots[n] = &one
				}
				f.slots = append(f.slots, p.slots...)
			} else {
				f.slots = append(f.slots, s)
			}
		case l.Kind == ptx.Object:
			p.sym = &symbol{name: f.name + "." + name, kind: ptx.Variable, mod: f.mod}
			if l.Type.Unsized { // .extern .shared in a body
				f.mod.fail(l.Name.Off, "%s has no size", name)
			}
			o := &Object{Name: p.sym.name, size: l.Type.Size(), align: l.Type.Alignment()}
			m.defineObject(p.sym, o, l.Type.Space, l.Name.Off)
		}
		r.locals = append(r.locals, p)
		if i < formals {
			formal := actual{slot: p.slot, reg: -1, size: l.Type.Size()}
			if p.kind == ptx.Register {
				formal.reg = r.register(ptx.RegisterID{Local: int32(i)})
				formal.val = operand{kind: opReg, reg: formal.reg}
			}
			if i < len(f.decl.Signature.Results) {
				f.results = append(f.results, formal)
			} else {
				f.params = append(f.params, formal)
			}
		}
	}
	sort.SliceStable(f.slots, func(i, j int) bool { return !f.slots[i].unsized && f.slots[j].unsized })
	for _, s := range f.slots {
		s.off = int64(alignedTo(f.size, s.align))
		f.align = max(f.align, s.align)
		f.size = uint64(s.off + s.size)
		if s.addressed {
			f.size += redZone
		}
	}
	r.initialValues()
	return r
}

// initialValues stores the initial values of static objects in the body.
func (r *reader) initialValues() {
	for _, st := range r.c.Statements {
		if st.Kind != ptx.Directive {
			continue
		}
		for i := st.First; i < st.End; i++ {
			li, ok := r.c.Reference(int(i)).Local()
			if !ok || r.c.Tokens[i].Role() != ptx.Declares || r.locals[li].sym == nil {
				continue
			}
			eq := i + 1
			for !r.isPunct(eq, '=') && !r.isPunct(eq, ',') && !r.isPunct(eq, ';') {
				eq++ // dimensions
			}
			if !r.isPunct(eq, '=') {
				continue
			}
			l := r.c.Locals[li]
			dims := l.Name
			dims.Off = l.Name.End()
			dims.Len = r.c.Tokens[eq].Off - dims.Off
			r.f.mod.initialise(r.c, eq+1, st.End, l.Type.Type, r.f.mod.dims(dims), r.locals[li].sym.obj)
		}
	}
}

// translate makes the instructions of the function.
func (r *reader) translate() {
	f := r.f
	for _, st := range r.c.Statements {
		switch st.Kind {
		case ptx.LabelStatement:
			if li, ok := r.c.Reference(int(st.Op)).Local(); ok {
				r.labels[li] = int32(len(f.code))
			}
		case ptx.Instruction:
			r.instruction(st)
		}
	}
	f.code = append(f.code, instr{kind: kLeave, run: (*thread).doReturn, guard: -1, dst: -1, off: f.decl.Body.End() - 1})
	for i := range f.code {
		in := &f.code[i]
		for k, label := range in.targets {
			at, ok := r.labels[label]
			if !ok {
				*in = instr{kind: kJump, run: fault("branch to a label that is not in the function"), guard: -1, dst: -1, off: in.off}
				break
			}
			in.targets[k] = at
		}
	}
	f.fill = make([]uint64, f.registers)
	pattern := uint64(r.m.opt.Fill) * 0x0101010101010101
	for id, n := range r.regs {
		f.fill[n] = pattern & mask(r.locals[id.Local].bits)
	}
}

func (r *reader) instruction(st ptx.Statement) {
	r.st, r.op, r.mods, r.ops = st, r.c.Opcode(st), r.c.Modifiers(st), r.c.Operands(st)
	r.in = instr{guard: -1, dst: -1, dst2: -1, off: r.c.Tokens[st.Op].Off}
	if why := parallel.Catch[unsupported](func() { r.decode(st) }); why != "" {
		// The guard stays: an instruction that is never executed does no harm.
		r.in = instr{kind: kJump, run: fault(string(why)), guard: r.in.guard, unless: r.in.unless, dst: -1, off: r.in.off}
	}
	r.f.code = append(r.f.code, r.in)
}

// unsupported is why an instruction cannot be translated: what fail panics with.
type unsupported string

// decode translates the guard, modifiers and operands of the current instruction.
func (r *reader) decode(st ptx.Statement) {
	if st.Guarded() {
		at := st.First + 1
		if r.c.Tokens[at].Kind == ptx.Punct { // !
			r.in.unless = true
			at++
		}
		r.in.guard, _ = r.registerAt(at, 1)
	}
	translate := opcodes[r.op]
	r.failIf(translate == nil, "instruction %s is not supported", r.op)
	translate(r)
	if len(r.mods) > 0 {
		r.fail("%s%s: %s is not supported", r.op, strings.Join(r.c.Modifiers(st), ""), r.mods[0])
	}
}

// fail ends the translation of the instruction, which cannot be translated.
func (r *reader) fail(format string, args ...any) {
	panic(unsupported(fmt.Sprintf(format, args...)))
}

// failIf is fail where the instruction does not fit.
func (r *reader) failIf(unfit bool, format string, args ...any) {
	if unfit {
		r.fail(format, args...)
	}
}

// takeIf removes the first modifier that fits, and returns it.
func (r *reader) takeIf(fits func(word string) bool) string {
	i := slices.IndexFunc(r.mods, fits)
	if i < 0 {
		return ""
	}
	word := r.mods[i]
	r.mods = slices.Delete(r.mods, i, i+1)
	return word
}

// take removes a modifier and reports whether it was there.
func (r *reader) take(word string) bool { return r.takeAny(word) != "" }

// takeAny removes the first modifier that is one of these words, and returns it.
func (r *reader) takeAny(words ...string) string {
	return r.takeIf(func(w string) bool { return slices.Contains(words, w) })
}

// typ takes the first modifier that is a type.
func (r *reader) typ() (t typ) {
	if r.takeIf(func(w string) (ok bool) { t, ok = typeOf(w); return ok }) == "" {
		r.fail("%s has no type that is supported", r.op)
	}
	return t
}

// operands checks the number of operands.
func (r *reader) operands(n int) {
	r.failIf(len(r.ops) != n, "%s has %d operands, not %d", r.op, len(r.ops), n)
}

// slotAt returns the object in the frame that a token names, or nil.
func (r *reader) slotAt(token int32) *slot {
	li, ok := r.c.Reference(int(token)).Local()
	if !ok {
		return nil
	}
	p := r.locals[li]
	if r.c.Locals[li].Count < 0 {
		return p.slot
	}
	if n, err := strconv.Atoi(r.text(token)[r.c.Locals[li].Name.Len:]); err == nil && n < len(p.slots) {
		return p.slots[n]
	}
	return nil
}

// text returns the spelling of a token.
func (r *reader) text(token int32) string { return string(r.c.Text(r.c.Tokens[token])) }

// isPunct reports whether a token is this byte.
func (r *reader) isPunct(token int32, ch byte) bool {
	t := r.c.Tokens[token]
	return t.Kind == ptx.Punct && t.Ch == ch
}

// register returns the number of a register.
func (r *reader) register(id ptx.RegisterID) int32 {
	n, ok := r.regs[id]
	if !ok {
		n = int32(r.f.registers)
		r.f.registers++
		r.regs[id] = n
	}
	return n
}

// registerAt returns the register that a token names, which must have this width;
// 0 accepts any width.
func (r *reader) registerAt(token int32, bits int) (n int32, width int) {
	n, have, ok := r.anyRegister(token)
	r.failIf(!ok, "%s is not a register", r.text(token))
	r.failIf(bits != 0 && have != bits, "register %s has %d bits, not %d", r.text(token), have, bits)
	return n, have
}

// anyRegister returns the register that a token names, and its width.
func (r *reader) anyRegister(token int32) (n int32, bits int, ok bool) {
	id, ok := r.c.Register(token)
	if !ok {
		return 0, 0, false
	}
	p := r.locals[id.Local]
	if p.lanes > 0 {
		id.Number *= int64(p.lanes)
		if next := token + 1; next < r.st.End && r.c.Tokens[next].Kind == ptx.Word {
			lane := r.text(next)[1]
			id.Number += int64(max(0, strings.IndexByte("xyzw", lane), strings.IndexByte("rgba", lane)))
		}
	}
	return r.register(id), p.bits, true
}
