package ctype

import (
	"bytes"
	flags "flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
)

var update = flags.Bool("update", false, "have nvcc and clang lay out the structs of testdata/abi/layout.c again")

// recorded holds generated structs, each with its layouts in nvcc and clang.
const recorded = "../../testdata/abi/layout.c"

const (
	recordedSeed  = 1
	recordedCount = 700
)

// TestLayoutOfCompilers compares LayOut with the layouts of nvcc and clang when
// testdata/abi/layout.c was made.
func TestLayoutOfCompilers(t *testing.T) {
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := Parse(&diag.Source{Name: recorded, Text: text}, LP64)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]map[string]string{} // by tag and compiler
	tag := ""
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && (fields[0] == "struct" || fields[0] == "union") {
			tag = regexp.MustCompile(`\bS[0-9]+\b`).FindString(line)
			said[tag] = map[string]string{}
		} else if rest, ok := strings.CutPrefix(line, "//"); ok && tag != "" {
			compiler, layout, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			if compiler == "both" {
				said[tag]["nvcc"], said[tag]["clang"] = layout, layout
			} else {
				said[tag][compiler] = layout
			}
		}
	}
	compared, bitFields := 0, 0
	for _, d := range declared {
		if !d.Type.isRecord() {
			continue
		}
		l, err := LayOut(d.Type, LP64)
		if err != nil {
			t.Errorf("%s: %v", d.Type.Name, err)
			continue
		}
		for _, compiler := range []string{"nvcc", "clang"} {
			if err := agrees(l, compiler, said[d.Type.Name][compiler]); err != nil {
				t.Errorf("%s, %s: %v", d.Type, compiler, err)
			}
		}
		compared++
		for p := range l.Parts() {
			if p.BitField {
				bitFields++
			}
		}
	}
	if compared < 500 || bitFields < 1000 {
		t.Errorf("only %d types with %d bit fields", compared, bitFields)
	}
	t.Logf("%d types with %d bit fields", compared, bitFields)
}

// agrees compares a layout with the output of a compiler.
//
// Everything must be equal, except that nvcc's parameters are those of FromNVCC,
// and that clang 19 differs in two ways:
//
//  1. The alignment of a result is that of its LLVM type.
//  2. The alignment of a parameter is raised to that of its LLVM type. If a member
//     is less aligned than its type requires, is packed or unnamed, or crosses a
//     unit of its type, that may exceed the alignment of the struct.
func agrees(l *Layout, compiler, said string) error {
	want := canonical(l)
	body, result, _ := strings.Cut(said, " result ")
	at := strings.LastIndex(body, " ") + 1
	param := body[at:]
	if compiler == "clang" {
		result = param
		var align, size int64
		fmt.Sscanf(param, "%d[%d]", &align, &size)
		if align > l.Align && relaxed(l) {
			body = fmt.Sprintf("%s%d[%d]", body[:at], l.Align, size)
		}
	}
	if form, err := l.Param(LP64); err == nil && compiler == "nvcc" && form.FromNVCC() != form {
		form = form.FromNVCC()
		want = want[:strings.LastIndex(want, " ")+1] + fmt.Sprintf("%d[%d]", form.Align, form.Size)
		param = fmt.Sprintf("%d[%d]", l.Align, l.Size)
	}
	if body != want {
		return fmt.Errorf("\n   we: %s\n they: %s", want, body)
	}
	if result != param {
		return fmt.Errorf("result %s, parameter %s", result, param)
	}
	return nil
}

// relaxed reports whether a member at any depth requires more alignment than the
// type that contains it has, or is a packed bit field across units.
func relaxed(l *Layout) bool {
	for l.Elem != nil {
		l = l.Elem
	}
	for _, m := range l.Members {
		crosses := m.BitField && m.Bits > 0 && m.Bit%(m.Layout.Size*8)+m.Bits > m.Layout.Size*8
		if m.Layout.Align > l.Align || crosses || relaxed(m.Layout) {
			return true
		}
	}
	return false
}

// canonical returns the line that is compared: "16/8 c@0 b@8:5 d@64 param 8[16]".
func canonical(l *Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d", l.Size, l.Align)
	for p := range l.Parts() {
		switch {
		case p.Name == "":
		case p.BitField:
			fmt.Fprintf(&b, " %s@%d:%d", p.Path, p.Bit, p.Bits)
		default:
			fmt.Fprintf(&b, " %s@%d", p.Path, p.Bit)
		}
	}
	form, err := l.Param(LP64)
	if err != nil {
		return err.Error()
	}
	fmt.Fprintf(&b, " param %d[%d]", form.Align, form.Size)
	return b.String()
}

// TestLayoutOfLiveCompilers generates structs and compares LayOut with the
// compilers of internal/oracles/fetch.sh --compilers.
// PTXLINK_LAYOUT_SEED and PTXLINK_LAYOUT_COUNT select other structs than the
// recorded ones.
func TestLayoutOfLiveCompilers(t *testing.T) {
	oracles.Long(t)
	tools := map[string]string{}
	for _, compiler := range []string{"nvcc", "clang"} {
		tools[compiler] = oracles.RequireCompiler(t, compiler)
	}
	seed, count := fromEnv("PTXLINK_LAYOUT_SEED", recordedSeed), fromEnv("PTXLINK_LAYOUT_COUNT", recordedCount)
	g := &generator{rand: rand.New(rand.NewPCG(uint64(seed), 0))}
	for range count {
		g.record()
	}
	said := map[string]map[string]string{}
	var lock sync.Mutex
	var running sync.WaitGroup
	const batch = 50
	for compiler, path := range tools {
		said[compiler] = map[string]string{}
		for from := 0; from < count; from += batch {
			running.Go(func() {
				part, err := compile(t.TempDir(), compiler, path, g.types, g.types[from:min(from+batch, count)])
				lock.Lock()
				defer lock.Unlock()
				if err != nil {
					t.Error(err)
				}
				for tag, layout := range part {
					said[compiler][tag] = layout
				}
			})
		}
	}
	running.Wait()
	if t.Failed() {
		return
	}

	var out bytes.Buffer
	fmt.Fprintf(&out, "// %d structs and unions, and how nvcc and clang lay them out for nvptx64. Made by\n// make.sh in this directory; README.md explains it.\n//\n// %s\n// %s\n%s",
		count, versionOf(tools["nvcc"], "release"), versionOf(tools["clang"], "version"), prelude)
	results, params := 0, 0
	for _, typ := range g.types {
		l, err := LayOut(typ, LP64)
		if err != nil {
			t.Fatalf("%s\n%v", source(typ), err)
		}
		nvcc, clang := said["nvcc"][typ.Name], said["clang"][typ.Name]
		for compiler, layout := range map[string]string{"nvcc": nvcc, "clang": clang} {
			if err := agrees(l, compiler, layout); err != nil {
				t.Errorf("%s: %s\n%v", compiler, source(typ), err)
			}
		}
		out.WriteString(source(typ) + "\n")
		if nvcc == clang {
			fmt.Fprintf(&out, "// both: %s\n", nvcc)
		} else {
			fmt.Fprintf(&out, "// nvcc: %s\n// clang: %s\n", nvcc, clang)
			if nvcc[:strings.Index(nvcc, " result ")] != clang[:strings.Index(clang, " result ")] {
				params++
			} else {
				results++
			}
		}
	}
	t.Logf("seed %d: %d types; clang aligns the parameter differently for %d, only the result for %d", seed, count, params, results)
	if seed != recordedSeed || count != recordedCount {
		return
	}
	if *update {
		if err := os.WriteFile(recorded, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if have, _ := os.ReadFile(recorded); !bytes.Equal(declarations(have), declarations(out.Bytes())) {
		t.Errorf("%s is not what the generator makes now; run make.sh beside it", recorded)
	}
}

// declarations returns the text without the compilers' output: other versions may
// differ in results.
func declarations(text []byte) []byte {
	return regexp.MustCompile(`(?m)^//.*\n`).ReplaceAll(text, nil)
}

func fromEnv(env string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil {
		return n
	}
	return otherwise
}

func versionOf(tool, word string) string {
	out, _ := exec.Command(tool, "--version").Output()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, word) {
			return strings.TrimSpace(line)
		}
	}
	return tool
}

// prelude comes before the generated types in layout.c.
const prelude = `
enum E8 : unsigned char { E8_0 };
enum E16 : short { E16_0 };
enum E32 : unsigned int { E32_0 };
enum E64 : long long { E64_0 };
enum E { E_0 };

`

// program returns a translation unit whose PTX shows the layout of the wanted
// types:
//
//	T_S0        the size, the alignment, and the offset of each named member
//	B_S0_3      an object whose fourth named part, a bit field, is all ones
//	W_S0_3      a function that stores such an object word by word: nvcc
//	            cannot initialise a bit field of a union
//	F_S0        the prototype of a function that takes and returns the type
func program(compiler string, all, wanted []*Type) string {
	var b strings.Builder
	if compiler == "clang" {
		b.WriteString("#define __device__\n")
		var names []string
		for name, t := range typesByName() {
			if t.Kind == Vector && regexp.MustCompile(`^u?(char|short|int|long|longlong|float|double)[1-4]$`).MatchString(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			// As in CUDA's vector_types.h.
			t := typesByName()[name]
			l, _ := LayOut(t, LP64)
			align := ""
			if t.Count%2 == 0 {
				align = fmt.Sprintf("__attribute__((aligned(%d))) ", l.Align)
			}
			fmt.Fprintf(&b, "struct %s%s { %s %s; };\n", align, name, t.Elem, strings.Join([]string{"x", "y", "z", "w"}[:t.Count], ", "))
		}
		b.WriteString("typedef unsigned long size_t; typedef unsigned long uint64_t; typedef unsigned short uint16_t; typedef signed char int8_t;\n")
	} else {
		b.WriteString("#include <cstdint>\n")
	}
	b.WriteString("typedef unsigned long long word;\n" + prelude)
	for _, t := range all {
		b.WriteString(source(t) + "\n")
	}
	b.WriteString("extern \"C\" {\n")
	for _, t := range wanted {
		name := t.Name
		// clang 19 crashes on the calls of some, so the address must do.
		fmt.Fprintf(&b, "extern __device__ %s F_%s(%s x);\n__device__ %s (*P_%s)(%s) = F_%s;\n", name, name, name, name, name, name, name)
		numbers := fmt.Sprintf("sizeof(%s), alignof(%s)", name, name)
		l, _ := LayOut(t, LP64)
		k := -1
		for p := range l.Parts() {
			if p.Name == "" {
				continue
			}
			k++
			if !p.BitField {
				numbers += fmt.Sprintf(", __builtin_offsetof(%s, %s)", name, p.Path)
				continue
			}
			if init := initialiser(t, p.Path, ones(&p.Member), compiler == "clang"); init != "" {
				fmt.Fprintf(&b, "__device__ %s B_%s_%d = %s;\n", name, name, k, init)
				continue
			}
			fmt.Fprintf(&b, `__device__ void W_%s_%d(volatile word *o) {
	constexpr int n = (sizeof(%s) + 7) / 8;
	union { %s x; word q[n]; } u;
	#pragma unroll
	for (int i = 0; i < n; i++) u.q[i] = 0;
	u.x.%s = %s;
	#pragma unroll
	for (int i = 0; i < n; i++) o[i] = u.q[i];
}
`, name, k, name, name, p.Path, ones(&p.Member))
		}
		fmt.Fprintf(&b, "__device__ word T_%s[] = { %s };\n", name, numbers)
	}
	return b.String() + "}\n"
}

// ones returns the value of a bit field with all bits set.
func ones(m *Member) string {
	value := "-1"
	if m.Type.Unsigned {
		value = strconv.FormatUint(1<<uint(m.Width)-1, 10) + "ull"
	}
	switch m.Type.Kind {
	case Bool:
		return "true"
	case Enum:
		return "(" + m.Type.Name + ")" + value
	}
	return value
}

// initialiser returns an object of type t in which only the bit field at path is
// not zero. It returns "" if the compiler accepts none: nvcc does not for a direct
// member of a union, and for an anonymous union only for its first member.
func initialiser(t *Type, path, value string, clang bool) string {
	head, rest, deeper := strings.Cut(path, ".")
	head = strings.ReplaceAll(head, "[0]", "")
	var parts []string
	for i, m := range t.Members {
		inner := ""
		switch {
		case m.BitField && m.Name == "":
			continue
		case m.Name == head && !deeper && (clang || t.Kind == Struct):
			inner = value
		case m.Name == head && deeper:
			inner = initialiser(m.Type.element(), rest, value, clang)
		case m.Name == "" && slices.Contains(m.Type.names(nil), head):
			inner = initialiser(m.Type, path, value, clang)
		}
		if inner != "" {
			for typ := m.Type; typ.Kind == Array; typ = typ.Elem {
				inner = "{ " + inner + " }"
			}
			if t.Kind == Union && i > 0 {
				if t.Name == "" && !clang || m.Name == "" {
					return ""
				}
				return "{ ." + m.Name + " = " + inner + " }"
			}
			return "{ " + strings.Join(append(parts, inner), ", ") + " }"
		}
		parts = append(parts, "{}")
	}
	return ""
}

// compile returns the layout of the wanted types from a compiler: by tag, in the
// form of canonical.
func compile(dir, compiler, path string, all, wanted []*Type) (map[string]string, error) {
	in, out := filepath.Join(dir, "layout.cu"), filepath.Join(dir, "layout.ptx")
	if err := os.WriteFile(in, []byte(program(compiler, all, wanted)), 0o666); err != nil {
		return nil, err
	}
	args := []string{"-std=c++20", "-w", "-ptx", "-rdc=true", "-arch=sm_80", in, "-o", out}
	if compiler == "clang" {
		args = []string{"--target=nvptx64-nvidia-cuda", "-std=c++20", "-w", "-O2", "-S", "-x", "c++", in, "-o", out}
	}
	if msg, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %v\n%.2000s", compiler, err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	ptx := string(data)
	objects := map[string][]byte{}
	for _, m := range objectRegexp.FindAllStringSubmatch(ptx, -1) {
		size, _ := strconv.Atoi(m[2])
		bytes := make([]byte, size)
		for i, v := range strings.Split(m[3], ",") {
			if v = strings.TrimSpace(v); v != "" {
				n, _ := strconv.Atoi(v)
				bytes[i] = byte(n)
			}
		}
		objects[m[1]] = bytes
	}
	for _, m := range storeRegexp.FindAllStringSubmatch(ptx, -1) {
		objects[m[1]] = stored(m[2])
	}
	said := map[string]string{}
	flat := strings.Join(strings.Fields(ptx), " ")
	for _, t := range wanted {
		table := objects["T_"+t.Name]
		at := 0
		word := func() uint64 {
			at += 8
			return little(table[at-8 : at])
		}
		if len(table) < 16 {
			return nil, fmt.Errorf("%s: no T_%s", compiler, t.Name)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d/%d", word(), word())
		l, _ := LayOut(t, LP64)
		k := -1
		for p := range l.Parts() {
			if p.Name == "" {
				continue
			}
			k++
			if !p.BitField {
				fmt.Fprintf(&b, " %s@%d", p.Path, word()*8)
				continue
			}
			bytes, ok := objects[fmt.Sprintf("B_%s_%d", t.Name, k)]
			if !ok {
				bytes = objects[fmt.Sprintf("W_%s_%d", t.Name, k)]
			}
			first, bits := run(bytes)
			fmt.Fprintf(&b, " %s@%d:%d", p.Path, first, bits)
		}
		form := regexp.MustCompile(`\(\.param \.align (\d+) \.b8 func_retval0(\[\d+\])\) F_` + t.Name + ` \( \.param \.align (\d+) \.b8 F_` + t.Name + `_param_0(\[\d+\]) \)`)
		m := form.FindStringSubmatch(flat)
		if m == nil {
			return nil, fmt.Errorf("%s: no F_%s", compiler, t.Name)
		}
		fmt.Fprintf(&b, " param %s%s result %s%s", m[3], m[4], m[1], m[2])
		said[t.Name] = b.String()
	}
	return said, nil
}

var (
	objectRegexp = regexp.MustCompile(`\.global \.align \d+ \.b8 ([TB]_S\w+)\[(\d+)\](?: = \{([^}]*)\})?;`)
	storeRegexp  = regexp.MustCompile(`(?s)\.func\s+(W_S\w+)\(.*?\{(.*?)\n\}`)
	movRegexp    = regexp.MustCompile(`mov\.[bu]64\s+(%\w+), (-?\d+);`)
	stRegexp     = regexp.MustCompile(`st\.volatile\.[bu]64\s+\[%\w+(?:\+(\d+))?\], (%?-?\w+);`)
)

// stored returns the bytes that a W function stores.
func stored(body string) []byte {
	constants := map[string]string{}
	for _, m := range movRegexp.FindAllStringSubmatch(body, -1) {
		constants[m[1]] = m[2]
	}
	var bytes []byte
	for _, m := range stRegexp.FindAllStringSubmatch(body, -1) {
		at, _ := strconv.Atoi(m[1])
		value := m[2]
		if c, ok := constants[value]; ok {
			value = c
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil
		}
		for len(bytes) < at+8 {
			bytes = append(bytes, 0)
		}
		for i := range 8 {
			bytes[at+i] = byte(n >> (8 * i))
		}
	}
	return bytes
}

// run finds the one bits in bytes: the first of them and how many are consecutive.
// It returns -1 if there are others beside them, or none.
func run(bytes []byte) (first, bits int) {
	first, last, count := -1, 0, 0
	for i, b := range bytes {
		for j := range 8 {
			if b>>j&1 == 1 {
				if first < 0 {
					first = i*8 + j
				}
				last, count = i*8+j, count+1
			}
		}
	}
	if first < 0 || count != last-first+1 {
		return -1, -1
	}
	return first, count
}

func little(b []byte) (n uint64) {
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return n
}
