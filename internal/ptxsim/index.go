package ptxsim

import "ptxlink/object/ptx"

// index is the brackets of an operand x[n] or x[r+n], which stands for an address n
// elements behind x. ptxas multiplies in 32 bits and does not extend the sign: x[-1] is
// 4294967292 bytes behind a .u32 array in .global. See TestMeaningsPtxas.
type index struct {
	reg   operand // the register, or the constant 0
	off   uint64
	scale uint64 // 0 if the operand has no index
}

// bytes returns the offset.
func (x *index) bytes(t *thread) uint64 {
	return uint64(uint32((t.get(&x.reg) + x.off) * x.scale))
}

// indexed reports whether an operand is x[n].
func (r *reader) indexed(o ptx.Operand) bool {
	return o.End-o.First > 3 && r.c.Tokens[o.First].Kind == ptx.Ident && r.isPunct(o.First+1, '[') && r.isPunct(o.End-1, ']')
}

// index translates the brackets of an operand. Those of a constant have no register.
func (r *reader) index(o ptx.Operand) (x index) {
	x.scale = r.scale(o.First)
	at, end := o.First+2, o.End-1
	e := r.expr("index", o, at, end)
	if n, bits, ok := r.anyRegister(at); ok {
		r.failIf(bits != 32 && bits != 64, "register %s has %d bits and cannot be an index", r.text(at), bits)
		x.reg = operand{kind: opReg, reg: n}
		if e.at++; e.at < end && !e.take('+') { // x[r-1] is not valid
			e.fail("'+' expected")
		}
	}
	if e.at < end {
		x.off = e.sum()
	}
	e.done()
	return x
}

// scale returns the size of one step of an index: that of the element word, also for
// vectors and arrays of arrays, or one byte for an array that is only declared x[].
func (r *reader) scale(token int32) uint64 {
	ref := r.c.Reference(int(token))
	if li, ok := ref.Local(); ok {
		return r.step(r.c.Locals[li].Type.Type, token)
	}
	// The declarations before the body count. Once one has the size of the array, it
	// stays known.
	id, _ := ref.Name()
	var found *ptx.Decl
	for i := range r.f.mod.Decls {
		d := &r.f.mod.Decls[i]
		if d.Name == id && d.Kind == ptx.Variable && d.Span.Off < r.f.decl.Span.Off && (found == nil || found.Unsized) {
			found = d
		}
	}
	r.failIf(found == nil, "%s is not declared before %s", r.text(token), r.f.name)
	return r.step(found.Type, token)
}

func (r *reader) step(t ptx.Type, token int32) uint64 {
	r.failIf(!t.Array, "index on %s, which is not an array", r.text(token))
	if t.Unsized {
		return 1
	}
	return uint64(ptx.TypeSize(t.Word))
}
