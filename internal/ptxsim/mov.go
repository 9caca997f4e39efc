package ptxsim

import "ptxlink/object/ptx"

// vectorRegister returns the registers of a vector register, `.reg .v2 .u32 x`, that
// stands for all its elements.
func (r *reader) vectorRegister(o ptx.Operand) (regs []int32, bits int) {
	id, ok := r.c.Register(o.First)
	if !ok || o.End-o.First != 1 {
		return nil, 0
	}
	p := r.locals[id.Local]
	id.Number *= int64(p.lanes)
	for range p.lanes {
		regs = append(regs, r.register(id))
		id.Number++
	}
	return regs, p.bits
}

// elements translates the elements of {a, b} or of a vector register, of a type that depends on
// their number. wide accepts wider registers. It returns nil for other operands.
func (r *reader) elements(o ptx.Operand, element func(n int) typ, wide bool, translate func(ptx.Operand, typ) operand) (list []operand) {
	if regs, bits := r.vectorRegister(o); regs != nil {
		t := element(len(regs))
		r.failIf(bits != t.bits && !(wide && bits > t.bits), "elements of %s have %d bits, not %d", r.operandText(o), bits, t.bits)
		for _, n := range regs {
			list = append(list, operand{kind: opReg, reg: n, val: mask(bits)})
		}
		return list
	}
	if o.Shape != ptx.Vector {
		return nil
	}
	parts := r.c.Elements(o)
	t := element(len(parts))
	for _, p := range parts {
		list = append(list, translate(p, t))
	}
	return list
}

// mov is PTX ISA, mov, with packing and unpacking of vectors.
func (r *reader) mov() {
	vector := r.takeAny(".v2", ".v4")
	t := r.typ()
	r.failIf(t.bits == 8 || t.pair || t.bits == 16 && t.float(), "mov%s is not valid", t.word)
	r.operands(2)
	to, from := r.ops[0], r.ops[1]
	r.in.kind = kRun
	part := func(n int) typ {
		r.failIf(n == 0 || t.bits%n != 0, "mov%s of %d elements", t.word, n)
		return typ{"", 'b', t.bits / n, false}
	}
	if vector != "" {
		part = func(int) typ { return t }
	}
	srcs := r.elements(from, part, false, func(o ptx.Operand, t typ) operand { return r.source(o, t, false) })
	dsts := r.elements(to, part, false, func(o ptx.Operand, t typ) operand {
		reg, _ := r.dest(o, t.bits)
		return operand{kind: opReg, reg: reg}
	})
	n := len(srcs)
	r.failIf(vector != "" && n != int(vector[2]-'0') || n > 0 && len(dsts) > 0 && n != len(dsts), "mov%s%s of %d and %d elements", vector, t.word, n, len(dsts))
	if len(srcs) > 0 && len(dsts) > 0 { // element by element
		r.in.run = func(t *thread, in *instr) {
			values := make([]uint64, len(srcs))
			for i := range srcs {
				values[i] = t.get(&srcs[i])
			}
			for i, d := range dsts {
				t.set(d.reg, values[i])
			}
		}
		return
	}
	if len(srcs) > 0 {
		r.in.dst, _ = r.dest(to, t.bits)
		width := t.bits / len(srcs)
		r.in.run = func(t *thread, in *instr) {
			v := uint64(0)
			for i := range srcs {
				v |= t.get(&srcs[i]) << (i * width)
			}
			t.set(in.dst, v)
		}
		return
	}
	if len(dsts) > 0 {
		r.in.src[0] = r.source(from, t, false)
		width := t.bits / len(dsts)
		r.in.run = func(t *thread, in *instr) {
			v := t.get(&in.src[0])
			for i, d := range dsts {
				t.set(d.reg, v>>(i*width)&mask(width))
			}
		}
		return
	}
	r.in.kind = kAlu
	r.result(t.bits)
	r.in.alu = func(a, _, _ uint64) uint64 { return a }
	if t.bits >= 32 && !t.float() {
		r.addressOperand(from, t, generic)
	} else {
		r.in.src[0] = r.source(from, t, false)
	}
}
