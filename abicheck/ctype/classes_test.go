package ctype

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
)

// classGenerator writes random classes of C++: bases, empty classes, packing, templates,
// namespaces. Later ones use earlier ones.
type classGenerator struct {
	generator
	classes []string // full names
	empties []string
	count   int
}

// class returns the text of one more class.
func (g *classGenerator) class() string {
	var b strings.Builder
	name := fmt.Sprintf("C%d", g.count)
	g.count++
	full := name
	namespace, pack, template := g.one(6), g.one(8), g.one(10)
	if namespace {
		space := pick(&g.generator, "n", "n::m", "k")
		full = space + "::" + name
		fmt.Fprintf(&b, "namespace %s {\n", space)
	}
	if pack {
		fmt.Fprintf(&b, "#pragma pack(push, %d)\n", pick(&g.generator, 1, 2, 4, 8, 16))
	}
	if template {
		fmt.Fprintf(&b, "template <class T, int N = %d> ", 1+g.rand.IntN(3))
	}
	b.WriteString("struct ")
	if g.one(12) {
		fmt.Fprintf(&b, "__attribute__((aligned(%d))) ", pick(&g.generator, 8, 16, 32))
	}
	if g.one(16) {
		b.WriteString("__attribute__((packed)) ")
	}
	b.WriteString(name)
	bases := 0
	if g.one(2) && len(g.classes) > 0 {
		seen := map[string]bool{}
		for range 1 + g.rand.IntN(3) {
			base := g.earlier()
			if seen[base] {
				continue
			}
			seen[base] = true
			b.WriteString(map[bool]string{true: " : ", false: ", "}[bases == 0] + pick(&g.generator, "", "public ") + "::" + base)
			bases++
		}
	}
	b.WriteString(" {")
	if g.one(4) {
		b.WriteString(" " + name + "();") // no POD
	}
	if g.one(16) {
		fmt.Fprintf(&b, " %s(%s &&) = default;", name, name)
	}
	members := g.rand.IntN(5)
	if g.one(4) {
		members = 0
	}
	for i := range members {
		g.classMember(&b, fmt.Sprintf("m%d", i), template)
	}
	if members > 0 && g.one(6) {
		b.WriteString(" private: int p;")
	}
	b.WriteString(" };\n")
	if pack {
		b.WriteString("#pragma pack(pop)\n")
	}
	if namespace {
		b.WriteString("}\n")
	}
	if template {
		full += "<" + pick(&g.generator, "char", "short, 3", "double", "long, 1") + ">"
		fmt.Fprintf(&b, "inline unsigned long use%d() { return sizeof(%s); }\n", g.count, full)
	}
	g.classes = append(g.classes, full)
	if members == 0 && bases == 0 {
		g.empties = append(g.empties, full)
	}
	return b.String()
}

// earlier returns a class, often an empty one.
func (g *classGenerator) earlier() string {
	if len(g.empties) > 0 && g.one(2) {
		return pick(&g.generator, g.empties...)
	}
	return g.classes[max(0, len(g.classes)-1-g.rand.IntN(20))]
}

func (g *classGenerator) classMember(b *strings.Builder, name string, template bool) {
	switch g.rand.IntN(7) {
	case 0, 1:
		fmt.Fprintf(b, " %s %s;", pick(&g.generator, "char", "short", "int", "long", "double", "int *"), name)
	case 2:
		typ, most := "int", 32
		if g.one(3) {
			typ, most = "char", 8
		}
		if g.one(6) {
			fmt.Fprintf(b, " %s : 0;", typ)
			return
		}
		fmt.Fprintf(b, " %s %s : %d;", typ, name, 1+g.rand.IntN(most))
	case 3:
		if template {
			fmt.Fprintf(b, " T %s[N];", name)
			return
		}
		fmt.Fprintf(b, " char %s[%d];", name, 1+g.rand.IntN(5))
	default:
		if len(g.classes) == 0 {
			return
		}
		typ := "::" + g.earlier()
		if g.one(3) {
			fmt.Fprintf(b, " %s %s[%d];", typ, name, 1+g.rand.IntN(3))
			return
		}
		fmt.Fprintf(b, " %s %s;", typ, name)
	}
}

// TestCompilersDisagree checks that classes which compilers lay out in different ways are
// refused.
func TestCompilersDisagree(t *testing.T) {
	for text, want := range map[string]string{
		"#pragma pack(1)\nstruct { char a; int b __attribute__((aligned(4))); }":                                  "an alignment of 4 within #pragma pack(1)",
		"#pragma pack(1)\nstruct { int a : 7; int : 0; char b; }":                                                 "a zero-width bit field within #pragma pack",
		"#pragma pack(8)\nstruct __attribute__((packed)) { int a : 7; }":                                          "a packed bit field within #pragma pack",
		"struct A { int a; }; struct __attribute__((packed)) D : A { char b; }":                                   "a base class of a packed class",
		"struct A { A(); int a; }; struct __attribute__((packed)) D { char b; A a; }":                             "a packed member of struct A, which is no POD",
		"struct A { int a; }; struct B : A { }; struct D { char b; B c[2] __attribute__((packed)); }":             "a packed member of struct B, which is no POD",
		"struct A { int a; };\n#pragma pack(2)\nstruct D : A { char b; }":                                         "a base class aligned to 4 within #pragma pack(2)",
		"struct A { A(); int a; char b; };\n#pragma pack(8)\nstruct D : A { char b; }":                            "a base class with padding within #pragma pack",
		"struct A { A(A &&) = default; int a; char b; }; struct D : A { char b; }":                                "whether struct A is a POD",
		"struct A { explicit A() = default; int a; char b; }; struct D : A { char b; }":                           "whether struct A is a POD",
		"struct A { A(const A &) = delete; int a; char b; }; struct B { A a; char c; }; struct D : B { char b; }": "whether struct B is a POD",
		"struct A { A &operator=(A &&); int a; char b; }; struct D : A { char b; }":                               "whether struct A is a POD",
		"struct A { }; struct alignas(8) B : A { }; struct C : A { int c; }; struct D : C, B { char b; }":         "an empty base class aligned to 8 behind offset 0",
	} {
		declared, err := Parse(&diag.Source{Name: "test", Text: []byte(text)}, LP64)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, err = LayOut(declared[len(declared)-1].Type, LP64)
		if err == nil || !strings.Contains(err.Error(), "disagree on "+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestRandomClasses compares the layouts of random classes with clang, and has nvcc and
// the host's compiler check them. PTXLINK_LAYOUT_SEED and PTXLINK_LAYOUT_COUNT select
// others.
func TestRandomClasses(t *testing.T) {
	clang := oracles.RequireCompiler(t, "clang")
	seed, count := fromEnv("PTXLINK_LAYOUT_SEED", 1), fromEnv("PTXLINK_LAYOUT_COUNT", 300)
	g := &classGenerator{generator: generator{rand: rand.New(rand.NewPCG(uint64(seed), 1))}}
	text := ""
	for range count {
		text += g.class()
	}
	compared := compareWithClang(t, clang, "c++", text, ".")
	t.Logf("%d of %d classes compared", compared, count)
	if compared < count/2 {
		t.Errorf("only %d of %d classes compared with clang", compared, count)
	}

	header, err := ParseHeader(&diag.Source{Name: "classes.h", Text: []byte(text)}, LP64)
	if err != nil {
		t.Fatal(err)
	}
	var claims strings.Builder
	claims.WriteString("#include <cstddef>\n")
	claims.WriteString(text)
	for i, name := range g.classes {
		typ, err := header.Type(name)
		if err != nil {
			continue
		}
		l, err := LayOut(typ, LP64)
		if err != nil {
			continue
		}
		next := l.data / 8
		if l.empty {
			next = 0
		}
		fmt.Fprintf(&claims, "static_assert(sizeof(%s) == %d, \"size\"); static_assert(alignof(%s) == %d, \"alignment\");\n", name, l.Size, name, l.Align)
		if typ.disputed && !typ.notPOD && l.used < l.Size*8 {
			continue
		}
		fmt.Fprintf(&claims, "struct D%d : %s { D%d(); char next; }; static_assert(offsetof(D%d, next) == %d, \"derived\");\n", i, name, i, i, next)
		for _, m := range l.Members {
			if strings.HasPrefix(m.Name, "m") && !m.BitField {
				fmt.Fprintf(&claims, "typedef %s T%d%s; static_assert(offsetof(T%d%s, %s) == %d, \"%s\");\n", name, i, m.Name, i, m.Name, m.Name, m.Bit/8, m.Name)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "claims.cu")
	if err := os.WriteFile(file, []byte(claims.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string][]string{
		"nvcc":     {"-std=c++17", "-w", "-ptx", "-arch=sm_80", "-o", os.DevNull},
		"nvcc-new": {"-std=c++17", "-w", "-ptx", "-arch=sm_80", "-o", os.DevNull},
		"clang":    {"--target=x86_64-linux-gnu", "-std=c++17", "-w", "-fsyntax-only", "-x", "c++"},
	} {
		t.Run(tool, func(t *testing.T) {
			if out, err := exec.Command(oracles.RequireCompiler(t, tool), append(args, file)...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%.3000s", err, out)
			}
		})
	}
	if gcc, err := exec.LookPath("g++"); err == nil {
		if out, err := exec.Command(gcc, "-std=c++17", "-w", "-fsyntax-only", "-x", "c++", file).CombinedOutput(); err != nil {
			t.Errorf("g++: %v\n%.3000s", err, out)
		}
	}
}
