package ctype

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ptxlink/object/diag"
)

// parse lays out the last declaration of a C text.
func parse(t *testing.T, text string, m Model) *Layout {
	t.Helper()
	declared, err := Parse(&diag.Source{Name: "test", Text: []byte(text)}, m)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	l, err := LayOut(declared[len(declared)-1].Type, m)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return l
}

// places returns a layout as "size/align name@bit:bits".
func places(l *Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d", l.Size, l.Align)
	for p := range l.Parts() {
		fmt.Fprintf(&b, " %s@%d:%d", p.Path, p.Bit, p.Bits)
	}
	return b.String()
}

// TestTypes checks PTX Interoperability 1.1, 1.2 and 2.3: size, alignment, and how
// types are passed.
func TestTypes(t *testing.T) {
	for _, test := range []struct{ name, lp64, llp64, ilp32 string }{
		{"bool", "1/1 .param .b32 x", "", ""},
		{"char", "1/1 .param .b32 x", "", ""},
		{"unsigned char", "1/1 .param .b32 x", "", ""},
		{"short int", "2/2 .param .b32 x", "", ""},
		{"int", "4/4 .param .b32 x", "", ""},
		{"unsigned", "4/4 .param .b32 x", "", ""},
		{"int long unsigned", "8/8 .param .b64 x", "4/4 .param .b32 x", "4/4 .param .b32 x"},
		{"long long", "8/8 .param .b64 x", "", ""},
		{"unsigned __int128", "16/16 .param .align 16 .b8 x[16]", "", ""},
		{"_Float16", "2/2 .param .align 2 .b8 x[2]", "", ""},
		{"__half", "2/2 .param .align 2 .b8 x[2]", "", ""},
		{"half2", "4/4 .param .align 4 .b8 x[4]", "", ""},
		{"float", "4/4 .param .b32 x", "", ""},
		{"double", "8/8 .param .b64 x", "", ""},
		{"void *", "8/8 .param .b64 x", "8/8 .param .b64 x", "4/4 .param .b32 x"},
		{"int (*)(float)", "8/8 .param .b64 x", "8/8 .param .b64 x", "4/4 .param .b32 x"},
		{"size_t", "8/8 .param .b64 x", "8/8 .param .b64 x", "4/4 .param .b32 x"},
		{"wchar_t", "4/4 .param .b32 x", "2/2 .param .b32 x", "4/4 .param .b32 x"},
		{"uint16_t", "2/2 .param .b32 x", "", ""},
		{"enum { a, b }", "4/4 .param .b32 x", "", ""},
		{"enum e : unsigned char", "1/1 .param .b32 x", "", ""},
		{"enum { a = -1, b = 0x100000000 }", "8/8 .param .b64 x", "", ""},
		{"char1", "1/1 .param .align 1 .b8 x[1]", "", ""},
		{"char2", "2/2 .param .align 2 .b8 x[2]", "", ""},
		{"uchar3", "3/1 .param .align 1 .b8 x[3]", "", ""},
		{"char4", "4/4 .param .align 4 .b8 x[4]", "", ""},
		{"short2", "4/4 .param .align 4 .b8 x[4]", "", ""},
		{"ushort3", "6/2 .param .align 2 .b8 x[6]", "", ""},
		{"short4", "8/8 .param .align 8 .b8 x[8]", "", ""},
		{"int1", "4/4 .param .align 4 .b8 x[4]", "", ""},
		{"int2", "8/8 .param .align 8 .b8 x[8]", "", ""},
		{"int3", "12/4 .param .align 4 .b8 x[12]", "", ""},
		{"uint4", "16/16 .param .align 16 .b8 x[16]", "", ""},
		{"float2", "8/8 .param .align 8 .b8 x[8]", "", ""},
		{"float3", "12/4 .param .align 4 .b8 x[12]", "", ""},
		{"float4", "16/16 .param .align 16 .b8 x[16]", "", ""},
		{"double2", "16/16 .param .align 16 .b8 x[16]", "", ""},
		{"double3", "24/8 .param .align 8 .b8 x[24]", "", ""},
		{"double4", "32/16 .param .align 16 .b8 x[32]", "", ""},
		{"double4_32a", "32/32 .param .align 32 .b8 x[32]", "", ""},
		{"double4_16a", "32/16 .param .align 16 .b8 x[32]", "", ""},
		{"long2", "16/16 .param .align 16 .b8 x[16]", "8/8 .param .align 8 .b8 x[8]", "8/8 .param .align 8 .b8 x[8]"},
		{"ulong4", "32/16 .param .align 16 .b8 x[32]", "16/16 .param .align 16 .b8 x[16]", "16/16 .param .align 16 .b8 x[16]"},
		{"dim3", "12/4 .param .align 4 .b8 x[12]", "", ""},
		{"float4[3]", "48/16 .param .b64 x", "", ".param .b32 x"},
		{"struct {}", "1/1 .param .align 1 .b8 x[1]", "", ""},
		{"struct { int i; }", "4/4 .param .align 4 .b8 x[4]", "", ""},
		{"union { double d; char c[9]; }", "16/8 .param .align 8 .b8 x[16]", "", ""},
		{"struct alignas(64) { int i; }", "64/64 .param .align 64 .b8 x[64]", "", ""},
		{"struct { char c; float4 v; }", "32/16 .param .align 16 .b8 x[32]", "", ""},
		{"struct { char c; long l; void *p; }", "24/8 .param .align 8 .b8 x[24]", "16/8 .param .align 8 .b8 x[16]", "12/4 .param .align 4 .b8 x[12]"},
		{"struct { char c; double d; }", "16/8 .param .align 8 .b8 x[16]", "", ""},
	} {
		for i, want := range []string{test.lp64, test.llp64, test.ilp32} {
			m := []Model{LP64, LLP64, ILP32}[i]
			l := parse(t, test.name, m)
			form, err := l.Param(m)
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			got := fmt.Sprintf("%d/%d %s", l.Size, l.Align, form.Decl("x"))
			if want == "" {
				want = test.lp64
			}
			if !strings.HasSuffix(got, want) {
				t.Errorf("%s in %s: %s, want %s", test.name, m.Name, got, want)
			}
		}
	}
}

// TestBitFields checks the rules of PTX Interoperability 1.3, one by one.
// TestLayoutOfCompilers has hundreds of layouts from compilers.
func TestBitFields(t *testing.T) {
	for decl, want := range map[string]string{
		"struct { int a : 3, b : 4; }":                                         "4/4 a@0:3 b@3:4",
		"struct { char a : 5; char b : 5; }":                                   "2/1 a@0:5 b@8:5",
		"struct { short a : 9; int b : 20; }":                                  "4/4 a@0:9 b@9:20",
		"struct { int a : 20; short b : 9; }":                                  "4/4 a@0:20 b@20:9",
		"struct { int a : 30; long long b : 40; int c : 3; }":                  "16/8 a@0:30 b@64:40 c@104:3",
		"struct { char c; int b : 5; double d; }":                              "16/8 c@0:8 b@8:5 d@64:64",
		"struct { int b : 5; char c; }":                                        "4/4 b@0:5 c@8:8",
		"struct { char c; int : 0; char d; }":                                  "5/1 c@0:8 @32:0 d@32:8",
		"struct { char c; long long : 0; char d; }":                            "9/1 c@0:8 @64:0 d@64:8",
		"struct { char c; int : 5; char d; }":                                  "3/1 c@0:8 @8:5 d@16:8",
		"union { long long : 0; char c; }":                                     "1/1 @0:0 c@0:8",
		"union { int b : 3; char c; }":                                         "4/4 b@0:3 c@0:8",
		"union { int : 17; char c; }":                                          "3/1 @0:17 c@0:8",
		"struct __attribute__((packed)) { char a; int b : 30; int c : 10; }":   "6/1 a@0:8 b@8:30 c@38:10",
		"struct { char a; int b : 5 __attribute__((aligned(8))); int c : 3; }": "16/8 a@0:8 b@64:5 c@69:3",
		"struct { bool b : 1; enum E : uint8_t { x } e : 3; bool c : 1; }":     "1/1 b@0:1 e@1:3 c@4:1",
		"struct { int a : 32; unsigned : 0; int : 0; char c; }":                "8/4 a@0:32 @32:0 @32:0 c@32:8",
	} {
		if got := places(parse(t, decl, LP64)); got != want {
			t.Errorf("%s: %s, want %s", decl, got, want)
		}
	}
}

func TestEmptyInC(t *testing.T) {
	c := LP64
	c.C = true
	if got := places(parse(t, "struct { struct {} e; char c; }", c)); got != "1/1 e@0:0 c@0:8" {
		t.Error(got)
	}
	l := parse(t, "struct { int : 0; }", c)
	if _, err := l.Param(c); l.Size != 0 || err == nil {
		t.Errorf("size %d, %v", l.Size, err)
	}
	if got := places(parse(t, "struct { struct {} e; char c; }", LP64)); got != "2/1 e@0:8 c@8:8" {
		t.Error(got)
	}
}

func TestPadding(t *testing.T) {
	l := parse(t, "struct { char c; int b : 5; int : 3; double d; char e; }", LP64)
	if got, want := fmt.Sprint(l.Padding()), "[{13 51} {136 56}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(parse(t, "union { int a; char c[7]; }", LP64).Padding()); got != "[{56 8}]" {
		t.Error(got)
	}
}

// TestLayOutRefuses checks types that a caller can build but the parser cannot.
func TestLayOutRefuses(t *testing.T) {
	loop := &Type{Kind: Struct, Name: "L"}
	loop.Members = []Member{{Name: "again", Type: arrayOf(loop, 2)}}
	huge := Named("double")
	for range 5 {
		huge = arrayOf(huge, 1<<12)
	}
	member := func(m Member) *Type { return &Type{Kind: Struct, Members: []Member{m}} }
	i := Named("int")
	for want, typ := range map[string]*Type{
		"again: struct L contains itself":                loop,
		"is larger than":                                 huge,
		"void has no size":                               nil,
		"a type that is neither":                         {},
		"a: 3 is not an alignment":                       member(Member{Name: "a", Type: i, Align: 3}),
		"a: a bit field cannot have -1 bits":             member(Member{Name: "a", Type: i, BitField: true, Width: -1}),
		"a: 33 bits are more than the 32 of int":         member(Member{Name: "a", Type: i, BitField: true, Width: 33}),
		"a: a bit field cannot be of type float":         member(Member{Name: "a", Type: Named("float"), BitField: true, Width: 3}),
		"a: a bit field without bits cannot have a name": member(Member{Name: "a", Type: i, BitField: true}),
		"a: a bool bit field has 1 bit, not 2":           member(Member{Name: "a", Type: Named("bool"), BitField: true, Width: 2}),
		"an array cannot have -4 elements":               arrayOf(i, -4),
		"a.b: void has no size":                          member(Member{Name: "a", Type: member(Member{Name: "b"})}),
	} {
		_, err := LayOut(typ, LP64)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	l := parse(t, "struct { alignas(256) int x; }", LP64)
	if _, err := l.Param(LP64); err == nil || !strings.Contains(err.Error(), "alignment 256 is above 128") {
		t.Errorf("%v", err)
	}
}
