package ctype

import (
	"strings"
	"testing"

	"ptxlink/object/diag"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"struct { int a, *b, c[2][3]; }":                                                "40/8 a@0:32 b@64:64 c@128:192",
		"struct S { struct S *next; char c; };":                                         "16/8 next@0:64 c@64:8",
		"struct { int (*f)(int, char), *(*g[2])(void); }":                               "24/8 f@0:64 g@64:128",
		"struct { int (*p)[3]; int *q[3]; int (r); }":                                   "40/8 p@0:64 q@64:192 r@256:32",
		"typedef unsigned char byte; struct { byte b[3]; }":                             "3/1 b@0:24",
		"typedef struct { int x; } A, *B; struct { A a; B b; }":                         "16/8 a@0:32 a.x@0:32 b@64:64",
		"struct A { char c; }; union { A a; struct A b[2]; }":                           "2/1 a@0:8 a.c@0:8 b@0:16 b[0].c@0:8",
		"struct { struct { char a; }; union { int b; char c; }; }":                      "8/4 @0:8 a@0:8 @32:32 b@32:32 c@32:8",
		"struct { struct T { char a; }; struct T t; }":                                  "1/1 t@0:8 t.a@0:8",
		"enum { N = 2, M }; struct { char c[N * (M + 1) - sizeof(short)]; }":            "6/1 c@0:48",
		"struct { char c[sizeof(struct { int i; char j; })]; }":                         "8/1 c@0:64",
		"struct { char a; char c[]; }":                                                  "1/1 a@0:8 c@8:0",
		"struct { int n; int c[]; }":                                                    "4/4 n@0:32 c@32:0",
		"struct __align__(16) V { float x; }; struct { char c; V v; }":                  "32/16 c@0:8 v@128:128 v.x@128:32",
		"struct alignas(double) { char c; }":                                            "8/8 c@0:8",
		"struct { alignas(8) char a, b; }":                                              "16/8 a@0:8 b@64:8",
		"struct { char a; __attribute__((aligned(4), packed)) int b; }":                 "8/4 a@0:8 b@32:32",
		"struct { char a; int b __attribute__((packed)); } __attribute__((aligned(2)))": "6/2 a@0:8 b@8:32",
		"struct __attribute__((__packed__)) { char a; double d; }":                      "9/1 a@0:8 d@8:64",
		"const volatile struct { const int i; } x[2]":                                   "8/4",
		"class C { public: int i; private: char c; };":                                  "8/4 i@0:32 c@32:8",
		"enum class E : short { a, b }; struct { E e; enum E f : 3; }":                  "4/2 e@0:16 f@16:3",
		"struct { std::uint8_t a; }":                                                    "1/1 a@0:8",
		"struct { int a /* one */; // two\n char b; }":                                  "8/4 a@0:32 b@32:8",
		"struct A { int a; char b; }; struct D : A { char c; }":                         "12/4 @0:64 a@0:32 b@32:8 c@64:8",
		"struct A { A(int); int a; char b; }; struct D : public A { char b; }":          "8/4 @0:40 a@0:32 b@32:8 b@40:8",
		"class A { int a; char b; }; class D : A { char c; }; struct E : D { char d; }": "8/4 @0:48 @0:40 a@0:32 b@32:8 c@40:8 d@48:8",
		"struct S { static int n; S() : a{3} {} ~S(); int f() const { return a; } friend int g(S &); int a; int operator()(int); }": "4/4 a@0:32",
		"struct A { int a = f(1, 2), b{3}; char c; }; struct D : A { char d; }":                                                     "12/4 @0:72 a@0:32 b@32:32 c@64:8 d@72:8",
		"struct { int : 3, b : 010; }": "4/4 @0:3 b@3:8",
		// Bases.
		"struct A { }; struct D : A { int a; }":                                          "4/4 @0:0 a@0:32",
		"struct A { }; struct D : A { A a; int b; }":                                     "8/4 @0:0 a@8:8 b@32:32",
		"struct A { }; struct B : A { }; struct D : A, B { }":                            "2/1 @0:0 @8:0 @8:0",
		"struct A { int a; }; struct B { char b; }; struct D : A, private B { char c; }": "8/4 @0:32 a@0:32 @32:8 b@32:8 c@40:8",
		"struct A { A(); int a; char b; }; struct E { }; struct D : A, E { char c; }":    "8/4 @0:40 a@0:32 b@32:8 @0:0 c@40:8",
		"struct B { B(const B &) = delete; }; struct D : B { int a; }":                   "4/4 @0:0 a@0:32",
		// Packing.
		"#pragma pack(push, 2)\nstruct { char a; int b; }":                                                      "6/2 a@0:8 b@16:32",
		"#pragma pack(push, 1)\nstruct A { int b; };\n#pragma pack(pop)\nstruct { char c; A a; }":               "5/1 c@0:8 a@8:32 a.b@8:32",
		"#pragma pack(4)\n#pragma pack(push)\n#pragma pack(1)\n#pragma pack(pop)\nstruct { char a; double b; }": "12/4 a@0:8 b@32:64",
		"#pragma pack(push, one, 1)\n#pragma pack(2)\n#pragma pack()\nstruct { char a; int b; }":                "8/4 a@0:8 b@32:32",
		"#pragma pack(push, x, 2)\n#pragma pack(push, 1)\n#pragma pack(pop, x)\nstruct { char a; int b; }":      "8/4 a@0:8 b@32:32",
		`_Pragma("pack(push, 1)") struct { char a; int b; }; _Pragma("GCC poison x") int`:                       "4/4",
		`_Pragma("pack(1)") struct { char a; int b; }`:                                                          "5/1 a@0:8 b@8:32",
		"__pragma(pack(push, 1)) struct { char a; int b; }":                                                     "5/1 a@0:8 b@8:32",
		"#pragma pack(8)\nstruct { int a : 20, b : 20; }":                                                       "8/4 a@0:20 b@20:20",
		// Namespaces and names within classes.
		"namespace n { struct S { char a; }; namespace m { typedef S T; } } struct { n::S s; n::m::T t; ::n::S u; }":                                                   "3/1 s@0:8 s.a@0:8 t@8:8 t.a@8:8 u@16:8 u.a@16:8",
		"namespace n { struct S { char a; }; } struct S { int b; }; namespace n { struct Q { S a; ::S b; }; } struct { n::Q q; }":                                      "8/4 q@0:64 q.a@0:8 q.a.a@0:8 q.b@32:32 q.b.b@32:32",
		"namespace a::b { inline namespace c { struct S { short a; }; } } namespace d = a::b; using namespace d; using a::b::S; struct { S s; d::S t; a::b::c::S u; }": "6/2 s@0:16 s.a@0:16 t@16:16 t.a@16:16 u@32:16 u.a@32:16",
		"namespace { struct S { short a; }; } struct { S s; }":                                                                                                         "2/2 s@0:16 s.a@0:16",
		"struct A { enum E : char { x = 3 }; using T = short; struct B { T t; E e; }; B b; }; struct { A::B b[A::x]; A::T t; }":                                        "14/2 b@0:96 b[0].t@0:16 b[0].e@16:8 t@96:16",
		"struct A { struct P { char x; } p; }; struct P { double d; }; struct Q { P p; A a; }":                                                                         "16/8 p@0:64 p.d@0:64 a@64:8 a.p@64:8 a.p.x@64:8",
		"enum { N = 2 }; struct A { enum { N = 4 }; char a[N]; }; struct Q { char a[N]; A b; }":                                                                        "6/1 a@0:16 b@16:32 b.a@16:32",
		"typedef double T; struct Q { using T = char; T a; }; struct { Q q; T t; }":                                                                                    "16/8 q@0:8 q.a@0:8 t@64:64",
		"struct A { typedef short T; T t; }; struct B : A { T u; }":                                                                                                    "4/2 @0:16 t@0:16 u@16:16",
		"struct A { struct B; B *b; }; struct A::B { char c; }; struct { A::B b; }":                                                                                    "1/1 b@0:8 b.c@0:8",
		"enum class E { a, b = 5 }; enum struct F : char; struct { E e; F f; }":                                                                                        "8/4 e@0:32 f@32:8",
		"struct A { static constexpr int n = 3; static int k; char a[n]; }; struct { char b[A::n + 1]; }":                                                              "4/1 b@0:32",
		"struct [[nodiscard]] alignas(8) A { [[maybe_unused]] int a; [[gnu::aligned(16)]] char b; }":                                                                   "32/16 a@0:32 b@128:8",
		// Templates.
		"template <class T> struct P { T a, b; }; struct { P<char> p; P<int> q; P<P<char>> r; }":                                                                                                              "16/4 p@0:16 p.a@0:8 p.b@8:8 q@32:64 q.a@32:32 q.b@64:32 r@96:32 r.a@96:16 r.a.a@96:8 r.a.b@104:8 r.b@112:16 r.b.a@112:8 r.b.b@120:8",
		"template <typename T, int N = (8 >> 2), class U = T> class V { public: T a[N]; U b; V *next; }; V<short> v":                                                                                          "16/8 a@0:32 b@32:16 next@64:64",
		"template <class T> struct B { T t; }; template <class T> struct D : B<T> { using type = T; type u; }; D<char>":                                                                                       "2/1 @0:8 t@0:8 u@8:8",
		"template <class T> struct P { T a; }; template <> struct P<int> { char c; }; struct { P<int> p; P<short> q; }":                                                                                       "4/2 p@0:8 p.c@0:8 q@16:16 q.a@16:16",
		"namespace n { struct X { char c; }; template <class T, bool B> struct P { X x; T t[B]; }; template <class T> using Q = P<T, true>; } struct X { int i; }; struct { n::P<X, true> p; n::Q<char> q; }": "12/4 p@0:64 p.x@0:8 p.x.c@0:8 p.t@32:32 p.t[0].i@32:32 q@64:16 q.x@64:8 q.x.c@64:8 q.t@72:8",
		"struct { char *const p; int &r; }": "16/8 p@0:64 r@64:64",
	} {
		if got := places(parse(t, text, LP64)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                        "there is no declaration",
		" ; ":                                                     "there is no declaration",
		"struct {":                                                `1:8: error: the "{" is not closed`,
		"struct { int a; } }":                                     `expected ";", not "}"`,
		"struct { int; }":                                         "1:13: error: expected the name of a member",
		"struct { void v; }":                                      "1:15: error: a member cannot be void",
		"struct { int f(int), a; }; int f(int)":                   "f is a function",
		"struct { virtual int f(int); }":                          "virtual is not supported",
		"struct { int a; char a; }":                               "two members are called a",
		"struct { int a; union { int a; }; }":                     "two members are called a",
		"struct A { int a; }; struct A { }":                       "A is declared twice",
		"struct A { int a; }; union A b":                          "A was declared as a struct",
		"struct A b":                                              "the members of struct A are not known",
		"struct { struct B b; }":                                  "the members of struct B are not known here",
		"struct : Base { int a; }":                                "unknown type Base",
		"struct D : Base { int a; }":                              "unknown type Base",
		"struct A { int a; }; struct D : A, A { }":                "struct A is a base class twice",
		"struct A { int a; }; union D : A { }":                    "a union has no base classes",
		"struct D : float4 { }":                                   "float4 as a base class is not supported",
		"struct A; struct D : A { }":                              "the members of struct A are not known here",
		"struct A { int a; }; struct D : virtual A { }":           "virtual is not supported",
		"static int a":                                            "static is not supported",
		"int a = 3":                                               "an initial value is not allowed here",
		"struct { int a[n]; }":                                    "the value of n is not known",
		"struct { int a[-1]; }":                                   "an array cannot have -1 elements",
		"struct { int a[1/0]; }":                                  "division by zero",
		"struct { int a[1 << 80]; }":                              "cannot shift by 80",
		"struct { alignas(3) int a; }":                            "3 is not an alignment",
		"struct { int a __attribute__((mode(DI))); }":             `attribute "mode" is not supported`,
		"struct E { }; struct { [[no_unique_address]] E a; }":     `attribute "no_unique_address" is not supported`,
		"typedef int T __attribute__((aligned(8)));":              "an alignment of a typedef",
		"unsigned float x":                                        `"unsigned float" is not a type`,
		"long long long x":                                        `"long long long" is not a type`,
		"signed unsigned x":                                       "is not a type",
		"int int x":                                               "is not a type",
		"int float4 x":                                            `expected ";"`,
		"#pragma once\n#define A":                                 "2:1: error: directives are not supported",
		"#pragma pack(push, N)\nstruct { int a; }":                "2:1: error: #pragma pack(N) is not supported",
		"#pragma pack(3)\nstruct { int a; }":                      "#pragma pack(3) is not supported",
		"struct {\n#pragma pack(1)\nint a; }":                     "a directive within a struct is not supported",
		"namespace n { struct S { int a; };":                      "is not closed",
		"namespace n { struct S { int a; }; } struct { S s; }":    "unknown type S",
		"namespace n { struct S { int a; }; } struct { n::T s; }": "unknown type n::T",
		"using namespace n;":                                      "unknown namespace n",
		"template <class... T> struct P { int a; }; struct { P<int> p; }":                                              "1:16: error: a template with any number of parameters is not supported, and P has one",
		"template <template <class> class T> struct P { int a; }; struct { P<int> p; }":                                "1:11: error: a template as the parameter of a template is not supported",
		"template <class T> struct P { int a; };\ntemplate <class T>\nstruct P<T *> { char a; }; struct { P<int> p; }": "3:1: error: a partial specialisation of a template is not supported",
		"template <class T> struct P { T a; }; struct { P<> p; }":                                                      "P has 1 parameters",
		"template <class T> struct P { T a; }; struct { P<int, int> p; }":                                              `expected ">" behind the arguments`,
		"template <class T> struct P { virtual T f(); }; struct { P<int> p; }":                                         "1:31: error: virtual is not supported",
		"template <int N> struct P { P<N + 1> *p; }; struct { P<0> p; }":                                               "nested too deep",
		"template <class T> struct P; struct { P<int> p; }":                                                            "P is declared without members",
		"struct { int a; } /* ":                "the comment is not closed",
		"struct { int a é; }":                  "unexpected 'é' in a declaration",
		"struct { int ((((((a; }":              "is not closed",
		"int x : 3":                            "a bit field outside a struct",
		"enum E e":                             "the values of enum E are not known",
		strings.Repeat("struct {", 400):        "nested too deep",
		"char c[" + strings.Repeat("(", 4000):  "nested too deep",
		"char " + strings.Repeat("(*", 4000):   "is not closed",
		"char a" + strings.Repeat("[2]", 4000): "nested too deep",
	} {
		declared, err := Parse(&diag.Source{Name: "test", Text: []byte(text)}, LP64)
		if err == nil {
			_, err = LayOut(declared[len(declared)-1].Type, LP64)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse checks that every text gives a layout or a message with a place in the
// text.
func FuzzParse(f *testing.F) {
	f.Add("struct S { char c; int b : 5, : 0; struct { float4 v[3]; }; int (*f)(int); } __attribute__((aligned(8))) s, *p;")
	f.Add("enum E : short { a = 1 << 3, b }) ")
	f.Add("extern \"C\" { class S : B { ~S() {} static int f(); using T = int; int a{1}; }; }\n#pragma pack(1)\n")
	f.Add("namespace n { template <class T, int N = 2> struct S : B<T>, ::A { T t[N]; using U = S<T>; }; } using namespace n; struct Q { n::S<int, 3> s; };\n#pragma pack(push, x, 2)\n")
	f.Add("enum E : short { a = 1 << 3, b }; typedef union { long double x; E e; } U; U u[sizeof(U) * 2];")
	f.Fuzz(func(t *testing.T, text string) {
		src := &diag.Source{Name: "fuzz", Text: []byte(text)}
		if h, err := ParseHeader(src, LP64); err == nil {
			if q, err := h.Type("S"); err == nil {
				LayOut(q, LP64)
			}
		}
		declared, err := Parse(src, LP64)
		if err != nil {
			m := err.(*diag.Message)
			if m.Place.Span.Off < 0 || int(m.Place.Span.End()) > len(text) {
				t.Errorf("%v is outside of the text", m.Place.Span)
			}
			return
		}
		for _, d := range declared {
			l, err := LayOut(d.Type, LP64)
			if err != nil {
				continue
			}
			if l.Size < 0 || l.Align < 1 || l.Size%l.Align != 0 {
				t.Errorf("size %d, alignment %d", l.Size, l.Align)
			}
			n := 0
			for p := range l.Parts() {
				if p.Bit < 0 || p.Bit+p.Bits > l.Size*8 && p.Bits > 0 {
					t.Errorf("%s is outside: %d:%d of %d bytes", p.Path, p.Bit, p.Bits, l.Size)
				}
				if n++; n > 1000 {
					break
				}
			}
		}
	})
}

// TestHeaderNamesTwice checks that a name with two meanings, one within a class, gives an
// error where the wrong one might be used.
func TestHeaderNamesTwice(t *testing.T) {
	for text, want := range map[string]string{
		"typedef double T; struct Q { using T = decltype(1); T a; };": "the members of struct Q::T are not known",
		"namespace n { struct Q { int a; }; }":                        "no type Q is declared",
		"template <class T> struct Q { T a; };":                       "Q is a template",
		"typedef int vector; struct Q { std::vector v; };":            "unknown type std::vector",
		"struct __attribute__((strange)) Q { int a; };":               `attribute "strange" is not supported`,
		"struct Q;": "struct Q is declared without members",
		"template <class T> struct R { using type = T; };\ntemplate <class T> struct R<T *> { };\nstruct Q { using U = R<int>; U::type a; };": "2:20: error: a partial specialisation of a template",
		"namespace n { typedef strange T; struct Q { T a; }; } typedef n::Q Q;":                                                               "1:23: error: unknown type strange",
		"#pragma pack(push, x, N)\nstruct A { int a; };\n#pragma pack(pop)\nstruct Q { A a; };":                                               "the members of struct A are not known",
	} {
		h, err := ParseHeader(&diag.Source{Name: "test", Text: []byte(text)}, LP64)
		if err != nil {
			t.Fatal(err)
		}
		q, err := h.Type("Q")
		if err == nil {
			_, err = LayOut(q, LP64)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
