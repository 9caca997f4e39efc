package dwarftypes

import (
	"context"
	"debug/dwarf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/dies"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// check returns the messages of Check on the inputs, one per line.
func check(t testing.TB, inputs ...object.Input) string {
	t.Helper()
	var faults, log diag.Log
	files, _, err := object.Load(context.Background(), inputs, object.Options{}, &faults)
	if err != nil || len(faults.Messages) > 0 {
		t.Fatal(err, faults.Messages)
	}
	Check(resolve.Resolve(files, resolve.Options{Relocatable: true}, &diag.Log{}), &log)
	var lines []string
	for _, m := range log.Messages {
		lines = append(lines, m.Error())
	}
	return strings.Join(lines, "\n")
}

func fromTestdata(t testing.TB, patterns ...string) (list []object.Input) {
	t.Helper()
	for _, p := range patterns {
		paths, _ := filepath.Glob(filepath.Join("../../testdata/ptx", p))
		if len(paths) == 0 {
			t.Fatalf("nothing matches %s", p)
		}
		for _, path := range paths {
			list = append(list, object.Input{Name: filepath.Base(path), Path: path})
		}
	}
	return list
}

// TestDebugTypesAlike checks that nvcc and clang, with two ways to name templates,
// describe the same types without findings, and that the types are compared.
func TestDebugTypesAlike(t *testing.T) {
	inputs := fromTestdata(t, "debug-types-same/*.ptx")
	if got := check(t, inputs...); got != "" {
		t.Error(got)
	}
	files, _, _ := object.Load(context.Background(), inputs, object.Options{}, &diag.Log{})
	in := map[string]string{}
	for _, f := range files {
		for _, typ := range readDebug(f, false).types {
			in[typ.name] += strings.TrimSuffix(f.Name, ".ptx") + " "
		}
	}
	for _, name := range []string{
		"Typedefed", "WithEmpty", "Empty", "Flexible", "Fields", "Packed", "Wide", "Within",
		"geo::Virtual", "geo::Both", "geo::v1::Inline", "geo::Outer", "geo::Outer::Nest", "geo::Outer::Named", "geo::Point", "geo::Wider",
	} {
		if in[name] != "clang nvcc simple " {
			t.Errorf("%s is compared in %q", name, in[name])
		}
	}
	for _, name := range []string{"Wrap<int>", "Wrap<Wrap<int>>", "geo::Vec<float, 3ul, true>"} {
		if !strings.HasPrefix(in[name], "clang nvcc ") {
			t.Errorf("%s is compared in %q", name, in[name])
		}
	}
	for name := range in {
		for _, local := range []string{"Hidden", "Local", "Address", "lambda", "__", "Later"} {
			if strings.Contains(name, local) {
				t.Errorf("%s means something else in every module, but is compared", name)
			}
		}
	}
}

// TestDebugTypesCorpus checks correct programs, all at once and each with itself.
func TestDebugTypesCorpus(t *testing.T) {
	if got := check(t, fromTestdata(t, "nvcc-*/*.ptx", "clang-*/*.ptx", "guide/*.ptx", "opencl/*.ptx", "mixed/*.ptx", "example/*.ptx", "debug-types-same/*.ptx")...); got != "" {
		t.Error(got)
	}
	for _, in := range fromTestdata(t, "*/*.ptx") {
		if got := check(t, in, in); got != "" {
			t.Error(got)
		}
	}
}

// dwarfPTX returns a module with one unit of the language that holds the DIEs. The
// abbreviations: 2 struct {name, size, line}, 3 member {name, type, at}, 4 bit
// field {name, type, first bit, bits}, 5 base type {name, encoding, size}, 6 union
// like 2, 7 namespace {name}, 8 struct like 2 with an alignment.
func dwarfPTX(language int, dies string) string {
	return fmt.Sprintf(`.version 7.8
.target sm_75, debug
.address_size 64
.file 1 "types.h"
.section .debug_abbrev {
.b8 1, 17, 1, 19, 11, 0, 0
.b8 2, 19, 1, 3, 8, 11, 11, 58, 33, 1, 59, 11, 0, 0
.b8 3, 13, 0, 3, 8, 73, 17, 56, 11, 0, 0
.b8 4, 13, 0, 3, 8, 73, 17, 107, 11, 13, 11, 0, 0
.b8 5, 36, 0, 3, 8, 62, 11, 11, 11, 0, 0
.b8 6, 23, 1, 3, 8, 11, 11, 58, 33, 1, 59, 11, 0, 0
.b8 7, 57, 1, 3, 8, 0, 0
.b8 8, 19, 1, 3, 8, 11, 11, 58, 33, 1, 59, 11, 136, 1, 15, 0, 0
.b8 0
}
.section .debug_info {
.b32 end - begin
begin:
.b8 5, 0, 1, 8
.b32 .debug_abbrev
.b8 1, %d
int: .b8 5, 105, 0, 5, 4
float: .b8 5, 102, 0, 4, 4
long: .b8 5, 108, 0, 5, 8
%s
.b8 0
end:
}
`, language, dies)
}

// types returns DIEs from a short notation; a reference is one byte, relative to
// the unit, whose base types are at 14, 19 and 24.
func types(words string) string {
	var b strings.Builder
	ref := map[string]int{"int": 14, "float": 19, "long": 24}
	text := func(s string) string { return strings.Trim(fmt.Sprint([]byte(s)), "[]") }
	for _, line := range strings.Split(words, ";") {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		var n []string
		switch w[0] {
		case "struct", "union", "aligned": // name size line [alignment]
			n = []string{map[string]string{"struct": "2", "union": "6", "aligned": "8"}[w[0]], text(w[1]), "0", strings.Join(w[2:], " ")}
		case "member": // name type at
			n = []string{"3", text(w[1]), "0", fmt.Sprint(ref[w[2]]), w[3]}
		case "bits": // name type first count
			n = []string{"4", text(w[1]), "0", fmt.Sprint(ref[w[2]]), w[3], w[4]}
		case "namespace":
			w = append(w, "")
			n = []string{"7", text(w[1]), "0"}
		case "end":
			n = []string{"0"}
		}
		fmt.Fprintln(&b, ".b8", strings.Join(strings.Fields(strings.Join(n, " ")), ", "))
	}
	return b.String()
}

func TestDebugTypesDifferences(t *testing.T) {
	const cxx, c, rust = 4, 2, 28
	for _, test := range []struct {
		name     string
		language int
		a, b     string
		want     string // after "warning: "
	}{
		{"equal", cxx, "struct S 8 1; member a int 0; member b float 4; end", "struct S 8 9; member b float 4; member a int 0; end", ""},
		{"size", cxx, "struct S 4 1; member a int 0; end", "struct S 8 9; member a int 0; member b int 4; end",
			"struct S has 8 bytes in b.ptx but 4 in a.ptx; it has a member b at byte 4 in the first but none in the second"},
		{"size, told by a member", cxx, "struct S 4 1; member a int 0; end", "struct S 8 9; member a long 0; end",
			"struct S has 8 bytes in b.ptx but 4 in a.ptx; member a has 8 bytes in the first but 4 in the second"},
		{"offset", cxx, "namespace n; struct S 8 1; member a int 0; member b int 4; end; end", "namespace n; struct S 8 9; member b int 0; member a int 4; end; end",
			"member b of struct n::S is at byte 0 in b.ptx but at byte 4 in a.ptx"},
		{"other namespaces", cxx, "namespace n; struct S 4 1; member a int 0; end; end", "namespace m; struct S 8 9; member a long 0; end; end", ""},
		{"no namespace name", cxx, "namespace ; struct S 4 1; member a int 0; end; end", "namespace ; struct S 8 9; member a long 0; end; end", ""},
		{"bit", cxx, "struct S 4 1; bits a int 0 3; bits b int 3 5; end", "struct S 4 9; bits b int 0 5; bits a int 5 3; end",
			"bit field b of struct S is at bit 0 of byte 0 in b.ptx but at bit 3 of byte 0 in a.ptx"},
		{"bits", cxx, "struct S 4 1; bits a int 8 3; end", "struct S 4 9; bits a int 8 4; end",
			"bit field a of struct S has 4 bits in b.ptx but 3 in a.ptx"},
		{"bit field and not", cxx, "struct S 4 1; bits a int 0 3; end", "struct S 4 9; member a int 0; end",
			"member a of struct S is not a bit field in b.ptx but one in a.ptx"},
		{"bit field that fills a number", cxx, "struct S 8 1; bits a int 0 32; end", "struct S 8 9; member a int 0; end", ""},
		{"type of a bit field", cxx, "struct S 8 1; bits a int 0 3; end", "struct S 8 9; bits a long 0 3; end", ""},
		{"alignment", cxx, "struct S 4 1; member a int 0; end", "aligned S 4 9 16; member a int 0; end", ""}, // the first does not record it
		{"alignments", cxx, "aligned S 16 1 8; member a int 0; end", "aligned S 16 9 16; member a int 0; end",
			"struct S is aligned to 16 in b.ptx but to 8 in a.ptx"},
		{"class of number", cxx, "struct S 4 1; member a int 0; end", "struct S 4 9; member a float 0; end",
			"member a of struct S is a floating-point number in b.ptx but an integer in a.ptx"},
		{"renamed", cxx, "struct S 4 1; member a int 0; end", "struct S 4 9; member x int 0; end", ""},
		{"in the padding", cxx, "struct S 16 1; member a int 0; member l long 8; end", "struct S 16 9; member a int 0; member b int 4; member l long 8; end",
			"struct S has a member b at byte 4 in b.ptx but none in a.ptx"},
		{"not in the padding", cxx, "struct S 16 1; member a int 0; member b int 4; member l long 8; end", "struct S 16 9; member a int 0; member l long 8; end",
			"struct S has no member b in b.ptx but one at byte 4 in a.ptx"},
		{"union", cxx, "struct S 4 1; member a int 0; end", "union S 4 9; member a int 0; end",
			"union S is a union in b.ptx but a struct in a.ptx"},
		{"member of a union", cxx, "union S 8 1; member a int 0; member l long 0; end", "union S 8 9; member l long 0; end", ""},
		{"only declared", cxx, "struct S 0 1; end", "struct S 8 9; member l long 0; end", ""},
		{"C", c, "struct S 4 1; member a int 0; end", "struct S 8 9; member a long 0; end", ""},
		{"Rust", rust, "struct S 4 1; member a int 0; end", "struct S 8 9; member a long 0; end", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := check(t,
				object.Input{Name: "a.ptx", Text: []byte(dwarfPTX(test.language, types(test.a)))},
				object.Input{Name: "b.ptx", Text: []byte(dwarfPTX(test.language, types(test.b)))})
			want := test.want
			if _, text, ok := strings.Cut(got, "warning: "); ok {
				got, want = text, want+" [-Wodr]"
			}
			if got != want {
				t.Errorf("\ngot  %s\nwant %s", got, want)
			}
		})
	}
}

// TestDebugTypesOnce checks that each layout is reported once, with the modules
// that have it.
func TestDebugTypesOnce(t *testing.T) {
	small := dwarfPTX(4, types("struct S 4 1; member a int 0; end"))
	large := dwarfPTX(4, types("struct S 8 9; member a long 0; end"))
	var inputs []object.Input
	for i, text := range []string{small, large, small, large, large, large, large, large, large} {
		inputs = append(inputs, object.Input{Name: fmt.Sprintf("%c.ptx", 'a'+i), Text: []byte(text)})
	}
	files, _, _ := object.Load(context.Background(), inputs, object.Options{}, &diag.Log{})
	var log diag.Log
	Check(resolve.Resolve(files, resolve.Options{}, &diag.Log{}), &log)
	var b strings.Builder
	if err := diag.Write(&b, log.Messages, diag.Style{}); err != nil {
		t.Fatal(err)
	}
	want := `b.ptx: warning: struct S has 8 bytes in b.ptx but 4 in a.ptx; member a has 8 bytes in the first but 4 in the second [-Wodr]
types.h:9: note: source line of struct S
a.ptx: note: struct S as a.ptx has it
types.h:1: note: source line of struct S
help: compile both modules with one declaration; as here: d.ptx, e.ptx, f.ptx and 3 more; as in a.ptx: c.ptx
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestMemberBit(t *testing.T) {
	field := func(values ...any) *die {
		x := &die{tag: dwarf.TagMember, unit: &debugUnit{Unit: &dies.Unit{}}}
		for i := 0; i < len(values); i += 2 {
			a := dies.Attr{Spec: dies.Spec{At: values[i].(dwarf.Attr), Form: dies.FormSdata}}
			switch value := values[i+1].(type) {
			case int:
				a.Value = uint64(int64(value))
			case []byte:
				x.unit.Data = append(x.unit.Data, value...)
				a.Form, a.Value, a.End = dies.FormBlock1, uint64(len(value)), int64(len(x.unit.Data))
			}
			x.attrs = append(x.attrs, a)
		}
		return x
	}
	for _, test := range []struct {
		x    *die
		want int64
	}{
		{field(dwarf.AttrDataMemberLoc, 12), 96},
		{field(dwarf.AttrDataMemberLoc, []byte{0x23, 12}), 96},
		{field(dwarf.AttrDataMemberLoc, []byte{0x23, 0x80, 1}), 1024},
		{field(dwarf.AttrDataMemberLoc, []byte{0x23, 12, 6}), -1}, // through a pointer
		{field(dwarf.AttrDataMemberLoc, []byte{0x23, 12, 0x23, 12}), -1},
		{field(dwarf.AttrDataMemberLoc, []byte{0x23, 0x80}), -1}, // cut
		{field(dwarf.AttrDataMemberLoc, []byte{}), -1},
		{field(), -1},
		{field(dwarf.AttrDataBitOffset, 35, dwarf.AttrBitSize, 3), 35},
		{field(dwarf.AttrDataMemberLoc, 12, dwarf.AttrByteSize, 4, dwarf.AttrBitOffset, 29, dwarf.AttrBitSize, 3), 96},
		{field(dwarf.AttrDataMemberLoc, 12, dwarf.AttrBitOffset, 9, dwarf.AttrBitSize, 20), 99},                        // of an int
		{field(dwarf.AttrDataMemberLoc, 8, dwarf.AttrByteSize, 8, dwarf.AttrBitOffset, -4, dwarf.AttrBitSize, 60), 72}, // packed
	} {
		if got := memberBit(test.x, false, 4); got != test.want {
			t.Errorf("%v: bit %d, want %d", test.x.attrs, got, test.want)
		}
	}
}

func TestSpelling(t *testing.T) {
	for name, want := range map[string]string{
		"W<W<int> >":                "W<W<int>>",
		"W<unsigned int, 3U>":       "W<unsigned int, 3u>",
		"W<int,7UL>":                "W<int, 7ul>",
		"W<a1U, U3L, 0x1UL>":        "W<a1U, U3L, 0x1ul>",
		"W<int *, int &>":           "W<int*, int&>",
		"W<int (*)(char, long)>":    "W<int(*)(char, long)>",
		"geo::Vec<const float, 3l>": "geo::Vec<const float, 3l>",
	} {
		if got := spelling(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// FuzzDebugTypes checks that no DWARF makes the comparison panic or hang.
func FuzzDebugTypes(f *testing.F) {
	for _, path := range []string{"debug-types-same/nvcc.ptx", "debug-types-c/define.ptx", "guide/foo.ptx"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/ptx", path))
		if err != nil {
			f.Fatal(err)
		}
		files, _, _ := object.Load(context.Background(), []object.Input{{Text: text}}, object.Options{}, &diag.Log{})
		abbrev, _ := files[0].SectionData(".debug_abbrev")
		info, _ := files[0].SectionData(".debug_info")
		f.Add(abbrev.Bytes, info.Bytes)
	}
	known, _, err := object.Load(context.Background(), fromTestdata(f, "debug-types-same/clang.ptx"), object.Options{}, &diag.Log{})
	if err != nil {
		f.Fatal(err)
	}
	section := func(text []byte, name string, data []byte) []byte {
		text = append(text, "\n.section "+name+" {"...)
		for _, c := range data {
			text = strconv.AppendUint(append(text, "\n.b8 "...), uint64(c), 10)
		}
		return append(text, '}')
	}
	f.Fuzz(func(t *testing.T, abbrev, info []byte) {
		if len(abbrev) == 0 || len(info) == 0 {
			return
		}
		text := []byte(".version 7.8 .target sm_75, debug .address_size 64 .visible .global .b32 x; .file 1 \"a.h\"")
		text = section(section(text, ".debug_abbrev", abbrev), ".debug_info", info)
		var faults diag.Log
		files, _, err := object.Load(context.Background(), []object.Input{{Name: "b.ptx", Text: text}}, object.Options{Jobs: 1}, &faults)
		if err != nil || len(faults.Messages) > 0 {
			t.Fatal(err, faults.Messages)
		}
		Check(resolve.Resolve(append(slices.Clone(known), files...), resolve.Options{Relocatable: true}, &diag.Log{}), &diag.Log{})
	})
}

// describe returns what is compared of each type.
func describe(d *debugInfo) (list []string) {
	for _, t := range d.types {
		list = append(list, fmt.Sprint(t.name, t.kind(), t.size, t.members, t.line, t.alignment(), d.dies[t.die].off))
	}
	return list
}

// TestReadAsGo compares the entries with those that debug/dwarf reads, without the contents
// of functions, and checks that the types are the same without functions.
func TestReadAsGo(t *testing.T) {
	var log diag.Log
	files, _, err := object.Load(context.Background(), fromTestdata(t, "*debug*/*.ptx"), object.Options{}, &log)
	if err != nil || log.Errors() > 0 {
		t.Fatal(err, log.Messages)
	}
	functions := 0
	for _, f := range files {
		var sections [3][]byte
		for i, name := range []string{".debug_abbrev", ".debug_info", ".debug_str"} {
			sections[i], _ = f.LoadedSection(name, nil)
		}
		if len(sections[1]) == 0 {
			continue
		}
		data, err := dwarf.New(sections[0], nil, nil, sections[1], nil, nil, nil, sections[2])
		if err != nil {
			t.Fatal(f.Name, err)
		}
		var want, got []string
		var open []dwarf.Tag
		in := func(tag dwarf.Tag) bool { return len(open) > 0 && open[len(open)-1] == tag }
		for r := data.Reader(); ; {
			e, err := r.Next()
			if err != nil {
				t.Fatal(f.Name, err)
			}
			if e == nil {
				break
			}
			switch {
			case e.Tag == 0:
				open = open[:max(0, len(open)-1)]
				continue
			case e.Tag == dwarf.TagCompileUnit:
				open = open[:0]
			case in(dwarf.TagSubprogram) && e.Tag != dwarf.TagFormalParameter:
				if functions++; e.Children {
					r.SkipChildren()
				}
				continue
			}
			name, _ := e.Val(dwarf.AttrName).(string)
			typ, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
			size, _ := e.Val(dwarf.AttrByteSize).(int64)
			declared, _ := e.Val(dwarf.AttrDeclaration).(bool)
			want = append(want, fmt.Sprint(e.Offset, e.Tag, len(open), name, typ, size, declared))
			if e.Children {
				open = append(open, e.Tag)
			}
		}
		whole := readDebug(f, true)
		for i := range whole.dies {
			x, depth := &whole.dies[i], 0
			for p := x.parent; p >= 0; p = whole.dies[p].parent {
				depth++
			}
			typ, _ := x.typeOffset()
			got = append(got, fmt.Sprint(x.off, x.tag, depth, x.name, typ, max(0, x.number(dwarf.AttrByteSize)), x.flag(dwarf.AttrDeclaration)))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: entries of debug/dwarf (-) and ours (+):\n%s", f.Name, d)
		}
		if d := cmp.Diff(describe(whole), describe(readDebug(f, false))); d != "" {
			t.Errorf("%s: types with functions (-) and alone (+):\n%s", f.Name, d)
		}
	}
	if functions < 10 {
		t.Errorf("%d entries in functions", functions)
	}
}
