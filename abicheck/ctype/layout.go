package ctype

import (
	"fmt"
	"iter"
	"slices"
	"strconv"

	"ptxlink/object/diag"
)

// Layout describes where the parts of a type are in memory. Bits count from the
// least significant bit of the first byte, because GPUs are little-endian: bit 10 is bit 2 of byte
// 1.
type Layout struct {
	Type        *Type
	Size, Align int64          // bytes
	Members     []MemberLayout // of a Struct or Union, in declaration order, including unnamed ones
	Elem        *Layout        // of an Array
}

// MemberLayout describes where a member is in its struct or union.
type MemberLayout struct {
	Member
	Bit       int64 // the first bit; 0 for the alternatives of a Union
	Bits      int64 // number of bits; 0 for a zero-width bit field and an empty array
	Alignment int64 // bytes, as required of its struct: its type's, changed by Align, packed, and bit fields without a name
	Layout    *Layout
}

// Error describes why a type cannot be laid out.
type Error struct {
	Path string    // the member, "a.b"; empty for the type itself
	Span diag.Span // where Parse read it
	Text string
	Help string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// maxSize limits the size of a type, in bytes, so that no position overflows.
const maxSize = 1 << 50

// LayOut finds the place of every member (PTX Interoperability 1.2 and 1.3; the
// numbers are the same as from clang for nvptx64 and nvcc, see testdata/abi/README.md). Errors are
// of type *[Error].
//
//  1. A member goes to the lowest free offset of its alignment: the alignment of its
//     type, or 1 byte if it is packed, raised by Align.
//  2. A bit field goes to the lowest free bit from which it does not cross a
//     boundary of its declared type. So it may share a unit with its neighbours,
//     including members other than bit fields. A packed one may cross, and one
//     with Align starts at such a boundary.
//  3. A zero-width bit field moves the next member to a boundary of its type,
//     packed or not, and does nothing in a union.
//  4. The type has the alignment of its strictest member. Unnamed bit fields,
//     zero-width or not, do not count. Compilers do the same in unions.
//  5. The size is a multiple of the alignment. It is 1 without members, or 0 in C.
//  6. Under #pragma pack(N), no alignment within the type exceeds N, and a bit field goes
//     to the next free bit.
func LayOut(t *Type, m Model) (*Layout, error) {
	b := layouter{model: m, done: map[*Type]*Layout{}}
	return b.layOut(t)
}

type layouter struct {
	model Model
	done  map[*Type]*Layout // nil while a type is being laid out
	depth int

	tooDeep *Error
}

// maxNesting limits the depth of types in types, because layOut is recursive.
const maxNesting = 1000

func (b *layouter) layOut(t *Type) (*Layout, error) {
	if t == nil {
		return nil, &Error{Text: "void has no size", Help: "a pointer to it has: void *"}
	}
	if l, known := b.done[t]; known {
		if l == nil {
			return nil, &Error{Text: t.String() + " contains itself", Help: "make the member a pointer"}
		}
		return l, nil
	}
	if b.depth == maxNesting && b.tooDeep == nil {
		b.tooDeep = &Error{Text: fmt.Sprintf("%s is nested more than %d deep", t, maxNesting)}
	}
	if b.tooDeep != nil { // so that it is not asked again on every way to it
		return nil, b.tooDeep
	}
	b.done[t] = nil
	b.depth++
	l, err := b.compute(t)
	b.depth--
	if err != nil {
		delete(b.done, t)
		return nil, err
	}
	if l.Size > maxSize {
		return nil, &Error{Text: fmt.Sprintf("%s is larger than %d bytes", t, int64(maxSize))}
	}
	b.done[t] = l
	return l, nil
}

func (b *layouter) compute(t *Type) (*Layout, error) {
	l := &Layout{Type: t}
	elem := t.Elem
	if t.Kind == Enum && elem == nil {
		elem = Named("unsigned int")
	}
	var of *Layout // of elem
	if t.Kind == Enum || t.Kind == Vector || t.Kind == Array {
		var err error
		if of, err = b.layOut(elem); err != nil {
			return nil, err
		}
	}
	switch t.Kind {
	case Pointer:
		l.Size, l.Align = b.model.Pointer, b.model.Pointer
	case Enum:
		l.Size, l.Align = of.Size, of.Align
	case Vector:
		l.Size, l.Align = of.Size*t.Count, of.Align
		if t.Count%2 == 0 {
			l.Align = max(of.Align, min(l.Size, t.most))
		}
	case Array:
		if t.Count < 0 {
			return nil, &Error{Text: "an array cannot have " + itoa(t.Count) + " elements"}
		}
		if of.Size > 0 && t.Count > maxSize/of.Size {
			return nil, &Error{Text: fmt.Sprintf("%s is larger than %d bytes", t, int64(maxSize))}
		}
		l.Elem, l.Size, l.Align = of, of.Size*t.Count, of.Align
	case Struct, Union:
		if t.incomplete {
			return nil, &Error{Text: fmt.Sprintf("the members of %s are not known", t), Help: "declare them before: " + t.String() + " { ... };"}
		}
		return l, b.record(l)
	default:
		if t.size == nil {
			return nil, &Error{Text: "a type that is neither put together nor from Named"}
		}
		l.Size = t.size(b.model)
		l.Align = l.Size
	}
	return l, nil
}

// within puts the name of the enclosing member before the path.
func within(err error, m *Member) error {
	e := *err.(*Error)
	switch {
	case m.Name == "":
	case e.Path == "":
		e.Path = m.Name
	default:
		e.Path = m.Name + "." + e.Path
	}
	if e.Span == (diag.Span{}) {
		e.Span = m.Span
	}
	return &e
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Part is a member at any depth, placed from the start of the outermost type.
type Part struct {
	Path  string // "a.b"; "a[0].b" for all elements; ends in "." for an unnamed member
	Depth int    // 0 for the members of the outermost type
	Bit   int64
	*MemberLayout
}

// Parts iterates over the members at all depths, each after the member that
// contains it. For an array of structs it yields the first element. A type may have
// very many parts.
func (l *Layout) Parts() iter.Seq[Part] {
	return func(yield func(Part) bool) { l.parts("", 0, 0, yield) }
}

func (l *Layout) parts(prefix string, depth int, base int64, yield func(Part) bool) bool {
	for i := range l.Members {
		m := &l.Members[i]
		path := prefix + m.Name
		if !yield(Part{path, depth, base + m.Bit, m}) {
			return false
		}
		inner := m.Layout
		for inner.Elem != nil && inner.Size > 0 {
			inner = inner.Elem
			path += "[0]"
		}
		if m.Name != "" {
			path += "."
		}
		if !inner.parts(path, depth+1, base+m.Bit, yield) {
			return false
		}
	}
	return true
}

// Range is a range of bits of a type.
type Range struct {
	Bit  int64 `json:"bit"`
	Bits int64 `json:"bits"`
}

// Padding returns the bits of a struct or union that belong to no member, in order:
// gaps, unnamed bit fields, and the tail. Padding within a member belongs to the
// member.
func (l *Layout) Padding() []Range {
	var used, padding []Range
	for i := range l.Members {
		m := &l.Members[i]
		if m.Bits > 0 && !(m.BitField && m.Name == "") {
			used = append(used, Range{m.Bit, m.Bits})
		}
	}
	slices.SortFunc(used, func(a, b Range) int { return int(min(1, max(-1, a.Bit-b.Bit))) })
	at := int64(0)
	for _, r := range append(used, Range{l.Size * 8, 0}) {
		if r.Bit > at && len(l.Members) > 0 {
			padding = append(padding, Range{at, r.Bit - at})
		}
		at = max(at, r.Bit+r.Bits)
	}
	return padding
}

// ParamForm describes how a device function takes or returns a type (PTX
// Interoperability 2.3).
type ParamForm struct {
	Scalar int64 // 32 or 64 bits; 0 for an array of bytes
	Size   int64 // size of the array, in bytes
	Align  int64 // bytes
}

// Decl returns the declaration of a parameter, ".param .align 8 .b8 name[16]".
// Scalars are .bN, as nvcc and clang write them; .uN, .sN and .fN are equal in the
// ABI.
func (p ParamForm) Decl(name string) string {
	if p.Scalar > 0 {
		return fmt.Sprintf(".param .b%d %s", p.Scalar, name)
	}
	return fmt.Sprintf(".param .align %d .b8 %s[%d]", p.Align, name, p.Size)
}

// FromNVCC returns the form in which nvcc 12.4 declares the parameter. nvcc aligns
// parameters of more than 128 bytes to at least 4, contrary to 2.3. It does not do
// so for results, nor for parameters of kernels.
func (p ParamForm) FromNVCC() ParamForm {
	if p.Scalar == 0 && p.Size > 128 {
		p.Align = max(p.Align, 4)
	}
	return p
}

// MaxParamAlign is the largest alignment that note (D) of PTX Interoperability 2.3
// allows.
const MaxParamAlign = 128

// Param returns the form in which the type is passed to and returned from a
// device function. nvcc and clang agree on parameters. For a result, clang 19
// gives a struct the alignment of its LLVM type, which is too small where bit
// fields, packing or an Align make the two differ.
//
// Integers below 32 bits are extended. Floats of 16 bits and integers of 128
// bits have no scalar form and are passed as bytes. An array becomes a pointer,
// as in C. It returns an error if the type cannot be passed: the type has no bytes, or its
// alignment is above 128.
func (l *Layout) Param(m Model) (ParamForm, error) {
	switch l.Type.Kind {
	case Array:
		return ParamForm{Scalar: m.Pointer * 8}, nil
	case Bool, Integer, Float, Pointer, Enum:
		switch {
		case l.Size == 8:
			return ParamForm{Scalar: 64}, nil
		case l.Size <= 4 && !(l.Type.Kind == Float && l.Size < 4):
			return ParamForm{Scalar: 32}, nil
		}
	}
	form := ParamForm{Size: l.Size, Align: l.Align}
	switch {
	case l.Size == 0:
		return form, &Error{Text: "a type without bytes cannot be passed"}
	case l.Align > MaxParamAlign:
		return form, &Error{Text: fmt.Sprintf("alignment %d is above %d, the most a parameter may have", l.Align, MaxParamAlign), Help: "pass a pointer"}
	}
	return form, nil
}
