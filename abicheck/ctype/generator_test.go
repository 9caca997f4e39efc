package ctype

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator generates random structs and unions. Later ones contain earlier ones.
type generator struct {
	rand  *rand.Rand
	types []*Type
	name  int // of the next member
}

func (g *generator) one(of int) bool { return g.rand.IntN(of) == 0 }

func pick[T any](g *generator, from ...T) T { return from[g.rand.IntN(len(from))] }

func (g *generator) record() {
	g.name = 0
	t := g.body(0)
	t.Name = fmt.Sprintf("S%d", len(g.types))
	g.types = append(g.types, t)
}

func (g *generator) body(depth int) *Type {
	t := &Type{Kind: Struct}
	if g.one(4) {
		t.Kind = Union
	}
	if g.one(8) {
		t.Packed = true
	}
	if g.one(8) {
		t.Align = pick[int64](g, 1, 2, 4, 8, 16, 32, 64, 128)
	}
	n := 1 + g.rand.IntN(6)
	if g.one(40) {
		n = 0
	}
	for i := range n {
		m := g.member(depth, t.Kind == Struct || i == 0)
		// LayOut refuses these two.
		if t.Packed && m.Align > t.Align && t.Align > 0 {
			m.Align = 0
		}
		if t.Packed && m.BitField && m.Width == 0 {
			m.Width = 1
		}
		t.Members = append(t.Members, m)
	}
	if depth > 0 && len(t.names(nil)) == 0 {
		// An anonymous struct without members is an error.
		t.Members = append(t.Members, Member{Name: g.newName(), Type: Named("short")})
	}
	return t
}

func (g *generator) newName() string {
	g.name++
	if g.name <= 26 {
		return string(rune('a' + g.name - 1))
	}
	return fmt.Sprintf("m%d", g.name)
}

func (g *generator) enum(name string) *Type {
	underlying := map[string]string{"E8": "unsigned char", "E16": "short", "E32": "unsigned int", "E64": "long long", "E": "unsigned int"}
	return &Type{Kind: Enum, Name: name, Elem: Named(underlying[name]), Unsigned: Named(underlying[name]).Unsigned}
}

func (g *generator) member(depth int, mayBeAnonymous bool) Member {
	m := Member{}
	if g.one(12) {
		m.Align = pick[int64](g, 1, 2, 4, 8, 16, 32, 64)
	}
	m.Packed = g.one(16)
	switch n := g.rand.IntN(100); {
	case n < 50:
		m.BitField = true
		m.Type = Named(pick(g, "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
			"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "uint16_t"))
		if g.one(8) {
			m.Type = g.enum(pick(g, "E8", "E16", "E32", "E64"))
		}
		l, _ := LayOut(m.Type, LP64)
		most := l.Size * 8
		if m.Type.Kind == Bool {
			most = 1
		}
		m.Width = 1 + g.rand.Int64N(most)
		switch {
		case g.one(12):
			m.Width, m.Align, m.Packed = 0, 0, false
			return m
		case g.one(10):
			m.Align = 0 // LayOut refuses it
			return m
		}
		if m.Align > 0 {
			m.Align = max(m.Align, l.Align) // LayOut refuses less
		}
	case n < 75:
		m.Type = Named(pick(g, "bool", "char", "unsigned char", "short", "int", "unsigned int", "long", "long long", "float", "double",
			"int8_t", "uint64_t", "size_t", "unsigned __int128"))
		switch {
		case g.one(8):
			m.Type = PointerTo(m.Type)
		case g.one(12):
			m.Type = g.enum(pick(g, "E8", "E16", "E32", "E64", "E"))
		}
	case n < 85:
		elem := pick(g, "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double")
		m.Type = Named(elem + pick(g, "1", "2", "3", "4"))
	case n < 92 && len(g.types) > 0:
		m.Type = pick(g, g.types...)
		if l, _ := LayOut(m.Type, LP64); l.Size > 512 {
			m.Type = Named("int")
		}
	case depth < 3 && mayBeAnonymous:
		m.Type = g.body(depth + 1)
		m.Align, m.Packed = 0, false
		return m
	default:
		m.Type = Named("char")
	}
	if !m.BitField && g.one(6) {
		m.Type = arrayOf(m.Type, 1+g.rand.Int64N(4))
		if g.one(3) {
			m.Type = arrayOf(m.Type, 1+g.rand.Int64N(3))
		}
	}
	m.Name = g.newName()
	return m
}

// source returns a type in C, on one line.
func source(t *Type) string { return text(t) + ";" }

func text(t *Type) string {
	var b strings.Builder
	b.WriteString(map[Kind]string{Struct: "struct ", Union: "union "}[t.Kind])
	if t.Packed {
		b.WriteString("__attribute__((packed)) ")
	}
	if t.Align > 0 {
		fmt.Fprintf(&b, "__attribute__((aligned(%d))) ", t.Align)
	}
	if t.Name != "" {
		b.WriteString(t.Name + " ")
	}
	b.WriteString("{ ")
	for _, m := range t.Members {
		typ, dims := m.Type, ""
		for ; typ.Kind == Array; typ = typ.Elem {
			dims += "[" + itoa(typ.Count) + "]"
		}
		switch {
		case typ.isRecord() && typ.Name == "":
			b.WriteString(text(typ))
		case typ.isRecord() || typ.Kind == Enum:
			b.WriteString(typ.Name)
		default:
			b.WriteString(typ.String())
		}
		if m.Name != "" {
			b.WriteString(" " + m.Name + dims)
		}
		if m.BitField {
			b.WriteString(" : " + itoa(m.Width))
		}
		if m.Align > 0 {
			fmt.Fprintf(&b, " __attribute__((aligned(%d)))", m.Align)
		}
		if m.Packed {
			b.WriteString(" __attribute__((packed))")
		}
		b.WriteString("; ")
	}
	return b.String() + "}"
}

// arrayOf returns the type of an array of count elements.
func arrayOf(elem *Type, count int64) *Type { return &Type{Kind: Array, Elem: elem, Count: count} }
