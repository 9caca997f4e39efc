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
		"struct { int : 3, b : 010; }":                                                  "4/4 @0:3 b@3:8",
		// Packing.
		"#pragma pack(push, 2)\nstruct { char a; int b; }":                                                      "6/2 a@0:8 b@16:32",
		"#pragma pack(push, 1)\nstruct A { int b; };\n#pragma pack(pop)\nstruct { char c; A a; }":               "5/1 c@0:8 a@8:32 a.b@8:32",
		"#pragma pack(4)\n#pragma pack(push)\n#pragma pack(1)\n#pragma pack(pop)\nstruct { char a; double b; }": "12/4 a@0:8 b@32:64",
		"#pragma pack(8)\nstruct { int a : 20, b : 20; }":                                                       "8/4 a@0:20 b@20:20",
		"struct [[nodiscard]] alignas(8) A { [[maybe_unused]] int a; [[gnu::aligned(16)]] char b; }":            "32/16 a@0:32 b@128:8",
		"struct { char *const p; int &r; }":                                                                     "16/8 p@0:64 r@64:64",
	} {
		if got := places(parse(t, text, LP64)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "there is no declaration",
		" ; ":                                   "there is no declaration",
		"struct {":                              `1:8: error: the "{" is not closed`,
		"struct { int a; } }":                   `expected ";", not "}"`,
		"struct { int; }":                       "1:13: error: expected the name of a member",
		"struct { void v; }":                    "1:15: error: a member cannot be void",
		"struct { int f(int), a; }; int f(int)": "f is a function",
		"struct { virtual int f(int); }":        "virtual is not supported",
		"struct { int a; char a; }":             "two members are called a",
		"struct { int a; union { int a; }; }":   "two members are called a",
		"struct A { int a; }; struct A { }":     "A is declared twice",
		"struct A { int a; }; union A b":        "A was declared as a struct",
		"struct A b":                            "the members of struct A are not known",
		"struct { struct B b; }":                "the members of struct B are not known here",
		"struct A { int a; }; struct D : A { char c; }":                                    "1:31: error: a base class is not supported",
		"struct A { A(); int a; }":                                                         "constructors and destructors are not supported",
		"struct A { ~A(); }":                                                               "constructors and destructors are not supported",
		"namespace n { struct S { int a; }; }":                                             "namespace is not supported",
		"struct { n::S s; }":                                                               "the scope n is not supported",
		"template <class T> struct P { T a; }":                                             "template is not supported",
		"struct { using T = int; }":                                                        "a typedef within a struct is not supported",
		"class A { int a; }; struct __attribute__((packed)) { char c; A a; }":              "a packed member of struct A, which is no POD",
		"struct R { int &r; }; struct { char c; R a __attribute__((packed)); }":            "a packed member of struct R, which is no POD",
		"#pragma pack(push, x, 2)\nstruct { int a; }":                                      "#pragma pack(x) is not supported",
		"#pragma pack(1)\nstruct { char a; int b __attribute__((aligned(4))); }":           "an alignment of 4 within #pragma pack(1)",
		"#pragma pack(1)\nstruct { int a : 7; int : 0; char b; }":                          "a zero-width bit field within #pragma pack",
		"#pragma pack(8)\nstruct __attribute__((packed)) { int a : 7; }":                   "a packed bit field within #pragma pack",
		"enum { N = 2 }; struct A { enum { N = 4 }; char a[N]; }; struct Q { char a[N]; }": "1:35: error: N has the values 2 and 4",
		"static int a":                                        "static is not supported",
		"int a = 3":                                           "an initial value is not allowed here",
		"struct { int a[n]; }":                                "the value of n is not known",
		"struct { int a[-1]; }":                               "an array cannot have -1 elements",
		"struct { int a[1/0]; }":                              "division by zero",
		"struct { int a[1 << 80]; }":                          "cannot shift by 80",
		"struct { alignas(3) int a; }":                        "3 is not an alignment",
		"struct { int a __attribute__((mode(DI))); }":         `attribute "mode" is not supported`,
		"struct E { }; struct { [[no_unique_address]] E a; }": `attribute "no_unique_address" is not supported`,
		"typedef int T __attribute__((aligned(8)));":          "an alignment of a typedef",
		"unsigned float x":                                    `"unsigned float" is not a type`,
		"long long long x":                                    `"long long long" is not a type`,
		"signed unsigned x":                                   "is not a type",
		"int int x":                                           "is not a type",
		"int float4 x":                                        `expected ";"`,
		"#pragma once\n#define A":                             "2:1: error: directives are not supported",
		"#pragma pack(push, N)\nstruct { int a; }":            "1:1: error: #pragma pack(N) is not supported",
		"#pragma pack(3)\nstruct { int a; }":                  "#pragma pack(3) is not supported",
		"struct {\n#pragma pack(1)\nint a; }":                 "a directive within a struct is not supported",
		"struct { int a; } /* ":                               "the comment is not closed",
		"struct { int a é; }":                                 "unexpected 'é' in a declaration",
		"struct { int ((((((a; }":                             "is not closed",
		"int x : 3":                                           "a bit field outside a struct",
		"enum E e":                                            "the values of enum E are not known",
		strings.Repeat("struct {", 400):                       "nested too deep",
		"char c[" + strings.Repeat("(", 4000):                 "nested too deep",
		"char " + strings.Repeat("(*", 4000):                  "is not closed",
		"char a" + strings.Repeat("[2]", 4000):                "nested too deep",
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
	f.Add("class S { ~S() {} static int f(); int &a; private: std::size_t b; };\n#pragma pack(push, 2)\n")
	f.Add("enum E : short { a = 1 << 3, b }; typedef union { long double x; E e; } U; U u[sizeof(U) * 2];")
	f.Fuzz(func(t *testing.T, text string) {
		src := &diag.Source{Name: "fuzz", Text: []byte(text)}
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
