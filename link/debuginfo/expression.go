package debuginfo

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"ptxlink/internal/dies"
)

// referenceSize is the size of a reference to a DIE, a padded LEB128, in a rewritten
// expression. It is enough for any distance in 32-bit DWARF.
const referenceSize = 5

// The operands of an operation of an expression. Operations without an entry are
// unknown, and an expression that contains one cannot be moved.
const (
	opNone   = iota + 1
	opAddr   // an address
	op1      // 1, 2, 4 or 8 bytes
	op2      //
	op4      //
	op8      //
	opU      // LEB128
	opS      // signed LEB128
	opUU     //
	opUS     //
	opBranch // 2 bytes, relative to the next operation
	opBlock  // a length and data
	opInner  // a length and an expression
	opRef2   // a DIE of the unit in 2 bytes
	opRef4   //
	opRefU   // a DIE of the unit as LEB128
	opRef0   // the same, 0 for the generic type
	opUrefU  // LEB128 and a DIE
	op1RefU  // a byte and a DIE
	opConst  // a DIE, a size in one byte, data
	opInfo   // an offset into .debug_info
	opInfoS  // that and a signed LEB128
)

var operands = func() (t [256]uint8) {
	set := func(kind uint8, ops ...int) {
		for _, op := range ops {
			t[op] = kind
		}
	}
	all := func(kind uint8, from, to int) {
		for op := from; op <= to; op++ {
			t[op] = kind
		}
	}
	set(opAddr, 0x03)
	all(opNone, 0x12, 0x27) // stack and arithmetic; some follow below
	all(opNone, 0x29, 0x2e) // comparisons
	all(opNone, 0x30, 0x6f) // lit0 to reg31
	all(opS, 0x70, 0x8f)    // breg0 to breg31
	set(opNone, 0x06, 0x96, 0x97, 0x9b, 0x9c, 0x9f, 0xe0, 0xf0)
	set(op1, 0x08, 0x09, 0x15, 0x94, 0x95)
	set(op2, 0x0a, 0x0b)
	set(op4, 0x0c, 0x0d)
	set(op8, 0x0e, 0x0f)
	set(opU, 0x10, 0x23, 0x90, 0x93)
	set(opS, 0x11, 0x91)
	set(opUS, 0x92)
	set(opUU, 0x9d)
	set(opBranch, 0x28, 0x2f)
	set(opBlock, 0x9e)
	set(opInner, 0xa3, 0xf3)            // entry_value
	set(opRef2, 0x98)                   // call2
	set(opRef4, 0x99, 0xfa)             // call4, GNU_parameter_ref
	set(opInfo, 0x9a, 0xfd)             // call_ref, GNU_variable_value
	set(opInfoS, 0xa0, 0xf2)            // implicit_pointer
	set(opConst, 0xa4, 0xf4)            // const_type
	set(opUrefU, 0xa5, 0xf5)            // regval_type
	set(op1RefU, 0xa6, 0xa7, 0xf6)      // deref_type, xderef_type
	set(opRef0, 0xa8, 0xa9, 0xf7, 0xf9) // convert, reinterpret
	return t
}()

// expression adds the patches for an expression of a unit to a section: references
// to DIEs move with the DIEs. It returns the size of the expression in the output.
func (m *Module) expression(l *layout, u *unit, from, end int64, depth int) (int64, *dies.Error) {
	const call4 = 0x99
	r := &dies.Reader{Section: l.data.Name, Data: l.data.Bytes[:end], At: from}
	if depth > 16 {
		r.Fail("expressions are nested too deep")
	}
	first := len(l.patches)
	var branches []branch
	var memory [16]int64
	starts := memory[:0] // of operations
	ref := func(off, end int64, size int32, kind patchKind, to uint64) {
		if !u.hasDIE(to) {
			r.Fail("an expression refers to no entry")
			return
		}
		l.patches = append(l.patches, patch{off: off, end: end, size: size, kind: kind, in: m.layouts[u.Section], value: u.Off + int64(to), from: u.Off})
	}
	refU := func(zero bool) {
		at := r.At
		if n := r.Uleb(); r.Err == nil && !(zero && n == 0) {
			ref(at, r.At, referenceSize, uleb, n)
		}
	}
	for r.At < end && r.Err == nil {
		at := r.At
		starts = append(starts, at)
		op := r.Uint(1)
		switch operands[op] {
		case opNone:
		case opAddr:
			if r.Skip(uint64(u.AddrSize)); l.pairs && r.Err == nil && m.isGone(l.fixupAt(at+1)) {
				l.put(at+1, r.At, make([]byte, u.AddrSize)) // 1 is for pairs
			}
		case op1:
			r.Skip(1)
		case op2:
			r.Skip(2)
		case op4:
			r.Skip(4)
		case op8:
			r.Skip(8)
		case opU:
			r.Uleb()
		case opS:
			r.Sleb()
		case opUU:
			r.Uleb()
			r.Uleb()
		case opUS:
			r.Uleb()
			r.Sleb()
		case opBranch:
			distance := int64(int16(r.Uint(2)))
			branches = append(branches, branch{r.At - 2, r.At + distance})
		case opBlock:
			r.Skip(r.Uleb())
		case opInner:
			at := r.At
			length := r.Uleb()
			inner := r.At
			if r.Skip(length); r.Err != nil {
				break
			}
			i := len(l.patches)
			l.patches = append(l.patches, patch{}) // the length comes first
			size, err := m.expression(l, u, inner, r.At, depth+1)
			if err != nil {
				return 0, err
			}
			bytes := binary.AppendUvarint(nil, uint64(size))
			l.patches[i] = l.literal(at, inner, bytes)
		case opRef2: // the distance may outgrow it
			if n := r.Uint(2); r.Err == nil {
				l.put(at, at+1, []byte{call4})
				ref(at+1, r.At, 4, reference, n)
			}
		case opRef4:
			if n := r.Uint(4); r.Err == nil && l.fixupAt(at+1) == nil {
				ref(at+1, r.At, 4, reference, n)
			}
		case opRefU:
			refU(false)
		case opRef0:
			refU(true)
		case opUrefU:
			r.Uleb()
			refU(false)
		case op1RefU:
			r.Skip(1)
			refU(false)
		case opConst:
			refU(false)
			r.Skip(r.Uint(1))
		case opInfo, opInfoS:
			if n := r.Uint(u.RefAddrSize()); r.Err == nil && l.fixupAt(at+1) == nil {
				if m.layouts[".debug_info"] == nil || n > uint64(len(m.layouts[".debug_info"].data.Bytes)) {
					r.Fail("an expression refers to no entry")
					break
				}
				l.putSection(at+1, r.At, m.layouts[".debug_info"], n)
			}
			if operands[op] == opInfoS {
				r.Sleb()
			}
		default:
			r.At = at
			r.Fail("operation 0x%x of an expression is not known", op)
		}
	}
	if r.Err != nil {
		return 0, r.Err
	}
	added := l.patches[first:]
	moved := make([]int64, len(added)+1) // by the patches before
	for i, p := range added {
		moved[i+1] = moved[i] + int64(p.size) - (p.end - p.off)
	}
	grown := moved[len(added)]
	if grown == 0 || len(branches) == 0 {
		return end - from + grown, nil
	}
	to := func(off int64) int64 {
		return off + moved[sort.Search(len(added), func(i int) bool { return added[i].end > off })]
	}
	for _, b := range branches {
		if _, ok := slices.BinarySearch(starts, b.target); !ok && b.target != end {
			return 0, &dies.Error{Section: l.data.Name, Offset: b.at, Text: "a branch of an expression leads to no operation"}
		}
		distance := to(b.target) - to(b.at+2)
		if distance != int64(int16(distance)) {
			return 0, &dies.Error{Section: l.data.Name, Offset: b.at, Text: "a branch of an expression becomes too long"}
		}
		l.put(b.at, b.at+2, appendUint(nil, uint64(distance), 2))
	}
	slices.SortStableFunc(l.patches[first:], func(a, b patch) int { return cmp.Compare(a.off, b.off) })
	return end - from + grown, nil
}

// branch returns the operand of DW_OP_skip or DW_OP_bra.
type branch struct{ at, target int64 }
