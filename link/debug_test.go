package link_test

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/debuginfo"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// debugSets are compared with nvlink. The files are in testdata/ptx.
var debugSets = map[string][]string{
	"nvcc pair":       {"nvcc-debug/main.ptx", "nvcc-debug/math.ptx", "nvcc-debug/shapes.ptx", "nvcc-debug/table.ptx", "nvcc-debug/log.ptx"},
	"nvcc backwards":  {"nvcc-debug/log.ptx", "nvcc-debug/table.ptx", "nvcc-debug/shapes.ptx", "nvcc-debug/math.ptx", "nvcc-debug/main.ptx"},
	"clang pair":      {"clang-debug/caller.ptx", "clang-debug/callee.ptx"},
	"nvcc and clang":  {"nvcc-debug/main.ptx", "nvcc-debug/math.ptx", "nvcc-debug/shapes.ptx", "nvcc-debug/table.ptx", "nvcc-debug/log.ptx", "clang-debug/callee.ptx"},
	"guide":           {"guide/foo.ptx", "guide/test.ptx"},
	"debug and plain": {"clang-debug/caller.ptx", "clang-debug/callee.ptx", "opencl/helpers.ptx"},
	"plain and debug": {"opencl/helpers.ptx", "opencl/kernel.ptx", "guide/foo.ptx", "guide/test.ptx"},
	"two units":       {"guide/foo.ptx", "clang-linked/both.ptx", "guide/test.ptx"},
	"one module":      {"clang-linked/both.ptx"},
	"C types":         {"debug-types-c/define.ptx", "debug-types-c/same.ptx"},
}

// debugCubin links inputs with ptxlink, ptxas -g and nvlink -g; nvlinkCubin
// assembles each input and links the cubins with nvlink.
func debugCubin(t *testing.T, inputs []link.Input) []byte {
	r := mustLink(t, link.Options{Inputs: inputs, KeepUnused: true})
	return nvlink(t, arch, assemble(t, arch, r.PTX, "-c", "-g"))
}

func nvlinkCubin(t *testing.T, inputs []link.Input) []byte {
	var cubins [][]byte
	for _, in := range inputs {
		flags := []string{"-c"}
		if strings.Contains(string(in.Text), ", debug\n") {
			flags = append(flags, "-g")
		}
		cubins = append(cubins, assemble(t, arch, in.Text, flags...))
	}
	return nvlink(t, arch, cubins...)
}

// places matches file offsets in a dump.
var places = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^0x[0-9a-f]+:`),
	regexp.MustCompile(`\(0x[0-9a-f]{8} `),
	regexp.MustCompile(`(cu_ref\+0x|abbr_offset = 0x|next unit at 0x|length = 0x)[0-9a-f]+`),
	// All units of one module share one line table.
	regexp.MustCompile(`(?m)^ *DW_AT_stmt_list.*\n`),
	regexp.MustCompile(`(?m)^.*file format.*\n`),
}

// dump returns the output of llvm-dwarfdump for a cubin, without file offsets.
func dump(t *testing.T, cubin []byte, what string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.cubin")
	if err := os.WriteFile(path, cubin, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(oracles.Require(t, "llvm-dwarfdump"), what, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	for _, re := range places {
		text = re.ReplaceAllString(text, "")
	}
	return text
}

// relocations returns the relocations of .debug_info and .debug_loc in a linked
// cubin. Offsets that depend on the layout of variables are replaced by the symbol.
func relocations(t *testing.T, cubin []byte) []string {
	t.Helper()
	f := oracles.OpenCubin(t, cubin)
	symbols := symbols(t, cubin)
	var list []string
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || !strings.HasPrefix(s.Name, ".rela.debug_") || s.Name == ".rela.debug_frame" || s.Name == ".rela.debug_line" {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(data) >= 24; data = data[24:] {
			index := f.ByteOrder.Uint64(data[8:]) >> 32
			if index == 0 || index > uint64(len(symbols)) {
				continue
			}
			symbol := symbols[index-1]
			if symbol.Section == elf.SHN_UNDEF && symbol.Name != "" && !strings.HasPrefix(symbol.Name, "_") {
				t.Errorf("%s refers to %s, which is not defined", s.Name, symbol.Name)
			}
			if elf.ST_TYPE(symbol.Info) != elf.STT_SECTION {
				name := ourSuffix.ReplaceAllString(symbol.Name, "") // nvlink keeps local names apart without one
				list = append(list, fmt.Sprintf("%s %s+%d", s.Name, name, f.ByteOrder.Uint64(data[16:])))
			}
		}
	}
	slices.Sort(list)
	return list
}

var ourSuffix = regexp.MustCompile(`\$\d+$`)

func readInputs(t *testing.T, names []string) []link.Input {
	t.Helper()
	var inputs []link.Input
	for _, name := range names {
		text, err := os.ReadFile("../testdata/ptx/" + name)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, link.Input{Name: name, Text: text})
	}
	return inputs
}

// TestDebugEqualsNvlink checks that the debug information of a linked program
// equals what nvlink gives for the separate cubins: units, attributes, types,
// declaration lines, addresses and locations. Only the line table of a unit
// differs, because the output has one table.
func TestDebugEqualsNvlink(t *testing.T) {
	oracles.RequireRelease(t, "nvlink")
	for name, files := range debugSets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := readInputs(t, files)
			ours, theirs := debugCubin(t, inputs), nvlinkCubin(t, inputs)
			info := dump(t, theirs, "--debug-info")
			if !strings.Contains(info, "DW_TAG_compile_unit") {
				t.Fatal("nvlink's cubin has no unit")
			}
			if d := cmp.Diff(info, dump(t, ours, "--debug-info")); d != "" {
				t.Errorf(".debug_info: nvlink (-) and ptxlink (+):\n%s", d)
			}
			if d := cmp.Diff(dump(t, theirs, "--debug-loc"), dump(t, ours, "--debug-loc")); d != "" {
				t.Errorf(".debug_loc: nvlink (-) and ptxlink (+):\n%s", d)
			}
			if d := cmp.Diff(relocations(t, theirs), relocations(t, ours)); d != "" {
				t.Errorf("relocations: nvlink (-) and ptxlink (+):\n%s", d)
			}
			compareLines(t, theirs, ours)
		})
	}
}

// compareLines compares the rows of .debug_line: function, address, file and line.
func compareLines(t *testing.T, theirs, ours []byte) {
	t.Helper()
	want := lineRows(t, theirs)
	if len(want) == 0 {
		t.Error("nvlink's cubin has no lines")
	}
	if d := cmp.Diff(want, lineRows(t, ours)); d != "" {
		t.Errorf("lines: nvlink (-) and ptxlink (+):\n%s", d)
	}
}

var (
	fileName = regexp.MustCompile(`^file_names\[ *\d+\]:`)
	lineRow  = regexp.MustCompile(`^0x([0-9a-f]+) +(\d+) +\d+ +(\d+) `)
	quoted   = regexp.MustCompile(`name: "(.*)"`)
)

// lineRows reads the line tables of a cubin. The sequences start at the symbols of
// the relocations, in order. nvlink also keeps the rows of dropped functions under
// the name of the kept one, so equal rows count once.
func lineRows(t *testing.T, cubin []byte) []string {
	t.Helper()
	f := oracles.OpenCubin(t, cubin)
	names := symbols(t, cubin)
	type start struct {
		at   uint64
		name string
	}
	var starts []start
	for _, s := range f.Sections {
		size := map[string]int{".rel.debug_line": 16, ".rela.debug_line": 24}[s.Name]
		if size == 0 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(data) >= size; data = data[size:] {
			index := f.ByteOrder.Uint64(data[8:]) >> 32
			starts = append(starts, start{f.ByteOrder.Uint64(data), ourSuffix.ReplaceAllString(names[index-1].Name, "")})
		}
	}
	slices.SortFunc(starts, func(a, b start) int { return int(a.at) - int(b.at) })
	text := dump(t, cubin, "--debug-line")
	if strings.Count(text, "end_sequence") != len(starts) {
		starts = nil // nvlink has resolved some: those of functions that no kernel reaches
	}
	var rows, files []string
	for line := range strings.Lines(text) {
		switch row := lineRow.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "debug_line["):
			files = []string{""}
		case fileName.MatchString(line):
			files = append(files, "")
		case quoted.MatchString(line) && len(files) > 0:
			files[len(files)-1] = quoted.FindStringSubmatch(line)[1]
		case row != nil:
			function := "?"
			if len(starts) > 0 {
				function = starts[0].name
			}
			var file int
			fmt.Sscan(row[3], &file)
			if file < len(files) {
				row[3] = files[file]
			}
			rows = append(rows, fmt.Sprintf("%s+%s %s:%s", function, row[1], row[3], row[2]))
			if strings.Contains(line, "end_sequence") && len(starts) > 0 {
				starts = starts[1:]
			}
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// TestLinesEqualNvlink compares line information alone, mixed with DWARF, and mixed
// with modules without lines.
func TestLinesEqualNvlink(t *testing.T) {
	oracles.RequireRelease(t, "nvlink")
	for name, files := range map[string][]string{
		"lines":           {"nvcc-lineinfo/main.ptx", "nvcc-lineinfo/math.ptx", "nvcc-lineinfo/shapes.ptx", "nvcc-lineinfo/table.ptx", "nvcc-lineinfo/log.ptx"},
		"lines and DWARF": {"nvcc-debug/main.ptx", "nvcc-lineinfo/math.ptx", "nvcc-debug/shapes.ptx", "nvcc-lineinfo/table.ptx", "nvcc-lineinfo/log.ptx"},
		"lines and plain": {"nvcc-lineinfo/main.ptx", "nvcc-rdc/math.ptx", "nvcc-rdc/shapes.ptx", "nvcc-lineinfo/table.ptx", "nvcc-rdc/log.ptx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := readInputs(t, files)
			r := mustLink(t, link.Options{Inputs: inputs})
			if !r.LineInfo {
				t.Error("Result.LineInfo is not set")
			}
			flag := "-lineinfo"
			if r.Debug {
				flag = "-g"
			}
			var cubins [][]byte
			for _, in := range inputs {
				own := "-lineinfo"
				if strings.Contains(string(in.Text), ", debug\n") {
					own = "-g"
				}
				cubins = append(cubins, assemble(t, arch, in.Text, "-c", own))
			}
			if r.Debug {
				// Addresses differ in unoptimised code, so only functions, files
				// and lines are compared.
				want := withoutAddress(lineRows(t, nvlink(t, arch, cubins...)))
				got := withoutAddress(lineRows(t, nvlink(t, arch, assemble(t, arch, r.PTX, "-c", flag))))
				for _, row := range want {
					if !slices.Contains(got, row) {
						t.Errorf("no line %s", row)
					}
				}
				return
			}
			compareLines(t, nvlink(t, arch, cubins...), nvlink(t, arch, assemble(t, arch, r.PTX, "-c", flag)))
		})
	}
}

func withoutAddress(rows []string) []string {
	for i, row := range rows {
		function, place, _ := strings.Cut(row, "+")
		_, place, _ = strings.Cut(place, " ")
		rows[i] = function + " " + place
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// TestDebugManyFiles checks that a file number too large for DW_FORM_data1 gets a
// larger form, and that the layout of its unit is adjusted.
func TestDebugManyFiles(t *testing.T) {
	many := ".version 7.5\n.target sm_75\n.address_size 64\n"
	for i := range 300 {
		many += fmt.Sprintf(".file %d \"/src/many%d.c\", 1700000000, %d\n", i+1, i, i)
	}
	many += ".visible .func many()\n{\n.loc 300 7 1\nret;\n}\n"
	inputs := append([]link.Input{{Name: "many.ptx", Text: []byte(many)}}, readInputs(t, debugSets["clang pair"])...)
	ours, theirs := debugCubin(t, inputs), nvlinkCubin(t, inputs)
	info := dump(t, ours, "--debug-info")
	if !strings.Contains(info, "DW_AT_decl_file") {
		t.Fatal("no declaration has a file")
	}
	if d := cmp.Diff(dump(t, theirs, "--debug-info"), info); d != "" {
		t.Errorf(".debug_info: nvlink (-) and ptxlink (+):\n%s", d)
	}
}

// TestDebugMalformed checks that a module with unreadable sections loses them with
// a warning and keeps its lines, and that other modules keep theirs.
func TestDebugMalformed(t *testing.T) {
	inputs := readInputs(t, debugSets["clang pair"])
	good := string(inputs[1].Text)
	for what, bad := range map[string]string{
		"length":       strings.Replace(good, "// Length of Unit", "+1 // Length of Unit", 1),
		"code":         strings.Replace(good, ".b8 1                                   // Abbrev [1]", ".b8 99 // Abbrev [1]", 1),
		"label":        strings.Replace(good, ".b64 $L__func_begin0", ".b64 $L__nowhere", 1),
		"abbreviation": regexp.MustCompile(`(?s)\.section\s+\.debug_abbrev.*?\}`).ReplaceAllString(good, ".section .debug_abbrev { .b8 255 }"),
	} {
		if bad == good {
			t.Errorf("%s: nothing was broken", what)
			continue
		}
		if what == "length" {
			bad = regexp.MustCompile(`\.b32 (\d+)\s*\+1 // Length`).ReplaceAllString(bad, ".b32 ${1}1 // Length")
		}
		r := mustLink(t, link.Options{Inputs: []link.Input{inputs[0], {Name: "bad.ptx", Text: []byte(bad)}}})
		var ids []string
		for _, m := range r.Messages {
			ids = append(ids, string(m.ID))
		}
		if !slices.Equal(ids, []string{"debug-dropped"}) {
			t.Errorf("%s: warnings %v", what, r.Messages)
		}
		if !strings.Contains(string(r.PTX), ".loc\t2 ") {
			t.Errorf("%s: the lines of the module are gone", what)
		}
		if units := strings.Count(dump(t, nvlink(t, arch, assemble(t, arch, r.PTX, "-c", "-g")), "--debug-info"), "DW_TAG_compile_unit"); units != 1 {
			t.Errorf("%s: %d units, want that of the good module", what, units)
		}
	}
}

// TestDebugControls skips one step of the merge at a time. Each must change a
// result that TestDebugEqualsNvlink compares; otherwise that test proves nothing.
func TestDebugControls(t *testing.T) {
	inputs := readInputs(t, debugSets["clang pair"])
	text := string(mustLink(t, link.Options{Inputs: inputs}).PTX)
	code, _, _ := strings.Cut(text, "\n.section")
	want := debugCubin(t, inputs)
	rename := func(k int, name string) string { // as the linker did
		for n := k + 1; n > 0; n-- { // the first module may not need the name
			if own := fmt.Sprintf("%s$%d", name, n); strings.Contains(code, own) {
				return own
			}
		}
		return name
	}
	merged := func(files bool) string {
		var modules []*debuginfo.Module
		for k, in := range inputs {
			var log diag.Log
			loaded, _, err := object.Load(context.Background(), []object.Input{{Name: in.Name, Text: in.Text}}, object.Options{Jobs: 1}, &log)
			if err != nil {
				t.Fatal(err)
			}
			m := &debuginfo.Module{File: loaded[0], Files: map[int64]int64{}, Name: func(number int32) (string, debuginfo.Fate) {
				return rename(k, loaded[0].SectionNames()[number]), debuginfo.Kept
			}}
			for _, f := range loaded[0].Files {
				m.Files[f.Index] = f.Index
				if files {
					m.Files[f.Index] = f.Index + int64(k) // one file each
				}
			}
			modules = append(modules, m)
		}
		sections, _, _ := debuginfo.Merge(context.Background(), modules, 1, &diag.Log{})
		out := code
		for i := range sections {
			out += "\n" + strings.Join(sections[i].Texts, "")
		}
		return out
	}
	apart := code
	for k, in := range inputs {
		_, sections, _ := strings.Cut(string(in.Text), ".section")
		apart += regexp.MustCompile(`[$_][A-Za-z_0-9$]+`).ReplaceAllStringFunc("\n.section"+sections, func(name string) string { return rename(k, name) })
	}
	all := merged(true)
	for _, control := range []struct {
		step  string
		text  string
		equal bool
	}{
		{"nothing", all, true},
		{"labels", regexp.MustCompile(`(\$L__[A-Za-z_0-9]+)\$\d+`).ReplaceAllString(all, "$1"), false},
		{"depots", regexp.MustCompile(`(__local_depot\d+)\$\d+`).ReplaceAllString(all, "$1"), false},
		{"decl_file", merged(false), false},
		{"abbreviations", apart, false},
	} {
		if !control.equal && control.text == all {
			t.Errorf("%s: there is nothing to leave out", control.step)
			continue
		}
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
		os.WriteFile(in, []byte(control.text), 0o666)
		if output, err := exec.Command(oracles.Require(t, "ptxas"), "-g", "-c", "-arch="+arch, in, "-o", out).CombinedOutput(); err != nil {
			if control.equal {
				t.Errorf("%s: %v\n%s", control.step, err, output)
			}
			t.Logf("without %s: ptxas: %v", control.step, err)
			continue
		}
		cubin, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		same := dump(t, nvlink(t, arch, cubin), "--debug-info") == dump(t, want, "--debug-info")
		if same != control.equal {
			t.Errorf("without %s: the dumps are equal: %v", control.step, same)
		}
	}
}

// TestDebugVerify checks that llvm-dwarfdump --verify reports no class of error in
// our output that it does not report in nvlink's, apart from shared line tables.
func TestDebugVerify(t *testing.T) {
	classes := func(cubin []byte) []string {
		path := filepath.Join(t.TempDir(), "x.cubin")
		os.WriteFile(path, cubin, 0o666)
		out, _ := exec.Command(oracles.Require(t, "llvm-dwarfdump"), "--verify", path).CombinedOutput()
		var list []string
		for line := range strings.Lines(string(out)) {
			if class, ok := strings.CutPrefix(line, "error: "); ok && !strings.HasPrefix(class, "Aggregated error counts") {
				class = regexp.MustCompile(`0x[0-9a-f]+|\d+`).ReplaceAllString(strings.TrimSpace(class), "N")
				if !slices.Contains(list, class) && !strings.Contains(class, "DW_AT_stmt_list") {
					list = append(list, class)
				}
			}
		}
		return list
	}
	for name, files := range debugSets {
		inputs := readInputs(t, files)
		base := classes(nvlinkCubin(t, inputs))
		for _, class := range classes(debugCubin(t, inputs)) {
			if !slices.Contains(base, class) {
				t.Errorf("%s: %s", name, class)
			}
		}
	}
}

// TestDebugPubnames checks that the second unit of a merged .debug_pubnames refers
// to its unit.
func TestDebugPubnames(t *testing.T) {
	text := dump(t, debugCubin(t, readInputs(t, debugSets["guide"])), "--debug-pubnames")
	for _, want := range []string{"unit_offset = 0x00000000, unit_size = 0x000000aa", "_Z3fooii", "unit_offset = 0x000000aa, unit_size = 0x000000a6", "_Z4testPi"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestDebugRepeats checks that the same inputs give the same bytes each time: names
// must not depend on the order of a map.
func TestDebugRepeats(t *testing.T) {
	runs := 40
	if testing.Short() {
		runs = 5
	}
	for name, files := range debugSets {
		inputs := readInputs(t, files)
		var first []byte
		for range runs {
			r, err := link.Link(t.Context(), link.Options{Inputs: inputs})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if first == nil {
				first = r.PTX
			} else if !bytes.Equal(first, r.PTX) {
				t.Fatalf("%s: two links differ:\n%s", name, cmp.Diff(string(first), string(r.PTX)))
			}
		}
	}
}
