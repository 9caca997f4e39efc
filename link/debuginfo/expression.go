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

// operands holds the operands of each operation of an expression, a letter for each. An
// operation without letters is unknown, and an expression that contains one cannot be moved.
//
//   - none
//     1 2 4 8 so many bytes
//     a an address
//     u s LEB128, without and with a sign
//     b 2 bytes, the distance to an operation
//     k a length and data
//     e a length and an expression
//     h w a DIE of the unit in 2 or 4 bytes
//     r a DIE of the unit as LEB128
//     z the same, 0 for the generic type
//     c a size in one byte and data
//     i an offset into .debug_info
var operands = func() (t [256]string) {
	set := func(letters string, ops ...int) {
		for _, op := range ops {
			t[op] = letters
		}
	}
	all := func(letters string, from, to int) {
		for op := from; op <= to; op++ {
			t[op] = letters
		}
	}
	set("a", 0x03)
	all("-", 0x12, 0x27) // stack and arithmetic; some follow below
	all("-", 0x29, 0x2e) // comparisons
	all("-", 0x30, 0x6f) // lit0 to reg31
	all("s", 0x70, 0x8f) // breg0 to breg31
	set("-", 0x06, 0x96, 0x97, 0x9b, 0x9c, 0x9f, 0xe0, 0xf0)
	set("1", 0x08, 0x09, 0x15, 0x94, 0x95)
	set("2", 0x0a, 0x0b)
	set("4", 0x0c, 0x0d)
	set("8", 0x0e, 0x0f)
	set("u", 0x10, 0x23, 0x90, 0x93)
	set("s", 0x11, 0x91)
	set("us", 0x92)
	set("uu", 0x9d)
	set("b", 0x28, 0x2f)
	set("k", 0x9e)
	set("e", 0xa3, 0xf3)             // entry_value
	set("h", 0x98)                   // call2
	set("w", 0x99, 0xfa)             // call4, GNU_parameter_ref
	set("i", 0x9a, 0xfd)             // call_ref, GNU_variable_value
	set("is", 0xa0, 0xf2)            // implicit_pointer
	set("rc", 0xa4, 0xf4)            // const_type
	set("ur", 0xa5, 0xf5)            // regval_type
	set("1r", 0xa6, 0xa7, 0xf6)      // deref_type, xderef_type
	set("z", 0xa8, 0xa9, 0xf7, 0xf9) // convert, reinterpret
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
	for r.At < end && r.Err == nil {
		starts = append(starts, r.At)
		op := r.Uint(1)
		if operands[op] == "" {
			r.At--
			r.Fail("operation 0x%x of an expression is not known", op)
		}
		for _, operand := range operands[op] {
			at := r.At
			switch operand {
			case '1', '2', '4', '8':
				r.Skip(uint64(operand - '0'))
			case 'a':
				if r.Skip(uint64(u.AddrSize)); l.pairs && r.Err == nil && m.isGone(l.fixupAt(at)) {
					l.put(at, r.At, make([]byte, u.AddrSize)) // 1 is for pairs
				}
			case 'u':
				r.Uleb()
			case 's':
				r.Sleb()
			case 'b':
				distance := int64(int16(r.Uint(2)))
				branches = append(branches, branch{at, r.At + distance})
			case 'k':
				r.Skip(r.Uleb())
			case 'c':
				r.Skip(r.Uint(1))
			case 'e':
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
				l.patches[i] = l.literal(at, inner, binary.AppendUvarint(nil, uint64(size)))
			case 'h': // the distance may outgrow it
				if n := r.Uint(2); r.Err == nil {
					l.put(at-1, at, []byte{call4})
					ref(at, r.At, 4, reference, n)
				}
			case 'w':
				if n := r.Uint(4); r.Err == nil && l.fixupAt(at) == nil {
					ref(at, r.At, 4, reference, n)
				}
			case 'r', 'z':
				if n := r.Uleb(); r.Err == nil && (n != 0 || operand == 'r') {
					ref(at, r.At, referenceSize, uleb, n)
				}
			case 'i':
				if n := r.Uint(u.RefAddrSize()); r.Err == nil && l.fixupAt(at) == nil {
					info := m.layouts[".debug_info"]
					if info == nil || n > uint64(len(info.data.Bytes)) {
						r.Fail("an expression refers to no entry")
						break
					}
					l.putSection(at, r.At, info, n)
				}
			}
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
