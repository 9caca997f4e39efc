package ctype

import (
	"fmt"
	"math"
	"slices"
)

func (b *layouter) record(l *Layout) error {
	t := l.Type
	l.Align, l.empty = 1, !b.model.C
	r := placement{Layout: l, empties: b.emptyPlaces(t)}
	for i := range t.Members {
		m := MemberLayout{Member: t.Members[i]}
		text, help := "an array without a length must be the last member of a struct", "give it a length"
		if m.Type == nil || !m.Type.Open || t.Kind == Struct && i+1 == len(t.Members) {
			of, err := b.layOut(m.Type)
			if err != nil {
				return within(err, &m.Member)
			}
			m.Layout = of
			text, help = r.add(&m)
		}
		if text != "" {
			return &Error{Path: m.Name, Span: m.Span, Text: text, Help: help}
		}
	}
	l.Align = max(l.Align, t.Align)
	l.used = roundUp(r.size, 8)
	l.data = l.used
	if l.empty {
		r.size = max(r.size, 8)
	}
	l.Size = roundUp(r.size, l.Align*8) / 8
	if !t.notPOD {
		l.data = l.Size * 8
	}
	return nil
}

type placement struct {
	*Layout
	end     int64 // in bits, of the members placed so far
	size    int64 // in bits, with empty bases beyond end
	empties *emptyPlaces
}

// add places the next member. It returns why it cannot, and what helps.
func (r *placement) add(m *MemberLayout) (text, help string) {
	for _, bad := range []func(*Type, *MemberLayout) (text, help string){badAlignment, badPragmaPack, badClass, badBitField} {
		if text, help := bad(r.Type, m); text != "" {
			return text, help
		}
	}
	of := m.Layout
	m.Bits, m.Alignment = of.Size*8, m.alignment(r.Type)
	if r.Type.Kind == Struct {
		m.Bit = r.end
	}
	switch {
	case m.Base:
		r.placeBase(m)
		if of.empty && m.Bit > 0 && of.Align > 1 {
			return fmt.Sprintf("nvcc and clang disagree on an empty base class aligned to %d behind offset 0", of.Align), "remove the base class"
		}
	case m.BitField:
		m.placeBitField(r.Type)
	default:
		m.Bit = r.free(of, m.Bit, m.Alignment)
		r.empties.put(of, m.Bit, false)
	}
	r.Align = max(r.Align, m.Alignment)
	r.Members = append(r.Members, *m)
	r.empty = r.empty && (m.Base && of.empty || m.BitField && m.Bits == 0)
	r.largest = max(r.largest, of.largestEmpty())
	// The member after a bit field may start within its last byte if it is a
	// bit field too; otherwise its own rounding moves it.
	if !m.Base || !of.empty {
		r.end = max(r.end, m.Bit+m.Bits)
	}
	r.size = max(r.size, r.end)
	switch {
	case r.size/8 > maxSize:
		return fmt.Sprintf("the type is larger than %d bytes", int64(maxSize)), ""
	case r.empties.steps > maxEmpty:
		return fmt.Sprintf("the type has more than %d empty parts", maxEmpty), ""
	}
	return "", ""
}

// alignment returns the alignment of a member that compilers agree on.
func (m *MemberLayout) alignment(t *Type) int64 {
	align := m.Layout.Align
	if t.Packed || m.Packed {
		align = 1
	}
	align = max(align, m.Align)
	if t.Pack > 0 {
		align = min(align, t.Pack)
	}
	if m.BitField && m.Name == "" {
		return 1
	}
	return align
}

// free returns the first bit from start on where a part may be.
func (r *placement) free(of *Layout, start, align int64) int64 {
	for start = roundUp(start, align*8); !r.empties.fit(of, start); {
		start += align * 8
	}
	return start
}

// placeBase places a base class. What follows may use its tail padding.
func (r *placement) placeBase(m *MemberLayout) {
	of := m.Layout
	if m.Bit = 0; !of.empty || !r.empties.fit(of, 0) {
		m.Bit = r.free(of, r.end, m.Alignment)
	}
	r.empties.put(of, m.Bit, of.empty)
	m.Bits = of.data
	if of.empty {
		m.Bits = 0
		r.size = max(r.size, m.Bit+of.Size*8)
	}
}

// placeBitField places a bit field, from m.Bit on.
func (m *MemberLayout) placeBitField(t *Type) {
	m.Bits = m.Width
	boundary := max(m.Layout.Align, m.Align) * 8
	if (t.Packed || m.Packed) && m.Width > 0 {
		boundary = max(1, m.Align*8)
	}
	switch {
	case m.Width == 0 || t.Pack == 0 && m.Bit%boundary+m.Width > m.Layout.Size*8:
		m.Bit = roundUp(m.Bit, boundary)
	case m.Align > 0:
		m.Bit = roundUp(m.Bit, m.Align*8)
	}
}

// badAlignment returns the error in the alignments of a member and its type, or "".
func badAlignment(t *Type, m *MemberLayout) (text, help string) {
	for _, align := range []int64{m.Align, t.Align} {
		if align < 0 || align&(align-1) != 0 {
			return fmt.Sprintf("%d is not an alignment", align), "an alignment is a power of two"
		}
	}
	switch {
	case m.Align > maxSize || t.Align > maxSize:
		return "the alignment is too large", "a parameter is aligned to 128 bytes at most"
	case t.Packed && t.Align > 0 && m.Align > t.Align:
		return fmt.Sprintf("nvcc and clang disagree on an alignment of %d within a packed struct aligned to %d", m.Align, t.Align), "raise the alignment of the struct"
	}
	return "", ""
}

// badPragmaPack returns what compilers disagree on within #pragma pack, or "".
func badPragmaPack(t *Type, m *MemberLayout) (text, help string) {
	switch {
	case t.Pack == 0:
	case m.Align > t.Pack:
		return fmt.Sprintf("nvcc and clang disagree on an alignment of %d within #pragma pack(%d)", m.Align, t.Pack), "remove the alignment"
	case m.BitField && m.Width == 0:
		return "nvcc and clang disagree on a zero-width bit field within #pragma pack", "remove it, and align the next member"
	case m.BitField && (t.Packed || m.Packed):
		return "nvcc and clang disagree on a packed bit field within #pragma pack", "remove the attribute packed"
	}
	return "", ""
}

// badClass returns what compilers disagree on in a base class or in a member that is a
// class, or "".
func badClass(t *Type, m *MemberLayout) (text, help string) {
	of, class := m.Layout, m.Type.element()
	const asMembers = "write its members as the first ones"
	switch {
	case !m.BitField && class.disputed && !class.notPOD && (t.Packed || m.Base && !of.empty && of.used < of.Size*8):
		return fmt.Sprintf("nvcc, clang and gcc disagree on whether %s is a POD", class), "remove functions that are defaulted or deleted, or write them"
	case !m.Base:
		if (t.Packed || m.Packed) && !class.Packed && class.notPOD && of.Align > 1 {
			return "nvcc and clang disagree on a packed member of " + class.String() + ", which is no POD", "remove the attribute packed"
		}
	case t.Packed && of.Align > 1:
		return "nvcc and clang disagree on a base class of a packed class", asMembers
	case t.Pack > 0 && of.Align > t.Pack:
		return fmt.Sprintf("nvcc, clang and gcc disagree on a base class aligned to %d within #pragma pack(%d)", of.Align, t.Pack), asMembers
	case t.Pack > 0 && of.data < of.Size*8:
		return "nvcc 12.4 and 13.5 disagree on a base class with padding within #pragma pack", asMembers
	}
	return "", ""
}

func badBitField(t *Type, m *MemberLayout) (text, help string) {
	most := m.Layout.Size * 8
	if m.Type.Kind == Bool {
		most = 1
	}
	switch {
	case !m.BitField:
	case m.Name == "" && m.Align > 0:
		return "nvcc and clang disagree on an alignment of an unnamed bit field", "align the next member"
	case (t.Packed || m.Packed) && m.Width == 0:
		return "nvcc and clang disagree on a packed zero-width bit field", "remove it, and align the next member"
	case m.Align > 0 && m.Align < m.Layout.Align:
		return fmt.Sprintf("nvcc and clang disagree on a bit field of %s aligned to %d", m.Type, m.Align), fmt.Sprintf("remove the alignment, or align it to %d", m.Layout.Align)
	case m.Type.Kind != Bool && m.Type.Kind != Integer && m.Type.Kind != Enum:
		return "a bit field cannot be of type " + m.Type.String(), "use an integer type"
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

// maxEmpty limits the empty classes that are compared for one type, because an array may hold very
// many.
const maxEmpty = 100000

// emptyPlaces records where a class has parts of empty classes.
type emptyPlaces struct {
	at     map[int64][]*Type // by bit
	last   int64             // the largest key
	window int64             // bits of the largest empty part: no later part can collide beyond
	steps  int
}

// emptyPlaces returns the record for t. It stays empty without bases, because no two parts of t can
// collide then.
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
