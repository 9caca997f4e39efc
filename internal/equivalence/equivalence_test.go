package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/kernels"
)

// dir reads the modules of a pattern in testdata/ptx.
func dir(t *testing.T, pattern string) (units []unit) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../testdata/ptx", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s (%v)", pattern, err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, unit{filepath.Base(p), text})
	}
	return units
}

// check reports the faults of a program.
func check(t *testing.T, units []unit, launch launcher, stores int) {
	t.Helper()
	res, err := compare(units, launch, nil, ptxsim.Options{}, variants)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.faults {
		t.Errorf("%s: %s", f.variant, f.text)
	}
	if len(res.want.stores) < stores {
		t.Errorf("%d stores", len(res.want.stores))
	}
	if testing.Short() {
		return
	}
	for _, tool := range []string{"ptxas", "ptxas-new"} {
		_, faults := assemble(tool, tool == "ptxas", variants, res.outputs, t.TempDir())
		for _, f := range faults {
			t.Errorf("%s: %s", f.variant, f.text)
		}
	}
}

// TestTestdata compares the programs of testdata/ptx.
func TestTestdata(t *testing.T) {
	for _, test := range []struct {
		files   string
		threads int
	}{
		{"nvcc-rdc/*.ptx", 32}, {"nvcc-lineinfo/*.ptx", 32}, {"nvcc-debug/*.ptx", 32}, {"mixed/*.ptx", 32},
		{"clang-debug/*.ptx", 1}, {"clang-linked/both.ptx", 1}, {"example/*.ptx", 8},
	} {
		t.Run(test.files, func(t *testing.T) {
			check(t, dir(t, test.files), func(m *ptxsim.Machine) error {
				out := m.Alloc("out", make([]byte, 64), 256)
				for range 2 {
					if err := m.Launch("k_main", ptxsim.Grid{Threads: [3]int{test.threads}, Shared: 128}, out, int32(5)); err != nil {
						return err
					}
				}
				return nil
			}, 2)
		})
	}
	t.Run("opencl/*.ptx", func(t *testing.T) {
		check(t, dir(t, "opencl/*.ptx"), func(m *ptxsim.Machine) error {
			out := m.Alloc("out", make([]byte, 16), 4)
			in := m.Alloc("in", slices.Repeat([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, 8), 16)
			return m.Launch("k_main", ptxsim.Grid{Threads: [3]int{4}, Shared: 16}, out, in, int32(0), m.Dynamic())
		}, 4)
	})
}

// TestRecorded compares the recorded programs of package kernels, for machines without
// compilers.
func TestRecorded(t *testing.T) {
	for _, seed := range []uint64{7, 8, 220} {
		a, err := txtar.ParseFile(fmt.Sprintf("../ptxsim/kernels/testdata/seed%d.txtar", seed))
		if err != nil {
			t.Fatal(err)
		}
		var units []unit
		for _, f := range a.Files[:len(a.Files)-1] {
			units = append(units, unit{f.Name, f.Data})
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			check(t, units, kernels.Generate(seed).Launch, 100)
		})
	}
}

// TestGenerated compares some programs of the compilers; make equivalence continues with
// others.
func TestGenerated(t *testing.T) {
	programs := 4
	if testing.Short() {
		programs = 1
	}
	for seed := range uint64(programs) {
		c := kernels.Compilers[int(seed)%len(kernels.Compilers)]
		t.Run(fmt.Sprint(seed, " ", c.Name), func(t *testing.T) {
			p := kernels.Generate(seed)
			texts, err := p.Compile(c, oracles.RequireCompiler(t, c.Tool), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			check(t, unitsOf(texts), p.Launch, 100)
		})
	}
}

// TestScripts compares the modules of the links in testdata/script which the interpreter
// can run, with arguments that suit pointers and small numbers.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	ran, stores := 0, 0
	for _, script := range scripts {
		a, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string][]byte{}
		for _, f := range a.Files {
			texts[f.Name] = f.Data
		}
		done := map[string]bool{}
		for line := range strings.Lines(string(a.Comment)) {
			args := strings.Fields(line)
			if len(args) == 0 || args[0] != "ptxlink" {
				continue
			}
			var units []unit
			for i, arg := range args {
				if text, ok := texts[arg]; ok && strings.HasSuffix(arg, ".ptx") && args[i-1] != "-o" {
					units = append(units, unit{arg, text})
				}
			}
			if key := fmt.Sprint(units); len(units) == 0 || done[key] {
				continue
			} else {
				done[key] = true
			}
			want := run(units, launchAll, ptxsim.Options{Steps: 1e5})
			if want.err != nil || len(want.stores) == 0 {
				continue // not a whole program, or not one that these arguments suit
			}
			if _, _, err := variants[0].link(units); err != nil {
				continue // needs other options
			}
			ran++
			stores += len(want.stores)
			res, err := compare(units, launchAll, nil, ptxsim.Options{}, variants)
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(script), line, err)
			}
			for _, f := range res.faults {
				if !strings.HasPrefix(f.text, "message: ") {
					t.Errorf("%s: %s%s: %s", filepath.Base(script), line, f.variant, f.text)
				}
			}
		}
	}
	t.Logf("%d programs, %d stores", ran, stores)
	if ran < 50 {
		t.Errorf("only %d programs ran", ran)
	}
}

// TestModules compares some sets of modules, and checks that ptxas accepts them; make
// equivalence continues with others.
func TestModules(t *testing.T) {
	sets := 8
	if testing.Short() {
		sets = 2
	}
	for seed := range uint64(sets) {
		s, again := generateModules(seed), generateModules(seed)
		for i, u := range s.units {
			if string(u.text) != string(again.units[i].text) {
				t.Errorf("seed %d makes two sets", seed)
			}
			dir := t.TempDir()
			in := filepath.Join(dir, u.name)
			if err := os.WriteFile(in, s.optional[i].text, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"ptxas", "ptxas-new"} {
				if out, err := exec.Command(oracles.Require(t, tool), "-c", "-arch=sm_80", in, "-o", in+".cubin").CombinedOutput(); err != nil {
					t.Errorf("seed %d: %s: %v\n%s", seed, tool, err, out)
				}
			}
		}
		res, err := compare(s.units, launchAll, nil, ptxsim.Options{}, s.variants())
		if err != nil || len(res.want.stores) < 10 {
			t.Errorf("seed %d: %v, %d stores", seed, err, len(res.want.stores))
		}
		for _, f := range res.faults {
			if !strings.HasPrefix(f.text, "message: ") { // many modules have other bodies and values
				t.Errorf("seed %d: %s: %s", seed, f.variant, f.text)
			}
		}
	}
}

// TestDiff checks that each kind of difference is found.
func TestDiff(t *testing.T) {
	const text = `.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.visible .global .u32 seen;
.global .u32 count = 4;
.global .u32 count$1 = 5;
.global .b8 $str[4] = {37, 117, 10, 0};
.func one () { .reg .u32 x; atom.global.add.u32 x, [count], 1; ret; }
.func two () { .reg .u32 x; atom.global.add.u32 x, [count], 1; ret; }
.visible .global .u64 table[3] = {one, generic(count), generic($str)};
.visible .entry k (.param .u64 p) {
	.reg .u64 %p<3>;
	.reg .u32 %r<3>;
	ld.param.u64 %p0, [p];
	mov.u32 %r0, %tid.x;
	st.u32 [%p0], %r0;
	st.u32 [%p0], 7;
	st.global.u32 [seen], 1;
	ld.global.u64 %p1, [table];
	call %p1, (), proto;
proto: .callprototype _ ();
	.param .b64 f;
	.param .b64 a;
	.param .b32 r;
	mov.u64 %p2, $str;
	cvta.global.u64 %p2, %p2;
	st.param.b64 [f], %p2;
	st.param.b64 [a], %p0;
	call (r), vprintf, (f, a);
	ret;
}
`
	outcomeOf := func(text string) outcome {
		return run([]unit{{"t.ptx", []byte(text)}}, launchAll, ptxsim.Options{})
	}
	want := outcomeOf(text)
	linkage := external([]unit{{"t.ptx", []byte(text)}})
	if want.err != nil || len(want.prints) != 3 {
		t.Fatal(want.err, want.prints)
	}
	for _, test := range []struct {
		name, old, new string
		differs        bool
	}{
		{"nothing", "", "", false},
		{"names of locals", ".func two", ".func three", false},
		{"order of objects of one name", ".global .u32 count = 4;\n.global .u32 count$1 = 5;", ".global .u32 count$1 = 5;\n.global .u32 count = 4;", false},
		{"an object that nothing uses", ".global .u32 count$1 = 5;\n", "", false},
		{"a value", "st.u32 [%p0], %r0", "st.u32 [%p0], 9", true},
		{"a store that is overwritten", "st.u32 [%p0], %r0;", "", true},
		{"the order of stores", "st.u32 [%p0], %r0;\n\tst.u32 [%p0], 7;", "st.u32 [%p0], 7;\n\tst.u32 [%p0], %r0;", true},
		{"an object", "[seen], 1", "[count], 1", true},
		{"a function in a table", "{one", "{two", true},
		{"an object in a table", "generic(count)", "generic(count$1)", true},
		{"an initial value", "count$1 = 5", "count$1 = 6", true},
		{"a new object", ".global .u32 count = 4;", ".global .u32 other;\n.global .u32 count = 4;", true},
		{"a new value for a string", "37, 117", "37, 100", true},
		{"no print", "call (r), vprintf, (f, a);", "", true},
		{"an atomic", "add.u32 x, [count], 1", "add.u32 x, [count], 2", true},
		{"a trap", "ret;\n}", "trap;\n}", true},
	} {
		changed := strings.Replace(text, test.old, test.new, 1)
		if test.old != "" && changed == text {
			t.Errorf("%s: not changed", test.name)
		}
		if d := diff(want, outcomeOf(changed), linkage); (d != "") != test.differs {
			t.Errorf("%s: difference %q", test.name, d)
		}
	}
	gone := strings.Replace(strings.Replace(text, ".visible .global .u32 seen;\n", "", 1), "st.global.u32 [seen], 1;", "", 1)
	without := want
	without.stores = nil
	got := outcomeOf(gone)
	got.stores = nil
	if d := diff(without, got, linkage); d != "seen is not in the result" {
		t.Errorf("a variable that the host can look up: %q", d)
	}
}

// TestReal compares kernels with arguments that are made up: one that ends, one that does not, one that
// stores nothing and one that the interpreter does not know.
func TestReal(t *testing.T) {
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	text := head + `.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r; ld.param.u32 %r, [a]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }
.visible .entry ends(.param .align 8 .b8 s[24]) {
	.reg .b64 %d<5>;
	.reg .b32 %r<5>;
	mov.b64 %d1, s;
	ld.param.v2.u32 {%r1, %r2}, [%d1];
	ld.param.u64 %d2, [s+8];
	ld.param.u64 %d4, [s+16];
	cvta.to.global.u64 %d2, %d2;
	mov.u32 %r3, %tid.x;
	{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), twice, (a); ld.param.b32 %r1, [r]; }
	mad.wide.u32 %d3, %r3, 4000, %d2;
	st.global.u32 [%d3], %r1;
	st.global.u64 [%d3+8], %d4;
	ret;
}
.visible .entry loops(.param .u64 p) {
	.reg .b64 %d;
	ld.param.u64 %d, [p];
	st.u32 [%d], 1;
L:	st.u32 [%d], 2;
	bra L;
}
.visible .entry nothing(.param .u32 n) { ret; }
.visible .entry unknown() { wgmma.fence.sync.aligned; }
`
	units := []unit{{"a.ptx", []byte(text)}}
	known := contentsOf(units)
	want := map[place]content{{0, 0}: narrow, {0, 8}: address, {0, 16}: word}
	if !maps.Equal(known["ends"], want) {
		t.Errorf("%v, want %v", known["ends"], want)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.ptx"), units[0].text, 0o666); err != nil {
		t.Fatal(err)
	}
	defer func(o ptxsim.Options) { realRun = o }(realRun)
	realRun.Steps = 1e4
	sum := &totals{of: map[string]int{}}
	faults, err := sum.real(dir, false, filepath.Join(dir, "kept"))
	if err != nil || len(faults) > 0 {
		t.Errorf("%v %v", faults, err)
	}
	counts := map[string]int{"entries": 4, "kernels": 1, "cut": 1, ends + "no stores": 1, ends + ptxsim.TooManySteps: 1, ends + "instruction wgmma is not supported": 1}
	for what, n := range counts {
		if sum.of[what] != n {
			t.Errorf("%d %s, want %d", sum.of[what], what, n)
		}
	}

	// A difference before the error is found, but not where the threads stopped.
	for _, test := range []struct {
		old, new string
		steps    int64
		differs  bool
	}{
		{"", "", 900, false},
		{"[%d], 1", "[%d], 3", 1000, true},
		{"bra L;", "ret;", 1000, false},
	} {
		start := func(text string, steps int64) outcome {
			return run([]unit{{"a.ptx", []byte(text)}}, madeUp("loops", known["loops"], 0, 2), ptxsim.Options{Steps: steps})
		}
		want, got := start(text, 1000), start(strings.Replace(text, test.old, test.new, 1), test.steps)
		if d := diffStarts(want, got); (d != "") != test.differs {
			t.Errorf("%q: %s", test.new, d)
		}
	}
}
