// Package ctype, of use to this module only, reads C declarations and lays out their types
// as the PTX ABI does.
package ctype

import (
	"strings"
	"sync"

	"ptxlink/object/diag"
)

// Model gives the sizes, in bytes, of the types whose size the host determines (PTX
// Interoperability 1.1).
type Model struct {
	Name          string // lp64, llp64, ilp32
	Long, Pointer int64
	WChar         int64

	// C is set if the source is C, because a struct without members has size 0 there. In C++, and
	// so in CUDA, it has size 1.
	C bool
}

// The data models of the hosts that CUDA has supported.
var (
	LP64  = Model{Name: "lp64", Long: 8, Pointer: 8, WChar: 4}  // 64-bit Linux and macOS
	LLP64 = Model{Name: "llp64", Long: 4, Pointer: 8, WChar: 2} // 64-bit Windows
	ILP32 = Model{Name: "ilp32", Long: 4, Pointer: 4, WChar: 4} // 32 bits
)

// Kind is the kind of a [Type].
type Kind uint8

const (
	Bool Kind = iota + 1
	Integer
	Float
	Pointer
	Enum
	Vector // of CUDA: float4
	Array
	Struct
	Union

	function // only as the target of a Pointer
)

// Type is a type of C or CUDA C++. Fundamental types and CUDA's vectors come from
// [Named]; the others are composed: &Type{Kind: Array, Elem: t, Count: 4}. A type
// must not change after its first use.
type Type struct {
	Kind     Kind
	Name     string // as written: "unsigned int", "float4", the tag of a struct; may be empty
	Unsigned bool   // of Bool, Integer and Enum

	Elem    *Type // of Array and Vector; the underlying type of Enum; the target of a Pointer, nil if it does not matter
	Count   int64 // elements of Array and Vector
	Open    bool  // an Array without a length: the last member of a struct
	Members []Member

	Align  int64 // bytes, from alignas(N), __align__(N) or aligned(N) on a Struct or Union; it raises the alignment; 0 if there is none
	Packed bool  // __attribute__((packed)) on a Struct or Union: all members are
	Pack   int64 // bytes, of #pragma pack: the most that a member is aligned to; 0 if there is none

	size       func(Model) int64 // of the fundamental types
	most       int64             // largest alignment of a Vector
	reference  bool              // a Pointer that is a reference
	incomplete bool              // a struct or union whose members Parse has not read
	notPOD     bool              // it has private members or references, so nvcc does not pack it
}

// Member is a member of a struct or union.
type Member struct {
	Name     string // empty: an anonymous struct or union, or an unnamed bit field
	Type     *Type
	BitField bool
	Width    int64 // of a bit field, in bits
	Align    int64 // bytes, raises the alignment; 0 if there is none
	Packed   bool  // __attribute__((packed)) on the member

	Span diag.Span // where Parse read it
}

// TypeString returns the member's type for messages, with the width of a bit field
// and its sign, since plain ones are signed (PTX Interoperability 1.3).
func (m *Member) TypeString() string {
	name := m.Type.String()
	if !m.BitField {
		return name
	}
	switch {
	case m.Type.Kind != Integer || m.Type.Unsigned || strings.HasPrefix(name, "signed"):
	case strings.HasSuffix(name, "_t"): // int8_t
	default:
		name = "signed " + name
	}
	return name + ":" + itoa(m.Width)
}

// String returns the type as C writes it without a declarator: "int *[3]" for an
// array of three pointers.
func (t *Type) String() string {
	if t == nil {
		return "void"
	}
	var prefix string
	switch t.Kind {
	case Pointer:
		to := t.Elem.String()
		if t.Elem != nil && t.Elem.Kind == function {
			return strings.TrimSuffix(to, "()") + "(*)()"
		}
		if head, dims, array := strings.Cut(to, "["); array {
			return head + "(*)[" + dims
		}
		if !strings.HasSuffix(to, "*") {
			to += " "
		}
		return to + "*"
	case Array:
		// Outer dimensions come first in C.
		elem := t.Elem.String()
		head, dims, inner := strings.Cut(elem, "[")
		if inner && !strings.Contains(head, "(*)") {
			return head + "[" + t.count() + "][" + dims
		}
		return elem + "[" + t.count() + "]"
	case Struct:
		prefix = "struct "
	case Union:
		prefix = "union "
	case Enum:
		prefix = "enum "
	}
	return strings.TrimSuffix(prefix+t.Name, " ")
}

func (t *Type) count() string {
	if t.Open {
		return ""
	}
	return itoa(t.Count)
}

// PointerTo returns the type of a generic pointer to elem.
func PointerTo(elem *Type) *Type { return &Type{Kind: Pointer, Elem: elem} }

// Named returns a type that needs no declaration: the fundamental types of C in
// their shortest spelling ("unsigned long"), the types of stdint.h, and CUDA's. It returns nil for
// other names.
func Named(name string) *Type { return typesByName()[name] }

var typesByName = sync.OnceValue(makeTypes)

// makeTypes returns the types of PTX Interoperability 1.1 and 1.2 by their names in
// C. Every size is also the alignment, except for vectors and structs.
func makeTypes() map[string]*Type {
	types := map[string]*Type{}
	bytes := func(n int64) func(Model) int64 { return func(Model) int64 { return n } }
	long := func(m Model) int64 { return m.Long }
	pointer := func(m Model) int64 { return m.Pointer }
	add := func(kind Kind, size func(Model) int64, unsigned bool, names ...string) {
		for _, name := range names {
			types[name] = &Type{Kind: kind, Name: name, Unsigned: unsigned, size: size}
		}
	}
	add(Bool, bytes(1), true, "bool", "_Bool")
	add(Integer, bytes(1), false, "char", "signed char", "int8_t")
	add(Integer, bytes(1), true, "unsigned char", "uint8_t", "char8_t")
	add(Integer, bytes(2), false, "short", "int16_t")
	add(Integer, bytes(2), true, "unsigned short", "uint16_t", "char16_t")
	add(Integer, bytes(4), false, "int", "int32_t")
	add(Integer, bytes(4), true, "unsigned int", "uint32_t", "char32_t")
	add(Integer, long, false, "long")
	add(Integer, long, true, "unsigned long")
	add(Integer, bytes(8), false, "long long", "int64_t", "intmax_t")
	add(Integer, bytes(8), true, "unsigned long long", "uint64_t", "uintmax_t", "cudaTextureObject_t", "cudaSurfaceObject_t")
	add(Integer, bytes(16), false, "__int128", "__int128_t")
	add(Integer, bytes(16), true, "unsigned __int128", "__uint128_t")
	add(Integer, pointer, false, "intptr_t", "ptrdiff_t", "ssize_t")
	add(Integer, pointer, true, "uintptr_t", "size_t")
	add(Integer, func(m Model) int64 { return m.WChar }, false, "wchar_t")
	add(Float, bytes(2), false, "_Float16", "__fp16", "__bf16")
	add(Float, bytes(4), false, "float")
	add(Float, bytes(8), false, "double")

	// CUDA's vectors (vector_types.h). A vector of three elements has the alignment
	// of one element, vectors of two and four the alignment of the vector. For four elements of
	// eight bytes that is 32 in the document but 16 in CUDA; CUDA 13 added double4_32a.
	vector := func(most int64, elem string, n int64, names ...string) {
		for _, name := range names {
			types[name] = &Type{Kind: Vector, Name: name, Elem: types[elem], Count: n, most: most}
		}
	}
	for name, elem := range map[string]string{
		"char": "signed char", "uchar": "unsigned char", "short": "short", "ushort": "unsigned short",
		"int": "int", "uint": "unsigned int", "long": "long", "ulong": "unsigned long",
		"longlong": "long long", "ulonglong": "unsigned long long", "float": "float", "double": "double",
	} {
		for n := range int64(4) {
			vector(16, elem, n+1, name+itoa(n+1))
		}
		switch name {
		case "long", "ulong", "longlong", "ulonglong", "double":
			vector(16, elem, 4, name+"4_16a")
			vector(32, elem, 4, name+"4_32a")
		}
	}
	vector(16, "unsigned int", 3, "dim3")

	// CUDA's 16-bit floats are passed as aggregates, because they are classes that contain a short.
	vector(2, "unsigned short", 1, "__half", "half", "__nv_bfloat16", "nv_bfloat16")
	vector(4, "unsigned short", 2, "__half2", "half2", "__nv_bfloat162", "nv_bfloat162")
	vector(8, "float", 2, "cuComplex", "cuFloatComplex")
	vector(16, "double", 2, "cuDoubleComplex")
	return types
}
