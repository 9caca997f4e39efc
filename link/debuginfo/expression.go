package debuginfo

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"ptxlink/internal/dies"
)

// referenceSize is the size of a reference to a DIE in a rewritten expression, a padded LEB128. It
// must hold any distance in 32-bit DWARF.
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

// expression adds to a section the patches for an expression of a unit, because references to DIEs
// must move with the DIEs. It returns the size of the expression in the output.
func (m *Module) expression(l *layout, u *unit, from, end int64, depth int) (int64, *dies.Error) {
	x := expression{
		Reader: dies.Reader{Section: l.data.Name, Data: l.data.Bytes[:end], At: from},
		module: m, layout: l, unit: u, depth: depth, first: len(l.patches),
	}
	if depth > 16 {
		x.Fail("expressions are nested too deep")
	}
	var memory [16]int64
	starts := memory[:0] // of operations
	for x.At < end && x.Err == nil {
		starts = append(starts, x.At)
		op := x.Uint(1)
		if operands[op] == "" {
			x.At--
			x.Fail("operation 0x%x of an expression is not known", op)
		}
		for _, letter := range operands[op] {
			x.operand(letter)
		}
	}
	if x.Err != nil {
		return 0, x.Err
	}
	grown := x.moveBranches(starts)
	return end - from + grown, x.Err
}

type expression struct {
	dies.Reader
	module   *Module
	layout   *layout
	unit     *unit
	depth    int
	first    int // the first patch of the expression
	branches []branch
}

type branch struct{ at, target int64 }

// operand reads an operand and adds the patch that it needs.
func (x *expression) operand(letter rune) {
	const call4 = 0x99
	l, u, at := x.layout, x.unit, x.At
	switch letter {
	case '1', '2', '4', '8':
		x.Skip(uint64(letter - '0'))
	case 'a':
		if x.Skip(uint64(u.AddrSize)); l.pairs && x.Err == nil && x.module.isGone(l.fixupAt(at)) {
			l.put(at, x.At, make([]byte, u.AddrSize)) // 1 is for pairs only
		}
	case 'u':
		x.Uleb()
	case 's':
		x.Sleb()
	case 'b':
		distance := int64(int16(x.Uint(2)))
		x.branches = append(x.branches, branch{at, x.At + distance})
	case 'k':
		x.Skip(x.Uleb())
	case 'c':
		x.Skip(x.Uint(1))
	case 'e':
		x.nested()
	case 'h': // the distance may outgrow 2 bytes
		if n := x.Uint(2); x.Err == nil {
			l.put(at-1, at, []byte{call4})
			x.reference(at, 4, reference, n)
		}
	case 'w':
		if n := x.Uint(4); x.Err == nil && l.fixupAt(at) == nil {
			x.reference(at, 4, reference, n)
		}
	case 'r', 'z':
		if n := x.Uleb(); x.Err == nil && (n != 0 || letter == 'r') {
			x.reference(at, referenceSize, uleb, n)
		}
	case 'i':
		if n := x.Uint(u.RefAddrSize()); x.Err == nil && l.fixupAt(at) == nil {
			info := x.module.layouts[".debug_info"]
			if info == nil || n > uint64(len(info.data.Bytes)) {
				x.Fail("an expression refers to no entry")
				return
			}
			l.putSection(at, x.At, info, n)
		}
	}
}

// reference adds the patch for a reference that has just been read: it starts at a place and refers
// to a DIE of the unit.
func (x *expression) reference(at int64, size int32, kind patchKind, to uint64) {
	u := x.unit
	if !u.hasDIE(to) {
		x.Fail("an expression refers to no entry")
		return
	}
	x.layout.patches = append(x.layout.patches, patch{off: at, end: x.At, size: size, kind: kind, in: x.module.layouts[u.Section], value: u.Off + int64(to), from: u.Off})
}

// nested reads an operand that is an expression after its length.
func (x *expression) nested() {
	l, at := x.layout, x.At
	length := x.Uleb()
	inner := x.At
	if x.Skip(length); x.Err != nil {
		return
	}
	i := len(l.patches)
	l.patches = append(l.patches, patch{}) // for the length, whose patch must come first
	size, err := x.module.expression(l, x.unit, inner, x.At, x.depth+1)
	if err != nil {
		x.Err = err
		return
	}
	l.patches[i] = l.literal(at, inner, binary.AppendUvarint(nil, uint64(size)))
}

// moveBranches adds the patches for branches, which must change if they cross bytes that change
// their size. starts are the places of the operations. It returns the number of bytes by which the
// expression grows.
func (x *expression) moveBranches(starts []int64) (grown int64) {
	l := x.layout
	added := l.patches[x.first:]
	for i := range added {
		grown += added[i].growth()
	}
	if grown == 0 || len(x.branches) == 0 {
		return grown
	}
	moved := make([]int64, len(added)+1) // the distance that the patches before each one move it by
	for i := range added {
		moved[i+1] = moved[i] + added[i].growth()
	}
	to := func(off int64) int64 {
		return off + moved[sort.Search(len(added), func(i int) bool { return added[i].end > off })]
	}
	for _, b := range x.branches {
		x.At = b.at // the place of an error
		if _, ok := slices.BinarySearch(starts, b.target); !ok && b.target != int64(len(x.Data)) {
			x.Fail("a branch of an expression leads to no operation")
			return grown
		}
		distance := to(b.target) - to(b.at+2)
		if distance != int64(int16(distance)) {
			x.Fail("a branch of an expression becomes too long")
			return grown
		}
		l.put(b.at, b.at+2, appendUint(nil, uint64(distance), 2))
	}
	slices.SortStableFunc(l.patches[x.first:], func(a, b patch) int { return cmp.Compare(a.off, b.off) })
	return grown
}
