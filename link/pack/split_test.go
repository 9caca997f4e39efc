package pack_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/pack"
)

// library resembles a compiled library: local helpers and tables that one function,
// several or none use.
const library = top + `
.extern .func host ();
.func (.param .b32 r) shared_helper (.param .b32 a);
.func own_helper ();
.global .align 8 .b8 table[16] = {1, 2, 3};
.global .align 4 .b8 own_table[4] = {9};
.global .align 1 .b8 unused[5] = {7};
.visible .func sin () {
	.param .b32 a, r;
	.reg .b64 %rd1;
	mov.u64 %rd1, table;
	call (r), shared_helper, (a);
	call own_helper;
	ret;
}
.visible .func cos () {
	.param .b32 a, r;
	call (r), shared_helper, (a);
	call host;
	ret;
}
.func (.param .b32 r) shared_helper (.param .b32 a) {
	.reg .b64 %rd1;
	mov.u64 %rd1, table;
	ret;
}
.func own_helper () {
	.reg .b64 %rd1;
	mov.u64 %rd1, own_table;
	ret;
}
.visible .entry kernel () { call sin; ret; }
`

func mustSplit(t *testing.T, name, text string, o pack.SplitOptions) map[string]string {
	t.Helper()
	members, err := pack.Split(context.Background(), link.Input{Name: name, Text: []byte(text)}, o)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, m := range members {
		texts[m.Name] = string(m.Text)
	}
	if len(texts) != len(members) {
		t.Errorf("two members have one name: %d names, %d members", len(texts), len(members))
	}
	return texts
}

// shared returns the name of a local of a module that several members use.
func shared(name, module string) string {
	return fmt.Sprintf("%s$m%x", name, sha256.Sum256([]byte(module)))[:len(name)+2+16]
}

var sharedSuffix = regexp.MustCompile(`\$m[0-9a-f]{16}\b`)

// unshared replaces such names with their spelling in the module.
func unshared(text string) string { return sharedSuffix.ReplaceAllString(text, "") }

// TestSplit checks that a local used by one definition goes with it, that a local
// used by several becomes a member, and that an unused one is omitted.
func TestSplit(t *testing.T) {
	members := mustSplit(t, "library", library, pack.SplitOptions{})
	helper, table := shared("shared_helper", library), shared("table", library)
	if d := cmp.Diff([]string{"cos.ptx", "kernel.ptx", helper + ".ptx", "sin.ptx", table + ".ptx"}, slices.Sorted(maps.Keys(members))); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff("//\n"+top+`
.extern .func (.param .b32 r) `+helper+` (.param .b32 a);
.func own_helper ();
.extern .global .align 8 .b8 `+table+`[16];
.visible .func sin ();

.global .align 4 .b8 own_table[4] = {9};

.visible .func sin () {
	.param .b32 a, r;
	.reg .b64 %rd1;
	mov.u64 %rd1, `+table+`;
	call (r), `+helper+`, (a);
	call own_helper;
	ret;
}

.func own_helper () {
	.reg .b64 %rd1;
	mov.u64 %rd1, own_table;
	ret;
}
`, members["sin.ptx"]); d != "" {
		t.Errorf("sin.ptx (-want +got):\n%s", d)
	}
	if d := cmp.Diff("//\n"+top+"\n\n.visible .global .align 8 .b8 "+table+"[16] = {1, 2, 3};\n", members[table+".ptx"]); d != "" {
		t.Errorf("table.ptx (-want +got):\n%s", d)
	}
}

// TestSplitRoots checks that roots may be local, and that what they do not need is
// omitted.
func TestSplitRoots(t *testing.T) {
	members := mustSplit(t, "library", library, pack.SplitOptions{Roots: []string{"own_helper", "cos"}, Weak: true})
	if d := cmp.Diff([]string{"cos.ptx", shared("own_table", library) + ".ptx", "own_helper.ptx", shared("shared_helper", library) + ".ptx", shared("table", library) + ".ptx"}, slices.Sorted(maps.Keys(members)), cmpopts.SortSlices(strings.Compare)); d != "" {
		t.Fatal(d)
	}
	for name, want := range map[string]string{"own_helper.ptx": ".weak .func own_helper () {", "cos.ptx": ".weak .func cos () {"} {
		if !strings.Contains(members[name], "\n"+want) {
			t.Errorf("%s has no %q:\n%s", name, want, members[name])
		}
	}
	members = mustSplit(t, "library", library, pack.SplitOptions{Roots: []string{"own_helper", "cos"}})
	if d := cmp.Diff([]string{"cos.ptx", "own_helper.ptx"}, slices.Sorted(maps.Keys(members))); d != "" {
		t.Fatal(d)
	}
	if strings.Contains(members["cos.ptx"], "own_helper") || !strings.Contains(members["cos.ptx"], "\n.func (.param .b32 r) shared_helper (.param .b32 a) {") {
		t.Errorf("cos.ptx:\n%s", members["cos.ptx"])
	}
	_, err := pack.Split(context.Background(), link.Input{Name: "library", Text: []byte(library)}, pack.SplitOptions{Roots: []string{"host", "absent"}})
	if err == nil || !strings.Contains(err.Error(), "no definition of host to split off") || !strings.Contains(err.Error(), "no definition of absent") {
		t.Errorf("%v", err)
	}
}

// TestSplitAlias checks that an alias goes with its target, and that other members
// find it.
func TestSplitAlias(t *testing.T) {
	members := mustSplit(t, "alias", top+`
.visible .func f () { ret; }
.visible .func second ();
.visible .func g () { call second; ret; }
.alias second, f;
`, pack.SplitOptions{})
	if d := cmp.Diff([]string{"f.ptx", "g.ptx"}, slices.Sorted(maps.Keys(members))); d != "" {
		t.Fatal(d)
	}
	if !strings.Contains(members["f.ptx"], ".visible .func second ();\n.alias second, f;\n") || !strings.Contains(members["g.ptx"], ".extern .func second ();") {
		t.Errorf("%s\n%s", members["f.ptx"], members["g.ptx"])
	}
	assemble(t, arch, mustLink(t, link.Options{Inputs: splitInputs(members)}).PTX, "-c")
}

// TestSplitCycle checks that variables whose initialisers name each other keep
// their forward declarations.
func TestSplitCycle(t *testing.T) {
	members := mustSplit(t, "cycle", top+`
.extern .global .align 8 .u64 a;
.global .align 8 .u64 b = a;
.visible .global .align 8 .u64 a = b;
`, pack.SplitOptions{})
	if len(members) != 1 {
		t.Fatalf("%d members", len(members))
	}
	assemble(t, arch, []byte(members["a.ptx"]), "-c")
}

// TestSplitRefuses checks modules that cannot be split.
func TestSplitRefuses(t *testing.T) {
	for name, want := range map[string]string{
		".visible .func f ();\n.visible .func g ();\n.alias f, g;\n.alias g, f;\n": "f leads to no function that this module defines",
		".visible .func f ();\n.extern .func g ();\n.alias f, g;\n":                "f leads to no function that this module defines",
		".visible .func f () { ret; }\n.section .debug_str { .b8 0 }\n":            "a module with debug sections cannot be split",
		".visible .func f () { ret; }\n.tomorrow f;\n":                             "this statement may belong to any member",
	} {
		_, err := pack.Split(context.Background(), link.Input{Name: "in", Text: []byte(top + name)}, pack.SplitOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func splitInputs(members map[string]string) (list []link.Input) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, link.Input{Name: name, Text: []byte(members[name])})
	}
	return list
}

// TestSplitDimensions checks that a member declares an array with the dimensions of
// its definition, as ptxas requires.
func TestSplitDimensions(t *testing.T) {
	text := top + ".extern .global .u32 a[2][2];\n.visible .global .u64 p = a;\n.visible .global .u32 a[2][2] = {{1,2},{3,4}};\n"
	for name, member := range mustSplit(t, "a.ptx", text, pack.SplitOptions{}) {
		if !strings.Contains(member, "a[2][2]") || strings.Contains(member, "a[4]") {
			t.Errorf("%s:\n%s", name, member)
		}
		assemble(t, arch, []byte(member), "-c")
	}
}

// TestSplitRange checks that each name of b<2> is a member of its own.
func TestSplitRange(t *testing.T) {
	members := mustSplit(t, "a.ptx", top+".visible .global .u32 b<2>;\n.visible .func f () { .reg .u64 %r; mov.u64 %r, b1; ret; }\n", pack.SplitOptions{})
	for _, name := range []string{"b0", "b1"} {
		if !strings.Contains(members[name+".ptx"], ".visible .global .u32 "+name+";") {
			t.Errorf("%s:\n%s", name, members[name+".ptx"])
		}
	}
	assemble(t, arch, mustLink(t, link.Options{Inputs: splitInputs(members)}).PTX)
}

// TestSplitAgain checks that all members linked together have the bodies of the
// module, and that ptxas gives the same functions and objects, except for unused
// locals.
func TestSplitAgain(t *testing.T) {
	oracles.Require(t, "ptxas")
	paths, _ := filepath.Glob("../../testdata/ptx/*/*.ptx")
	split := 0
	modules := map[string][]byte{"library": []byte(library)}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(".section")) {
			modules[path] = text
		}
	}
	for name, text := range modules {
		split++
		members := mustSplit(t, name, string(text), pack.SplitOptions{})
		whole := mustLink(t, link.Options{Relocatable: true, Inputs: []link.Input{{Name: name, Text: text}}})
		again := mustLink(t, link.Options{Relocatable: true, Inputs: splitInputs(members)})
		for _, m := range again.Messages {
			t.Errorf("%s: %v", name, m)
		}
		if d := cmp.Diff(bodies(t, whole.PTX), unsharedBodies(t, again.PTX)); d != "" {
			t.Errorf("%s: bodies of the module (-) and of its members (+):\n%s", name, d)
		}
		gpu := oracles.GPU(whole.Target)
		want := slices.DeleteFunc(defined(t, assemble(t, gpu, whole.PTX, "-c")), func(s string) bool { return s == "object unused 5" })
		if d := cmp.Diff(want, defined(t, assemble(t, gpu, again.PTX, "-c"))); d != "" {
			t.Errorf("%s: symbols of the module (-) and of its members (+):\n%s", name, d)
		}
	}
	if split < 15 {
		t.Errorf("only %d modules were split", split)
	}
}

func unsharedBodies(t *testing.T, text []byte) map[string]string {
	return bodies(t, []byte(unshared(string(text))))
}

var numbered = regexp.MustCompile(`^(object \$.*__)[0-9]+`)

// defined lists the entries, functions and objects of a cubin.
func defined(t *testing.T, cubin []byte) []string {
	list := oracles.Objects(t, cubin, nil)
	for i := range list { // ptxas numbers what was inside a function
		list[i] = unshared(numbered.ReplaceAllString(list[i], "$1"))
	}
	for _, s := range oracles.Symbols(t, cubin) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			list = append(list, "function "+unshared(s.Name))
		}
	}
	slices.Sort(list)
	return list
}

// TestSplitNames checks that a module may have locals with the names of shared
// ones: each keeps its own, and the data of the library occurs once.
func TestSplitNames(t *testing.T) {
	inputs := splitInputs(mustSplit(t, "library", library, pack.SplitOptions{Weak: true}))
	inputs = append(inputs, link.Input{Name: "user", Text: []byte(top + `
.extern .func sin ();
.extern .func cos ();
.func shared_helper () { call sin; call cos; ret; }
.global .align 4 .b8 table[4] = {77};
.global .align 4 .b8 own_table[4] = {78};
.visible .entry user () {
	.reg .b64 %rd<3>;
	mov.u64 %rd1, table;
	mov.u64 %rd2, own_table;
	call shared_helper;
	ret;
}
`)})
	ptx := string(mustLink(t, link.Options{Inputs: inputs, AllowUndefined: []string{"host"}}).PTX)
	for _, want := range []string{
		".weak .global .align 8 .b8 " + shared("table", library) + "[16] = {1, 2, 3};",
		"table[4] = {77};", "mov.u64 %rd1, table;", "call shared_helper;",
		"\tmov.u64 %rd1, " + shared("table", library) + ";", "\tcall (r), " + shared("shared_helper", library) + ", (a);",
	} {
		if !strings.Contains(ptx, want) {
			t.Errorf("no %q in\n%s", want, ptx)
		}
	}
	if n := strings.Count(ptx, "{1, 2, 3}"); n != 1 {
		t.Errorf("the table is there %d times", n)
	}
	assemble(t, arch, []byte(ptx), "-c")
}

// twoOf returns a library of two functions, which call its helper and point to its
// table. Its parameters are spelled like module-scope names.
func twoOf(first, second, value string) string {
	body := ` () {
	.reg .b32 %r1;
	.reg .b64 %rd1;
	mov.u64 %rd1, pointer;
	{ .param .b32 helper_param; .param .b32 r; call (r), helper, (helper_param); }
	ret;
}
`
	return top + `
.global .align 4 .u32 table[2] = {` + value + `, 0};
.global .align 8 .u64 pointer = table;
.func (.param .b32 table) helper (.param .b32 helper_param);
.visible .func ` + first + body + `.visible .func ` + second + body + `
.func (.param .b32 table) helper (.param .b32 helper_param)
{
	.reg .b32 %r1;
	.reg .b64 %rd1;
	ld.param.u32 %r1, [helper_param];
	mov.u64 %rd1, helper;
	mov.u64 %rd1, pointer;
	add.u32 %r1, %r1, ` + value + `;
	st.param.b32 [table], %r1;
	ret;
}
`
}

const takesBoth = top + `
.extern .func f1 ();
.extern .func g1 ();
.visible .entry main () { call f1; call g1; ret; }
`

// TestSplitSameNames checks libraries of different compilers with locals of the
// same names. Packed into one archive or two, split in one call or two, each
// function finds its own locals, and the user's names are kept apart.
func TestSplitSameNames(t *testing.T) {
	f, g := twoOf("f1", "f2", "111"), twoOf("g1", "g2", "222")
	packed := func(name string, inputs ...link.Input) link.Input {
		t.Helper()
		p, err := pack.Make(context.Background(), pack.Options{Inputs: inputs})
		if err != nil {
			t.Fatal(err)
		}
		return link.Input{Name: name, Text: p.Data}
	}
	for _, weak := range []bool{false, true} {
		split := func(in link.Input) []link.Input {
			t.Helper()
			members, err := pack.Split(context.Background(), in, pack.SplitOptions{Weak: weak})
			if err != nil {
				t.Fatal(err)
			}
			return members
		}
		for _, m := range split(link.Input{Name: "f.ptx", Text: []byte(f)}) { // parameters keep their names
			if m.Name != shared("helper", f)+".ptx" {
				continue
			}
			header, body, _ := strings.Cut(string(m.Text), ")\n{")
			if !strings.HasSuffix(header, ".func (.param .b32 table) "+shared("helper", f)+" (.param .b32 helper_param") || !strings.Contains(body, "[helper_param]") || !strings.Contains(body, "st.param.b32 [table]") {
				t.Errorf("%s:\n%s", m.Name, m.Text)
			}
		}
		fs, gs := split(link.Input{Name: "f.ptx", Text: []byte(f)}), split(link.Input{Name: "g.ptx", Text: []byte(g)})
		whole := packed("whole.a", link.Input{Name: "f.ptx", Text: []byte(f)}, link.Input{Name: "g.ptx", Text: []byte(g)})
		own := link.Input{Name: "own.ptx", Text: []byte(top + `
.visible .global .align 4 .u32 table[2] = {999, 0};
.visible .func (.param .b32 r) helper (.param .b32 a) { st.param.b32 [r], 999; ret; }
`)}
		for name, libraries := range map[string][]link.Input{
			"two packages":        {packed("f.a", fs...), packed("g.a", gs...)},
			"one package":         {packed("both.a", append(slices.Clone(fs), gs...)...)},
			"one call":            {packed("both.a", split(whole)...)},
			"a definition of own": {own, packed("f.a", fs...), packed("g.a", gs...)},
		} {
			t.Run(fmt.Sprintf("%s, weak %v", name, weak), func(t *testing.T) {
				r := mustLink(t, link.Options{Inputs: append([]link.Input{{Name: "main.ptx", Text: []byte(takesBoth)}}, libraries...), KeepUnused: true})
				for _, m := range r.Messages {
					t.Error(m)
				}
				have := bodies(t, r.PTX)
				for module, function := range map[string]string{f: "f1", g: "g1"} {
					value := "111"
					if function == "g1" {
						value = "222"
					}
					helper, pointer, table := shared("helper", module), shared("pointer", module), shared("table", module)
					if !weak {
						table = "table" // pointer alone uses it
					}
					for _, want := range []string{"call (r), " + helper + ", (helper_param);", "mov.u64 %rd1, " + pointer + ";"} {
						if !strings.Contains(have[function], want) {
							t.Errorf("%s has no %q:\n%s", function, want, have[function])
						}
					}
					for _, want := range []string{"add.u32 %r1, %r1, " + value + ";", "mov.u64 %rd1, " + helper + ";", "mov.u64 %rd1, " + pointer + ";"} {
						if !strings.Contains(have[helper], want) {
							t.Errorf("%s has no %q:\n%s", helper, want, have[helper])
						}
					}
					want := regexp.MustCompile(regexp.QuoteMeta(pointer+" = "+table) + `(\$[0-9]+)?;`).FindSubmatch(r.PTX)
					if want == nil {
						t.Fatalf("%s is not initialised with its table:\n%s", pointer, r.PTX)
					}
					if !strings.Contains(string(r.PTX), " "+table+string(want[1])+"[2] = {"+value+", 0};") {
						t.Errorf("%s points elsewhere:\n%s", pointer, r.PTX)
					}
				}
				if name == "a definition of own" && !strings.Contains(have["helper"], "999") {
					t.Errorf("helper of the user:\n%s", have["helper"])
				}
				for _, ptxas := range oracles.EveryPtxas() {
					oracles.Assemble(t, ptxas, arch, r.PTX)
				}
			})
		}
	}
}

// TestSplitTwiceLinked checks that two links with the same members of a weak
// package can be linked, and that everything occurs once.
func TestSplitTwiceLinked(t *testing.T) {
	var linked []link.Input
	for _, function := range []string{"f1", "f2"} {
		inputs := splitInputs(mustSplit(t, "f.ptx", twoOf("f1", "f2", "111"), pack.SplitOptions{Weak: true}))
		inputs = append(inputs, link.Input{Name: "main.ptx", Text: []byte(top + ".extern .func " + function + " ();\n.visible .entry main_" + function + " () { call " + function + "; ret; }\n")})
		linked = append(linked, link.Input{Name: function, Text: mustLink(t, link.Options{Relocatable: true, Inputs: inputs}).PTX})
	}
	both := mustLink(t, link.Options{Inputs: linked}).PTX
	if n := strings.Count(string(both), "{111, 0}"); n != 1 {
		t.Errorf("the table is there %d times:\n%s", n, both)
	}
	if have := bodies(t, both); len(have) != 5 {
		t.Errorf("%d bodies, want f1, f2, the helper and two entries:\n%s", len(have), both)
	}
	assemble(t, arch, both)
}

// TestSplitWeakAlias checks that an alias and its target do not become weak,
// because ptxas accepts no alias to a weak function. The target stays local unless
// another member calls it by its own name.
func TestSplitWeakAlias(t *testing.T) {
	const module = top + `
.func own () { ret; }
.func impl () { call own; ret; }
.func other_impl () { ret; }
.visible .func second ();
.visible .func third ();
.func hidden ();
.visible .func g () { call second; call other_impl; call hidden; ret; }
.alias second, impl;
.alias third, other_impl;
.alias hidden, impl;
`
	members := mustSplit(t, "alias", module, pack.SplitOptions{Weak: true})
	other, hidden, own := shared("other_impl", module), shared("hidden", module), shared("own", module)
	for name, want := range map[string][]string{
		"impl.ptx":     {"\n.func impl () {", ".visible .func second ();", ".alias second, impl;", ".visible .func " + hidden + " ();", ".alias " + hidden + ", impl;", "call " + own + ";"},
		other + ".ptx": {"\n.visible .func " + other + " () {", ".alias third, " + other + ";"},
		"g.ptx":        {"\n.weak .func g () {", "call second; call " + other + "; call " + hidden + ";"},
		own + ".ptx":   {"\n.weak .func " + own + " () {"},
	} {
		for _, want := range want {
			if !strings.Contains(members[name], want) {
				t.Errorf("%s has no %q:\n%s", name, want, members[name])
			}
		}
	}
	if len(members) != 4 {
		t.Errorf("%d members", len(members))
	}
	first := mustLink(t, link.Options{Relocatable: true, Inputs: splitInputs(members)}).PTX
	for _, ptxas := range oracles.EveryPtxas() {
		oracles.Assemble(t, ptxas, arch, first, "-c")
	}
	_, err := link.Link(context.Background(), link.Options{Inputs: texts(string(first), string(first))})
	if err == nil || !strings.Contains(err.Error(), "multiple definition of second [duplicate-symbol]\n") {
		t.Errorf("two links that took an alias: %v", err)
	}
}

// TestSplitGCC splits every member of gcc's libraries and links it again.
func TestSplitGCC(t *testing.T) {
	oracles.Require(t, "ptxas") // gcc's archives come with it
	modules, members := 0, 0
	for _, lib := range []string{"libc.a", "libm.a", "libgcc.a", "libgfortran.a"} {
		archive, err := os.ReadFile(filepath.Join(oracles.Dir(), "gcc-nvptx", lib))
		if err != nil {
			if os.Getenv(oracles.RequireVar) == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		list, err := pack.ReadArchive(lib, archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Members {
			modules++
			name, text := m.Name, m.Data
			parts, err := pack.Split(context.Background(), link.Input{Name: name, Text: text}, pack.SplitOptions{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if members += len(parts); len(parts) == 0 {
				continue
			}
			whole := mustLink(t, link.Options{Relocatable: true, Inputs: []link.Input{{Name: name, Text: text}}})
			again := mustLink(t, link.Options{Relocatable: true, Inputs: parts})
			want := bodies(t, whole.PTX)
			for _, name := range unused(t, whole.PTX) { // goes into no member
				delete(want, name)
			}
			if d := cmp.Diff(want, unsharedBodies(t, again.PTX)); d != "" || len(again.Messages) > 0 {
				t.Errorf("%s: %v; bodies of the module (-) and of its members (+):\n%s", name, again.Messages, d)
			}
		}
	}
	if members <= modules {
		t.Errorf("%d modules, %d members", modules, members)
	}
	t.Logf("%d modules, %d members", modules, members)
}
