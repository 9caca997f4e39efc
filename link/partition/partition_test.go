package partition

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// program writes a module of several units. Its functions call others and use
// variables; edited gets one more instruction.
func writeProgram(seed uint64, units int, edited string) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var heads, bodies strings.Builder
	heads.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n")
	var names []string
	for u := range units {
		for f := range 1 + r.IntN(4) {
			names = append(names, fmt.Sprintf("u%02d_f%d", u, f))
		}
	}
	for i, name := range names {
		linkage := []string{"", ".visible ", ".weak "}[r.IntN(3)]
		fmt.Fprintf(&heads, "%s.func %s();\n", linkage, name)
		fmt.Fprintf(&bodies, "%s.func %s()\n{\n\t.reg .b32 %%r<9>;\n", linkage, name)
		for range 5 + r.IntN(200) {
			fmt.Fprintf(&bodies, "\tadd.s32 %%r%d, %%r%d, %d;\n", r.IntN(9), r.IntN(9), r.IntN(1000))
		}
		if name == edited {
			bodies.WriteString("\tadd.s32 %r0, %r0, 77777;\n")
		}
		fmt.Fprintf(&bodies, "\tld.global.u32 %%r0, [v%d];\n", r.IntN(40))
		for range r.IntN(3) {
			to := r.IntN(len(names))
			if r.IntN(4) > 0 && i > 0 { // few cycles
				to = r.IntN(i)
			}
			fmt.Fprintf(&bodies, "\tcall %s;\n", names[to])
		}
		bodies.WriteString("\tret;\n}\n")
	}
	for v := range 40 {
		fmt.Fprintf(&heads, "%s.global .align 4 .u32 v%d = %d;\n", []string{"", ".visible "}[v%2], v, v)
	}
	for k := range units / 2 {
		fmt.Fprintf(&bodies, ".visible .entry u%02d_k()\n{\n\tcall %s;\n\tret;\n}\n", k, names[r.IntN(len(names))])
	}
	return heads.String() + bodies.String()
}

func parse(t *testing.T, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Name: "linked.ptx", Text: []byte(text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// unitOf returns the unit of a function of writeProgram by its name.
func unitOf(m *ptx.Module) func(off int32) string {
	return func(off int32) string { return string(m.Src.Text[off : off+3]) }
}

// TestCut checks that the parts hold each definition once, or copies of functions without linkage,
// and declare what they use, and that their lines lead back to the module.
func TestCut(t *testing.T) {
	for seed := range uint64(40) {
		text := writeProgram(seed, 12, "")
		m := parse(t, text)
		for _, o := range []Options{{Parts: 2}, {Parts: 5, Unit: unitOf(m)}, {Parts: 1000}, {Unit: unitOf(m)}} {
			defined := map[string]int{}
			parts := New(m).Cut(o)
			if len(parts) < 2 {
				t.Fatalf("seed %d, %d parts: one part", seed, o.Parts)
			}
			for i, part := range parts {
				p := parse(t, string(part.Text))
				for d := range p.Decls {
					if decl := &p.Decls[d]; decl.Defines() {
						defined[p.Names[decl.Name]]++
					}
				}
				if len(part.Names) == 0 {
					t.Errorf("part %d has no functions", i)
				}
				checkLines(t, m, part)
			}
			checkParts(t, m, parts)
			for d := range m.Decls {
				decl := &m.Decls[d]
				copied := decl.Kind == ptx.Func && decl.Linkage == ptx.Local
				if n := defined[m.Names[decl.Name]]; decl.Defines() && n != 1 && (n == 0 || !copied) {
					t.Errorf("seed %d: %s is defined %d times", seed, m.Names[decl.Name], n)
				}
			}
			again := New(parse(t, text)).Cut(o)
			if !slices.EqualFunc(parts, again, func(a, b *Part) bool { return bytes.Equal(a.Text, b.Text) }) {
				t.Errorf("seed %d: another cut of the same module differs", seed)
			}
		}
	}
}

// TestCopies checks which functions each part has a copy of.
func TestCopies(t *testing.T) {
	body := strings.Repeat("\tadd.s32 %r0, %r0, 1;\n", 2000)
	entry := func(name, more string) string {
		return ".visible .entry " + name + "()\n{\n\t.reg .b32 %r<2>;\n" + body + "\tcall own;\n" + more + "\tret;\n}\n"
	}
	for _, test := range []struct {
		own, more string // what differs
		copies    int
	}{
		{".func own()\n{\n\tret;\n}\n", "", 3},
		{".func own()\n{\n" + strings.Repeat("\tbar.sync 0;\n", copiedCost-2) + "\tret;\n}\n", "", 3},
		{".func own()\n{\n" + strings.Repeat("\tbar.sync 0;\n", copiedCost-1) + "\tret;\n}\n", "", 1}, // large
		{".visible .func own()\n{\n\tret;\n}\n", "", 1},
		{".weak .func own()\n{\n\tret;\n}\n", "", 1},
		{".func own()\n{\n\tret;\n}\n", "\t.reg .b64 %a;\n\tmov.b64 %a, own;\n", 1},
		{".func own()\n{\n\tret;\n}\n.global .b64 table[1] = {own};\n", "", 1},
		{".func own()\n{\n\t.global .b32 n;\n\tret;\n}\n", "", 1},
		{".func own()\n{\n\t{\n\t.shared .b32 n;\n\t}\n\tret;\n}\n", "", 1},
		{".func own()\n{\n\t.const .b32 n = 1;\n\tret;\n}\n", "", 1},
		{".func own()\n{\n\t.local .b32 n;\n\tret;\n}\n", "", 3},
		{".visible .func f()\n{\n\tret;\n}\n.func own()\n{\n\tcall f;\n\tret;\n}\n", "", 1},
		{".func own()\n{\n\tret;\n}\n.visible .func also();\n.alias also, own;\n", "", 1},
	} {
		m := parse(t, ".version 7.0\n.target sm_80\n.address_size 64\n"+test.own+entry("a", "")+entry("b", "")+entry("c", test.more))
		copies := 0
		for _, part := range New(m).Cut(Options{Parts: 8}) {
			if slices.Contains(part.Names, "own") {
				copies++
			}
		}
		if copies != test.copies {
			t.Errorf("%d copies, not %d: %.80q %q", copies, test.copies, test.own, test.more)
		}
	}
	// A module of small functions is not copied as a whole.
	text := ".version 7.0\n.target sm_80\n.address_size 64\n"
	entries := map[string]string{}
	for i := range 8 {
		text += fmt.Sprintf(".func own%d()\n{\n%s\tret;\n}\n", i, strings.Repeat("\tbar.sync 0;\n", 40))
		for _, k := range []string{"a", "b", "c", "d"} {
			entries[k] += fmt.Sprintf("\tcall own%d;\n", i)
		}
	}
	for k, calls := range entries {
		text += fmt.Sprintf(".visible .entry %s()\n{\n%s\tret;\n}\n", k, calls)
	}
	small := parse(t, text)
	checkParts(t, small, New(small).Cut(Options{Parts: 8}))
	// A function of another unit has the options of that unit.
	m := parse(t, ".version 7.0\n.target sm_80\n.address_size 64\n.func own()\n{\n\tret;\n}\n"+entry("a", "")+entry("b", ""))
	for _, part := range New(m).Cut(Options{Parts: 8, Unit: unitOf(m)}) {
		if slices.Contains(part.Names, "own") && len(part.Names) != 1 {
			t.Errorf("%q are in one part", part.Names)
		}
	}
}

// checkLines compares the instructions of a part with the lines that they come from.
func checkLines(t *testing.T, m *ptx.Module, part *Part) {
	t.Helper()
	lines := strings.Split(string(m.Src.Text), "\n")
	for i, line := range strings.Split(string(part.Text), "\n") {
		from := part.Line(i + 1)
		if from < 0 || from > len(lines) {
			t.Fatalf("line %d comes from line %d of %d", i+1, from, len(lines))
		}
		if strings.HasPrefix(line, "\t") && (from == 0 || lines[from-1] != line) {
			t.Fatalf("line %d, %q, comes from line %d", i+1, line, from)
		}
		if name := nameIn(line); name != "" && (from == 0 || nameIn(lines[from-1]) != name) {
			t.Fatalf("line %d, %q, comes from line %d, %q", i+1, line, from, lines[max(0, from-1)])
		}
	}
}

func nameIn(line string) string {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ();", r) }) {
		if len(word) > 4 && word[0] == 'u' && word[3] == '_' {
			return word
		}
	}
	return ""
}

// TestSmallEdit checks that an edit of one function changes one part, in nearly all
// programs: a cost that crosses a step may move a function.
func TestSmallEdit(t *testing.T) {
	changed, more := 0, 0
	for seed := range uint64(60) {
		m := parse(t, writeProgram(seed, 16, ""))
		edited := parse(t, writeProgram(seed, 16, fmt.Sprintf("u%02d_f0", seed%16)))
		before := New(m).Cut(Options{Unit: unitOf(m)})
		after := New(edited).Cut(Options{Unit: unitOf(edited)})
		if len(before) < 4 {
			t.Fatalf("seed %d: %d parts", seed, len(before))
		}
		old := map[string]bool{}
		for _, part := range before {
			old[string(part.Text)] = true
		}
		n := 0
		for _, part := range after {
			if !old[string(part.Text)] {
				n++
			}
		}
		if n == 0 {
			t.Errorf("seed %d: nothing changed", seed)
		}
		changed++
		if n > 1 {
			more++
		}
	}
	if more > changed/20 {
		t.Errorf("%d of %d edits changed more than one part", more, changed)
	}
}

// TestNewFunction checks that a function added before all others changes the part of
// its unit, and nearly never another one.
func TestNewFunction(t *testing.T) {
	more := 0
	for seed := range uint64(60) {
		text := writeProgram(seed, 16, "")
		head, rest, _ := strings.Cut(text, ".address_size 64\n")
		m := parse(t, text)
		grown := parse(t, head+".address_size 64\n"+fmt.Sprintf(".visible .func u%02d_new()\n{\n\tret;\n}\n", seed%16)+rest)
		old := map[string]bool{}
		for _, part := range New(m).Cut(Options{Unit: unitOf(m)}) {
			old[string(part.Text)] = true
		}
		n := 0
		for _, part := range New(grown).Cut(Options{Unit: unitOf(grown)}) {
			if !old[string(part.Text)] {
				n++
			}
		}
		if n > 1 {
			more++
		}
	}
	if more > 12 {
		t.Errorf("%d of 60 new functions changed more than one part", more)
	}
}

// TestUnitsStayTogether checks that the functions of a unit go to one part where they fit.
func TestUnitsStayTogether(t *testing.T) {
	m := parse(t, writeProgram(3, 16, ""))
	for i, part := range New(m).Cut(Options{Parts: 2, Unit: unitOf(m)}) {
		for _, name := range part.Names {
			if name[4] == 'k' {
				continue
			}
			first := name[:3] + "_f0"
			if !slices.Contains(part.Names, first) {
				t.Errorf("part %d has %s and not %s", i, name, first)
			}
		}
	}
}

// TestLargeUnit checks that a unit larger than a part is cut.
func TestLargeUnit(t *testing.T) {
	m := parse(t, writeProgram(3, 16, ""))
	if parts := New(m).Cut(Options{Parts: 5, Unit: func(int32) string { return "a.ptx" }}); len(parts) < 4 {
		t.Errorf("%d parts", len(parts))
	}
}

// TestCheck checks what cannot be cut.
func TestCheck(t *testing.T) {
	head := ".version 7.0\n.target sm_80\n.address_size 64\n"
	for text, want := range map[string]string{
		head: "",
		head + ".section .debug_str { $L: .b8 0 }\n":         "",
		head + ".section .debug_info { .b32 0 }\n":           "DWARF",
		head + ".future .thing x;\n":                         "may belong to any part",
		strings.Replace(head, "size 64", "size 32", 1):       "32-bit",
		head + ".section .debug_abbrev { .b8 0 }\n":          "DWARF",
		head + ".visible .entry k() { ret; }\n":              "",
		head + ".file 1 \"a\"\n.visible .entry k() { ret; }": "",
	} {
		err := New(parse(t, text)).Check(diag.Spelling{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestCloning checks the estimate.
func TestCloning(t *testing.T) {
	var b strings.Builder
	b.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n.visible .func f();\n.visible .func f()\n{\n" + strings.Repeat("bar.sync 0;\n", 98) + "ret;\n}\n")
	for i := range 10 {
		fmt.Fprintf(&b, ".visible .entry k%d()\n{\n%scall f;\nret;\n}\n", i, strings.Repeat("bar.sync 0;\n", 7))
	}
	if e := New(parse(t, b.String())).Cloning(16); e != (Estimate{1100, 200, true, false}) {
		t.Errorf("%+v", e)
	}
	// A function counts once for a kernel, whatever the ways to it; a pointer may come from elsewhere.
	ways := ".version 7.0\n.target sm_80\n.address_size 64\n.func h() { bar.sync 0; call h; ret; }\n.func f() { call h; ret; }\n.func g() { call h; ret; }\n" +
		".visible .entry k(.param .u64 a) { .reg .b64 a; call f; call g; p: .callprototype _ (); call a, (), p; ret; }\n"
	if e := New(parse(t, ways)).Cloning(16); e != (Estimate{17, 17, true, false}) {
		t.Errorf("%+v", e)
	}
	if e := New(parse(t, b.String())).Cloning(2); e.Cloned < 2*e.Once || e.Cloned > 3*e.Once {
		t.Errorf("with a limit: %+v", e)
	}
}

// TestCloningPointers checks that every kernel with an indirect call, or that takes an
// address, counts all functions whose address is taken, and what they call.
func TestCloningPointers(t *testing.T) {
	body := func(n int) string { return "{ " + strings.Repeat("bar.sync 0; ", n-2) }
	text := ".version 7.0\n.target sm_80\n.address_size 64\n" +
		".extern .func outside ();\n" +
		".func leaf() { ret; }\n" +
		".func direct() " + body(997) + "call leaf; ret; }\n" +
		".func callee() " + body(100) + "ret; }\n" +
		".func f() " + body(10) + "call callee; ret; }\n" + // 11 instructions
		".func g(.param .b32 x) " + body(20) + "ret; }\n" +
		".visible .global .u64 table[2] = {f, g};\n" +
		".visible .entry plain() { ret; }\n"
	count := func(entry string) Estimate { return New(parse(t, text+entry)).Cloning(1000) }
	once := count("").Once
	for _, test := range []struct {
		entry  string
		cloned int64 // of two kernels
	}{
		{"{ ret; }", 0},
		{"{ .reg .b64 a; mov.u64 a, 1; p: .callprototype _ (); call a, (), p; ret; }", 130},
		{"{ .reg .b64 a; mov.u64 a, table; ret; }", 130},
		{"{ .reg .b64 a; mov.u64 a, g; ret; }", 130},
		{"{ call direct; ret; }", 1000},
	} {
		e := count(".visible .entry a() " + test.entry + "\n.visible .entry b() " + test.entry + "\n")
		own := (e.Once - once) / 2
		want := max(e.Once, 2*own+2+2*test.cloned)
		if e.Cloned != want || e.Pointers != (test.cloned == 130) || e.Calls != (test.cloned > 0) {
			t.Errorf("%s: %+v, want %d cloned", test.entry, e, want)
		}
	}
}

// TestUnits counts the units that have functions, and finds the largest.
func TestUnits(t *testing.T) {
	m := parse(t, ".version 7.0\n.target sm_80\n.address_size 64\n.global .u32 aaaa;\n.visible .func b_f() { ret; }\n.visible .func c_f() { ret; }\n.visible .func b_g() { bar.sync 0; ret; }\n.visible .func d_f() { bar.sync 0; ret; }\n")
	if largest, units := New(m).Units(func(off int32) string { return string(m.Src.Text[off : off+1]) }); largest != 5 || units != 3 {
		t.Errorf("%d units, the largest has %d instructions", units, largest)
	}
	empty := parse(t, string(New(m).Empty().Text))
	if empty.AddressSize != 64 || empty.Version != m.Version || len(empty.Decls) > 0 {
		t.Errorf("the empty module is\n%s", empty.Src.Text)
	}
}

// TestKinds cuts a module with every kind of declaration: see link/ptxas TestModes,
// which assembles it.
func TestKinds(t *testing.T) {
	text, err := os.ReadFile("../ptxas/testdata/kinds_c.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, string(text))
	all := ""
	for _, part := range New(m).Cut(Options{Parts: 4}) {
		parse(t, string(part.Text))
		all += string(part.Text)
	}
	for _, want := range []string{".visible .global .align 4 .u32 cnt = 3", ".extern .global .align 4 .u32 cnt;", ".extern .func (.param .b32 r) loc (.param .b32 a);"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
}
