package ctype

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"ptxlink/internal/diag"
)

// Layout describes where the parts of a type are in memory. Bits count from the
// least significant bit of the first byte, as GPUs are little-endian: bit 10 is bit
// 2 of byte 1.
type Layout struct {
	Type        *Type
	Size, Align int64          // bytes
	Members     []MemberLayout // of a Struct or Union, in declaration order, including unnamed ones
	Elem        *Layout        // of an Array

	used    int64 // of a Struct or Union, bits up to the tail padding
	data    int64 // of a Struct or Union, the bits that a class derived from it leaves it
	empty   bool  // a class of C++ without data
	largest int64 // bits of the largest empty class among the bases and members, at any depth
}

// MemberLayout describes where a member is in its struct or union.
type MemberLayout struct {
	Member
	Bit       int64 // the first bit; 0 for the alternatives of a Union
	Bits      int64 // number of bits; 0 for a zero-width bit field and an empty array
	Alignment int64 // bytes, as required of its struct: its type's, changed by Align, packed, and bit fields without a name
	Layout    *Layout
}

// Offset returns the byte that holds the member's first bit.
func (m *MemberLayout) Offset() int64 { return m.Bit / 8 }

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
// numbers match those of clang for nvptx64 and of nvcc, see
// testdata/abi/README.md). Errors are of type *[Error].
//
//  1. A member goes to the lowest free offset of its alignment: that of its
//     type, or 1 byte if it is packed, raised by Align.
//  2. A bit field goes to the lowest free bit from which it does not cross a
//     boundary of its declared type. So it may share a unit with its neighbours,
//     including members that are no bit fields. A packed one may cross, and one
//     with Align starts at such a boundary.
//  3. A zero-width bit field moves the next member to a boundary of its type,
//     packed or not, and does nothing in a union.
//  4. The type has the alignment of its strictest member. Unnamed bit fields,
//     zero-width or not, do not count. Compilers do the same in unions.
//  5. The size is a multiple of the alignment. It is 1 without members, or 0 in C.
//  6. Under #pragma pack(N), no alignment within the type exceeds N, and a bit field goes
//     to the next free bit.
//  7. In C++, bases come before the members, in order. What follows a base goes into its
//     tail padding, unless it is a POD of C++03.
//  8. An empty base goes to offset 0 and takes no space, but two subobjects of one empty
//     class never share an address: the later base or member moves on by its alignment
//     (Itanium C++ ABI 2.4).
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

// maxNesting limits the depth of types in types.
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
	if b.tooDeep != nil { // not asked again on every way to it
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
	switch t.Kind {
	case Pointer:
		l.Size, l.Align = b.model.Pointer, b.model.Pointer
	case Enum:
		underlying := t.Elem
		if underlying == nil {
			underlying = Named("unsigned int")
		}
		of, err := b.layOut(underlying)
		if err != nil {
			return nil, err
		}
		l.Size, l.Align = of.Size, of.Align
	case Vector:
		of, err := b.layOut(t.Elem)
		if err != nil {
			return nil, err
		}
		l.Size, l.Align = of.Size*t.Count, of.Align
		if t.Count%2 == 0 {
			l.Align = max(of.Align, min(l.Size, t.most))
		}
	case Array:
		of, err := b.layOut(t.Elem)
		if err != nil {
			return nil, err
		}
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

// record places the members of a struct or union.
func (b *layouter) record(l *Layout) error {
	t := l.Type
	end := int64(0)  // in bits, of the members placed so far
	size := int64(0) // in bits, with empty bases beyond end
	l.Align = 1
	l.empty = !b.model.C
	places := b.emptyPlaces(t)
	for i := range t.Members {
		m := MemberLayout{Member: t.Members[i]}
		fail := func(text, help string) error {
			return &Error{Path: m.Name, Span: m.Span, Text: text, Help: help}
		}
		if m.Type != nil && m.Type.Open && (t.Kind == Union || i+1 < len(t.Members)) {
			return fail("an array without a length must be the last member of a struct", "give it a length")
		}
		of, err := b.layOut(m.Type)
		if err != nil {
			return within(err, &m.Member)
		}
		for _, align := range []int64{m.Align, t.Align} {
			if align < 0 || align&(align-1) != 0 {
				return fail(fmt.Sprintf("%d is not an alignment", align), "an alignment is a power of two")
			}
		}
		if m.Align > maxSize || t.Align > maxSize {
			return fail("the alignment is too large", "a parameter is aligned to 128 bytes at most")
		}
		if t.Packed && t.Align > 0 && m.Align > t.Align {
			return fail(fmt.Sprintf("nvcc and clang disagree on an alignment of %d within a packed struct aligned to %d", m.Align, t.Align), "raise the alignment of the struct")
		}
		m.Layout, m.Bits = of, of.Size*8
		align := of.Align
		packed := t.Packed || m.Packed
		start := end
		if t.Kind == Union {
			start = 0
		}
		switch {
		case t.Pack > 0 && m.Align > t.Pack:
			return fail(fmt.Sprintf("nvcc and clang disagree on an alignment of %d within #pragma pack(%d)", m.Align, t.Pack), "remove the alignment")
		case t.Pack > 0 && m.BitField && m.Width == 0:
			return fail("nvcc and clang disagree on a zero-width bit field within #pragma pack", "remove it, and align the next member")
		case t.Pack > 0 && m.BitField && packed:
			return fail("nvcc and clang disagree on a packed bit field within #pragma pack", "remove the attribute packed")
		case !m.BitField && m.Type.element().disputed && !m.Type.element().notPOD && (m.Base && !of.empty && of.used < of.Size*8 || t.Packed):
			return fail(fmt.Sprintf("nvcc, clang and gcc disagree on whether %s is a POD", m.Type.element()), "remove functions that are defaulted or deleted, or write them")
		case m.Base && t.Packed && of.Align > 1:
			return fail("nvcc and clang disagree on a base class of a packed class", "write its members as the first ones")
		case !m.Base && packed && !m.Type.element().Packed && m.Type.element().notPOD && of.Align > 1:
			return fail("nvcc and clang disagree on a packed member of "+m.Type.element().String()+", which is no POD", "remove the attribute packed")
		case m.Base && t.Pack > 0 && of.Align > t.Pack:
			return fail(fmt.Sprintf("nvcc, clang and gcc disagree on a base class aligned to %d within #pragma pack(%d)", of.Align, t.Pack), "write its members as the first ones")
		case m.Base && t.Pack > 0 && of.data < of.Size*8:
			return fail("nvcc 12.4 and 13.5 disagree on a base class with padding within #pragma pack", "write its members as the first ones")
		case m.Base:
			start = 0
			if !of.empty || !places.fit(of, 0) {
				for start = roundUp(end, align*8); !places.fit(of, start); {
					start += align * 8
				}
			}
			if of.empty && start > 0 && of.Align > 1 {
				return fail(fmt.Sprintf("nvcc and clang disagree on an empty base class aligned to %d behind offset 0", of.Align), "remove the base class")
			}
			places.put(of, start, of.empty)
			m.Bits = of.data
			if of.empty {
				m.Bits = 0
				size = max(size, start+of.Size*8)
			}
		case m.BitField:
			switch {
			case m.Name == "" && m.Align > 0:
				return fail("nvcc and clang disagree on an alignment of an unnamed bit field", "align the next member")
			case packed && m.Width == 0:
				return fail("nvcc and clang disagree on a packed zero-width bit field", "remove it, and align the next member")
			case m.Align > 0 && m.Align < of.Align:
				return fail(fmt.Sprintf("nvcc and clang disagree on a bit field of %s aligned to %d", m.Type, m.Align), fmt.Sprintf("remove the alignment, or align it to %d", of.Align))
			}
			if text, help := badBitField(&m.Member, of); text != "" {
				return fail(text, help)
			}
			m.Bits = m.Width
			boundary := align * 8
			if packed && m.Width > 0 {
				boundary = 1
				align = 1
			}
			boundary = max(boundary, m.Align*8)
			switch {
			case m.Width == 0 || t.Pack == 0 && start%boundary+m.Width > of.Size*8:
				start = roundUp(start, boundary)
			case m.Align > 0 && (t.Pack == 0 || m.Align <= t.Pack):
				start = roundUp(start, m.Align*8)
			}
			if t.Pack > 0 {
				align = min(of.Align, t.Pack)
			}
			if m.Name == "" {
				align = 1
			} else {
				align = max(align, m.Align)
			}
			if t.Pack > 0 {
				align = min(align, t.Pack)
			}
		default:
			if packed {
				align = 1
			}
			align = max(align, m.Align)
			if t.Pack > 0 {
				align = min(align, t.Pack)
			}
			for start = roundUp(start, align*8); !places.fit(of, start); {
				start += align * 8
			}
			places.put(of, start, false)
		}
		m.Bit, m.Alignment = start, align
		l.Align = max(l.Align, align)
		l.Members = append(l.Members, m)
		l.empty = l.empty && (m.Base && of.empty || m.BitField && m.Bits == 0)
		l.largest = max(l.largest, of.largestEmpty())
		// The member after a bit field may start within its last byte if it is a
		// bit field too; otherwise its own rounding moves it.
		if !m.Base || !of.empty {
			end = max(end, start+m.Bits)
		}
		size = max(size, end)
		if size/8 > maxSize {
			return fail(fmt.Sprintf("the type is larger than %d bytes", int64(maxSize)), "")
		}
		if places.steps > maxEmpty {
			return fail(fmt.Sprintf("the type has more than %d empty parts", maxEmpty), "")
		}
	}
	l.Align = max(l.Align, t.Align)
	l.used = roundUp(size, 8)
	l.data = l.used
	if l.empty {
		size = max(size, 8)
	}
	l.Size = roundUp(size, l.Align*8) / 8
	if !t.notPOD {
		l.data = l.Size * 8
	}
	return nil
}

// maxEmpty limits the empty classes that are compared for one type.
const maxEmpty = 100000

// emptyPlaces records where a class has parts of empty classes.
type emptyPlaces struct {
	at     map[int64][]*Type // by bit
	last   int64             // the largest key
	window int64             // bits of the largest empty part: no later part can collide beyond
	steps  int
}

// emptyPlaces returns the record for t. Without bases, no two parts of t collide.
func (b *layouter) emptyPlaces(t *Type) *emptyPlaces {
	e := &emptyPlaces{at: map[int64][]*Type{}}
	if len(t.Members) > 0 && t.Members[0].Base {
		for i := range t.Members {
			if l, err := b.layOut(t.Members[i].Type); err == nil {
				e.window = max(e.window, l.largestEmpty())
			}
		}
	}
	return e
}

// largestEmpty returns the bits of the largest empty class that l is or has.
func (l *Layout) largestEmpty() int64 {
	for l.Elem != nil {
		l = l.Elem
	}
	if l.empty {
		return l.Size * 8
	}
	return l.largest
}

// fit reports whether a part may start at a bit.
func (e *emptyPlaces) fit(l *Layout, bit int64) bool {
	return len(e.at) == 0 || e.walk(l, bit, e.last, func(t *Type, at int64) bool { return !slices.Contains(e.at[at], t) })
}

// put records the empty classes of a part. Those beyond the window matter only in an
// empty base.
func (e *emptyPlaces) put(l *Layout, bit int64, empty bool) {
	if e.window == 0 {
		return
	}
	limit := e.window - 1
	if empty {
		limit = math.MaxInt64
	}
	e.walk(l, bit, limit, func(t *Type, at int64) bool {
		e.at[at] = append(e.at[at], t)
		e.last = max(e.last, at)
		return true
	})
}

// walk calls f for the empty classes at bits up to limit, until it returns false.
func (e *emptyPlaces) walk(l *Layout, bit, limit int64, f func(*Type, int64) bool) bool {
	if bit > limit || l.largestEmpty() == 0 {
		return true
	}
	if e.steps++; e.steps > maxEmpty {
		return true
	}
	if l.Elem != nil {
		for i := range l.Type.Count {
			at := bit + i*l.Elem.Size*8
			if !e.walk(l.Elem, at, limit, f) {
				return false
			}
			if at > limit || e.steps > maxEmpty {
				break
			}
		}
		return true
	}
	if l.empty && !f(l.Type, bit) {
		return false
	}
	for i := range l.Members {
		if m := &l.Members[i]; !m.BitField && !e.walk(m.Layout, bit+m.Bit, limit, f) {
			return false
		}
	}
	return true
}

// badBitField returns the error in a bit field, or "" if there is none.
func badBitField(m *Member, of *Layout) (text, help string) {
	most := of.Size * 8
	switch m.Type.Kind {
	case Bool:
		most = 1
	case Integer, Enum:
	default:
		return "a bit field cannot be of type " + m.Type.String(), "use an integer type"
	}
	switch {
	case m.Width < 0:
		return fmt.Sprintf("a bit field cannot have %d bits", m.Width), ""
	case m.Width > most && m.Type.Kind == Bool:
		return fmt.Sprintf("a bool bit field has 1 bit, not %d", m.Width), "use unsigned char"
	case m.Width > most:
		return fmt.Sprintf("%d bits are more than the %d of %s", m.Width, most, m.Type), "use a larger type"
	case m.Width == 0 && m.Name != "":
		return "a bit field without bits cannot have a name", "remove the name to start a new unit"
	}
	return "", ""
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
type Range struct{ Bit, Bits int64 }

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
// as in C. It returns an error if there is no form: the type has no bytes, or
// its alignment is above 128.
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
	case l.Type.byAddress:
		return form, &Error{Text: "a class with a destructor or a copy constructor is passed by its address"}
	case l.Size == 0:
		return form, &Error{Text: "a type without bytes cannot be passed"}
	case l.Align > MaxParamAlign:
		return form, &Error{Text: fmt.Sprintf("alignment %d is above %d, the most a parameter may have", l.Align, MaxParamAlign), Help: "pass a pointer"}
	}
	return form, nil
}
