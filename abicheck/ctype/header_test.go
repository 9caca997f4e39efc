package ctype

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
)

// classes are classes of C++ whose layout depends on more than their members.
const classes = `
struct Pod { int a; char b; };
struct FromPod : Pod { char c; };
struct Built { Built(); int a; char b; };
struct FromBuilt : Built { char c; short d; };
struct Again : FromBuilt { char e; };
class Hidden { int a; char b; public: int sum() const { return a + b; } };
struct FromHidden : public Hidden { char c; };
struct Mixed { int a; private: char b; };
struct FromMixed : Mixed { char c; };
struct Assigned { Assigned &operator=(const Assigned &); long a; char b; };
struct FromAssigned : Assigned { char c; };
struct Destroyed { ~Destroyed(); long a : 33; };
struct FromDestroyed : Destroyed { int c : 3; char d; };
struct Holder { Built a; char b; };
struct FromHolder : Holder { char c; };
struct __attribute__((aligned(16))) Wide { Wide(int); char a; };
struct FromWide : Wide { double b; static int c; };
struct Set { int a = 1; char b; };
struct FromSet : Set { char c; };
struct Same : FromBuilt { };
struct Uses { Same s[2]; FromPod p; char z; int (*f)(Pod); };
union Either { FromBuilt a; FromPod b; };
struct Empty { };
struct Empty2 { int :0; };
struct Both : Empty, Empty2 { };
struct Twice : Both, Empty { };
struct FromEmpty : Empty { int a; };
struct Repeats : Empty { Empty a; int b; };
struct Arrays : Empty { Empty2 x[3]; Empty a[2]; };
struct Several : Built, Hidden, Empty { char z; };
struct Last : Built, Empty { Empty e; };
struct FromLast : Last { char y; };
struct alignas(16) WideEmpty { };
struct HasWide : Pod, WideEmpty { char y; };
struct FromHasWide : HasWide { char z; };
#pragma pack(push, 2)
struct Narrow { char a; long b; int c : 20, d : 20; };
struct FromNarrow : Pod, WideEmpty { char y; double z; };
_Pragma("pack(1)")
struct Tight { char a; int b; Built c; };
#pragma pack(pop)
struct __attribute__((packed)) Unpacked { char a; Built b; Pod c; };
struct __attribute__((packed)) PackedBase : Built, Pod { char a; int b; };
namespace one { namespace two { struct Pod { char c; }; struct In : Pod, ::Pod { }; } using namespace two; struct Out { two::In i; Pod p; }; }
struct Outer { struct Pod { short s; }; enum E : short { a = 2 }; Pod p[E::a]; E e; struct : Pod { char q; } r; };
struct Nested : Outer { Pod p; one::Out q; };
`

// templates are instances of templates of classes.
const templates = `
struct Pod { int a; char b; };
template <class T> struct Pair { T a, b; };
template <class T, int N = 3> struct Vector { T v[N]; Vector() {} };
template <class T> struct Holder;
template <class T, class U = Pair<T>> class Tree : public Pair<U>, Vector<T, sizeof(U)> { using Self = Tree; Self *left, *right; typename Holder<T>::type *x; char c; };
template <class T> struct Holder { using type = T; type t; Pair<Pair<T>> p; };
template <> struct Pair<bool> { unsigned a : 1, b : 1; };
namespace n {
struct Pod { char c; };
template <class T> struct Tagged : Pod { T t; ::Pod p; };
template <class T> using Two = Pair<Tagged<T>>;
}
struct Uses {
	Pair<int> a; Pair<char> b; Vector<double> c; Vector<Pair<short>, 2> d; Holder<n::Pod> e; Pair<bool> f;
	n::Two<char> g; n::Tagged<Pair<unsigned char>> h; Holder<Holder<char>> i; Vector<Pod *, (16 >> 3)> j;
};
struct Derived : Pair<Pod>, Vector<char, 5>, Holder<bool>, Tree<short> { char z; };
`

// TestHeadersAgainstClang compares all types in headers of the system, of the standard
// library and of CUDA, and classes, with the layouts of clang.
func TestHeadersAgainstClang(t *testing.T) {
	clang := oracles.RequireCompiler(t, "clang")
	if _, err := os.Stat("/usr/include/netdb.h"); err != nil {
		t.Skip("no headers of the system")
	}
	include := func(names ...string) (text string) {
		for _, name := range names {
			text += "#include <" + name + ">\n"
		}
		return text
	}
	headers := include("stdio.h", "stdlib.h", "stdint.h", "time.h", "sys/stat.h", "sys/time.h", "sys/resource.h", "netdb.h", "netinet/in.h", "dirent.h",
		"elf.h", "signal.h", "pthread.h", "termios.h", "poll.h", "sys/un.h", "link.h", "linux/kvm.h", "linux/bpf.h", "linux/ethtool.h", "linux/videodev2.h")
	for _, test := range []struct {
		name, lang, text string
		least            int // types compared
	}{
		{"headers", "c", headers, 70},
		{"headers", "c++", headers, 80},
		{"classes", "c++", classes, 22},
		{"vectors", "c", include("vector_types.h", "cuComplex.h"), 45},
		{"floats", "c++", include("cuda_fp16.h", "cuda_bf16.h"), 4},
		{"templates", "c++", templates, 20},
		{"library", "c++", include("cstdint", "cstddef", "cstdlib", "ctime"), 5},
	} {
		t.Run(test.name+" "+test.lang, func(t *testing.T) {
			compared := compareWithClang(t, clang, test.lang, test.text, filepath.Join(oracles.Dir(), "nvcc-12.4/include"))
			t.Logf("%d types compared", compared)
			if compared < test.least {
				t.Errorf("only %d types compared", compared)
			}
		})
	}
}

// compareWithClang compares all types of a text with the layouts of clang and returns how
// many they are.
func compareWithClang(t *testing.T, clang, lang, text, include string) (compared int) {
	file := filepath.Join(t.TempDir(), "all.h")
	// The header of another package that those of 16-bit floats include.
	nv := filepath.Join(filepath.Dir(file), "nv")
	if err := os.Mkdir(nv, 0o777); err != nil {
		t.Fatal(err)
	}
	stub := "#define NV_IF_ELSE_TARGET(...)\n#define NV_IF_TARGET(...)\n"
	if err := os.WriteFile(filepath.Join(nv, "target"), []byte(stub), 0o666); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		args = append([]string{"--target=x86_64-linux-gnu", "-w", "-x", lang, "-I", include, "-I", filepath.Dir(file)}, append(args, file)...)
		if lang == "c++" {
			args = append(args, "-fno-access-control")
		}
		out, err := exec.Command(clang, args...).Output()
		if err != nil {
			t.Fatalf("%v\n%.2000s", err, err.(*exec.ExitError).Stderr)
		}
		return string(out)
	}
	const separator = "*** Dumping AST Record Layout"
	dumps := map[string]string{} // by the line with the name
	read := func(out string) {
		for _, dump := range strings.Split(out, separator)[1:] {
			head, body, _ := strings.Cut(strings.TrimLeft(dump, "\n"), "\n")
			if !strings.Contains(head, "(anonymous") && !strings.Contains(head, "(unnamed") && !strings.Contains(head, "_tag") {
				dumps[head] = body
			}
		}
	}
	// A type is dumped before the attributes behind it are known, and again for sizeof.
	write(text)
	preprocessed := run("-E")
	read(run("-fsyntax-only", "-Xclang", "-fdump-record-layouts-complete"))
	for head := range dumps {
		if strings.Contains(head, "<") {
			continue
		}
		text += "static_assert(sizeof(" + strings.TrimSuffix(head[strings.Index(head, "|")+2:], " (empty)") + ") >= 0, \"\");\n"
	}
	if lang == "c" {
		text = strings.ReplaceAll(text, "static_assert", "_Static_assert")
	}
	write(text)
	read(run("-fsyntax-only", "-Xclang", "-fdump-record-layouts"))
	src := &diag.Source{Name: file, Text: []byte(preprocessed)}
	model := LP64
	model.C = lang == "c"
	header, err := ParseHeader(src, model)
	if err != nil {
		t.Fatal(err)
	}
	for head, body := range dumps {
		name := regexp.MustCompile(`\| (?:struct |union |class |)(.*?)(?: \(empty\))?$`).FindStringSubmatch(head)
		size := regexp.MustCompile(`\[sizeof=(\d+),(?: dsize=\d+,)? align=(\d+)(?:,\s*\|  nvsize=(\d+))?`).FindStringSubmatch(body)
		if name == nil || size == nil {
			t.Fatalf("cannot read the dump of %s\n%s", head, body)
		}
		typ, err := header.Type(name[1])
		var l *Layout
		if err == nil {
			l, err = LayOut(typ, model)
		}
		if err != nil {
			t.Logf("%s: %v", name[1], err)
			continue
		}
		body = strings.ReplaceAll(body, " (empty)\n", "\n")
		ours := fmt.Sprintf("size %d align %d", l.Size, l.Align)
		theirs := fmt.Sprintf("size %s align %s", size[1], size[2])
		if size[3] != "" {
			ours += fmt.Sprintf(" as a base %d", l.data/8)
			theirs += " as a base " + size[3]
		}
		for i := range l.Members {
			switch m := &l.Members[i]; {
			case m.Base:
				ours += fmt.Sprintf("\n%d base %s", m.Bit, m.Type.Name)
			case m.Name != "" && m.BitField:
				ours += fmt.Sprintf("\n%d %s:%d", m.Bit, m.Name, m.Bits)
			case m.Name != "":
				ours += fmt.Sprintf("\n%d %s", m.Bit, m.Name)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^ *(\d+)(?::(\d+)-(\d+))? \|   (?:\S.*) (\w+)$|^ *(\d+) \|   (?:struct|class) (\S.*) \(base\)$`).FindAllStringSubmatch(body, -1) {
			number := func(s string) int64 {
				n, _ := strconv.ParseInt("0"+s, 10, 64)
				return n
			}
			switch {
			case m[6] != "":
				base := m[6]
				if typ, err := header.Type(base); err == nil {
					base = typ.Name // which spells arguments in another way
				}
				theirs += fmt.Sprintf("\n%d base %s", number(m[5])*8, base)
			case m[2] != "":
				theirs += fmt.Sprintf("\n%d %s:%d", number(m[1])*8+number(m[2]), m[4], number(m[3])-number(m[2])+1)
			default:
				theirs += fmt.Sprintf("\n%d %s", number(m[1])*8, m[4])
			}
		}
		if ours, theirs = sorted(ours), sorted(theirs); ours != theirs {
			t.Errorf("%s: we have\n%s\nclang has\n%s", typ, ours, theirs)
		}
		compared++
	}
	return compared
}

// sorted sorts the lines: clang prints bases in order of their places.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}
