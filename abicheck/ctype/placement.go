package ctype

import (
	"fmt"
	"slices"
)

func (b *layouter) record(l *Layout) error {
	t := l.Type
	l.Align = 1
	end := int64(0) // in bits, of the members placed so far
	for i := range t.Members {
		m := MemberLayout{Member: t.Members[i]}
		text, help := "an array without a length must be the last member of a struct", "give it a length"
		if m.Type == nil || !m.Type.Open || t.Kind == Struct && i+1 == len(t.Members) {
			of, err := b.layOut(m.Type)
			if err != nil {
				return within(err, &m.Member)
			}
			m.Layout = of
			text, help = l.add(&m, &end)
		}
		if text != "" {
			return &Error{Path: m.Name, Span: m.Span, Text: text, Help: help}
		}
	}
	l.Align = max(l.Align, t.Align)
	if !b.model.C && !slices.ContainsFunc(l.Members, func(m MemberLayout) bool { return !m.BitField || m.Bits > 0 }) {
		end = max(end, 8)
	}
	l.Size = roundUp(end, l.Align*8) / 8
	return nil
}

// add places the next member from the bit end on. It returns why it cannot, and what helps.
func (l *Layout) add(m *MemberLayout, end *int64) (text, help string) {
	for _, bad := range []func(*Type, *MemberLayout) (text, help string){badAlignment, badPragmaPack, badBitField} {
		if text, help := bad(l.Type, m); text != "" {
			return text, help
		}
	}
	m.Bits, m.Alignment = m.Layout.Size*8, m.alignment(l.Type)
	if l.Type.Kind == Struct {
		m.Bit = *end
	}
	if m.BitField {
		m.placeBitField(l.Type)
	} else {
		m.Bit = roundUp(m.Bit, m.Alignment*8)
	}
	l.Align = max(l.Align, m.Alignment)
	l.Members = append(l.Members, *m)
	// The member after a bit field may start within its last byte if it is a
	// bit field too; otherwise its own rounding moves it.
	if *end = max(*end, m.Bit+m.Bits); *end/8 > maxSize {
		return fmt.Sprintf("the type is larger than %d bytes", int64(maxSize)), ""
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
	switch of := m.Type.element(); {
	case (t.Packed || m.Packed) && of.notPOD && !of.Packed && m.Layout.Align > 1:
		return "nvcc and clang disagree on a packed member of " + of.String() + ", which is no POD", "remove the attribute packed"
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
