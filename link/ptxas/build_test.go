package ptxas

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/object/diag"
)

// TestModes checks that every mode makes the same program: the same kernels and data,
// and the parts have the functions, parameters and memory of one module. ptxas uses
// what it knows of the functions and variables of its module, so code differs a little.
func TestModes(t *testing.T) {
	sets := map[string][]string{}
	paths, err := filepath.Glob("../../testdata/ptx/*/*.ptx")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		sets[filepath.Dir(path)] = append(sets[filepath.Dir(path)], path)
	}
	sets["kinds"] = []string{"testdata/kinds_a.ptx", "testdata/kinds_b.ptx", "testdata/kinds_c.ptx"}
	cut := 0
	for name, inputs := range sets {
		o := link.Options{}
		for _, path := range inputs {
			o.Inputs = append(o.Inputs, link.Input{Path: path})
		}
		if testing.Short() && name != "kinds" {
			continue
		}
		linked, err := link.Link(t.Context(), o)
		if err != nil || bytes.Contains(linked.PTX, []byte(".debug_info")) {
			continue // modules that do not belong together, or with DWARF, which is not cut
		}
		tools := [][2]string{{"ptxas", "nvlink"}}
		if name == "kinds" {
			tools = append(tools, [2]string{"ptxas-old", "nvlink"}, [2]string{"ptxas-new", "nvlink-new"})
		}
		for _, tool := range tools {
			t.Run(filepath.Base(name)+"/"+tool[0], func(t *testing.T) {
				b := Build{Nvlink: oracles.Require(t, tool[1])}
				b.Path, b.Arch, b.LineInfo = oracles.Require(t, tool[0]), oracles.GPU(linked.Target), linked.LineInfo
				assemble := func(mode Mode, parts int) *contents {
					b.Mode, b.Parts = mode, parts
					outputs, messages, err := b.AssembleAll(t.Context(), []Target{{Arch: b.Arch, Result: linked}})
					if strings.Contains(fmt.Sprint(messages), "Internal error: reference to deleted") {
						t.Logf("%d parts: nvlink fails, as it does for some modules of nvcc: %v", parts, messages)
						return nil
					}
					if err != nil {
						t.Fatalf("mode %d, %d parts: %v, %v", mode, parts, err, messages)
					}
					return read(t, outputs[0].Cubin)
				}
				whole, separate := assemble(Whole, 0), assemble(Separate, 1)
				if d := cmp.Diff(whole.objects, separate.objects); d != "" {
					t.Errorf("whole, separate: %s", d)
				}
				for _, parts := range []int{2, 3, 0, 50} {
					cubin := assemble(Separate, parts)
					if cubin == nil {
						continue
					}
					if d := cmp.Diff(separate, cubin, cmp.AllowUnexported(contents{}), cmpopts.IgnoreFields(contents{}, "code")); d != "" {
						t.Errorf("%d parts: %s", parts, d)
					}
					if cubin.code > separate.code+separate.code/4+1024 || separate.code > cubin.code+cubin.code/4+1024 {
						t.Errorf("%d parts: %d bytes of code, %d in one part", parts, cubin.code, separate.code)
					}
					cut++
				}
			})
		}
	}
	if cut < 30 && !testing.Short() && os.Getenv(oracles.RequireVar) == "1" {
		t.Errorf("only %d builds", cut)
	}
}

// contents describes a finished cubin, in sorted lists.
type contents struct {
	objects   []string // kernels and data: name and size of the data
	functions []string // kernels and functions
	sections  []string // name and size of parameters, constants and shared memory
	code      uint64   // bytes
}

func read(t *testing.T, cubin []byte) *contents {
	t.Helper()
	c := &contents{}
	f := oracles.OpenCubin(t, cubin)
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		switch kind := elf.ST_TYPE(s.Info); {
		case kind == elf.STT_FUNC:
			c.functions = append(c.functions, s.Name)
			c.code += s.Size
			if s.Other&0x10 != 0 { // STO_CUDA_ENTRY
				c.objects = append(c.objects, s.Name)
			}
		case kind == elf.STT_OBJECT || kind > 10:
			c.objects = append(c.objects, fmt.Sprint(s.Name, " ", s.Size))
		}
	}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".nv.constant0") || strings.HasPrefix(s.Name, ".nv.constant3") || strings.HasPrefix(s.Name, ".nv.shared") {
			c.sections = append(c.sections, fmt.Sprint(s.Name, " ", s.Size))
		}
	}
	for _, list := range [][]string{c.objects, c.functions, c.sections} {
		slices.Sort(list)
	}
	return c
}

// TestPartMessages checks that messages about parts have places in the inputs, in the
// order of the parts, and that all parts are reported.
func TestPartMessages(t *testing.T) {
	head := ".version 7.0\n.target sm_80\n.address_size 64\n"
	o := link.Options{Inputs: []link.Input{
		{Name: "a.ptx", Text: []byte(head + ".visible .entry a()\n{\n\tfrob.a;\n\tret;\n}\n")},
		{Name: "b.ptx", Text: []byte(head + "\n\n.visible .entry b()\n{\n\tret;\n\tfrob.b;\n}\n")},
		{Name: "c.ptx", Text: []byte(head + ".visible .entry c()\n{\n\tret;\n}\n")},
	}}
	linked, err := link.Link(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b := Build{Options: Options{Path: oracles.Require(t, "ptxas"), Arch: "sm_80"}, Nvlink: oracles.Require(t, "nvlink"), Mode: Separate, Parts: 3}
	_, messages, err := b.AssembleAll(t.Context(), []Target{{Arch: "sm_80", Result: linked}})
	if !errors.Is(err, ErrRejected) {
		t.Fatal(err)
	}
	var places []string
	for _, m := range messages {
		file, line, _ := m.Place.Position()
		places = append(places, fmt.Sprintf("%s:%d", file, line))
	}
	slices.Sort(places)
	if d := cmp.Diff([]string{"a.ptx:6", "b.ptx:9"}, places); d != "" {
		t.Error(d)
	}
}

// TestMergedMessages checks that what several parts say about one place is said once,
// and what one part says twice is kept.
func TestMergedMessages(t *testing.T) {
	logs := make([]diag.Log, 2)
	for i := range logs {
		logs[i].Note(diag.Place{}, "both")
		logs[i].Note(diag.Place{}, fmt.Sprint("only ", i))
		logs[i].Note(diag.Place{}, fmt.Sprint("only ", i))
	}
	var log diag.Log
	merge(&log, logs)
	var got []string
	for _, m := range log.Messages {
		got = append(got, m.Text)
	}
	if d := cmp.Diff([]string{"both", "only 0", "only 0", "only 1", "only 1"}, got); d != "" {
		t.Error(d)
	}
}

// TestEmptyCubin checks that a finished cubin of functions alone counts as empty, for every GPU and in every
// mode, and that with a variable or a kernel it does not. ptxas 13.5 reserves shared memory in each cubin for sm_90 and later.
func TestEmptyCubin(t *testing.T) {
	for _, tools := range [][3]string{{"ptxas", "nvlink", "8.4"}, {"ptxas-new", "nvlink-new", "9.4"}} {
		b := Build{Options: Options{Path: oracles.Require(t, tools[0])}, Nvlink: oracles.Require(t, tools[1])}
		help, err := exec.Command(b.Path, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		gpus := regexp.MustCompile(`'sm_\w+'`).FindAllString(string(help), -1)
		if len(gpus) < 10 {
			t.Fatalf("%s knows %v", tools[0], gpus)
		}
		for _, gpu := range gpus {
			gpu = strings.Trim(gpu, "'")
			if testing.Short() && !slices.Contains([]string{"sm_80", "sm_90", "sm_100", "sm_120"}, gpu) {
				continue
			}
			text := ".version " + tools[2] + "\n.target " + gpu + "\n.address_size 64\n.visible .func f() { ret; }\n.visible .func g() { ret; }\n"
			for what, more := range map[string]string{
				"":            "",
				"a kernel":    ".visible .entry k() { ret; }\n",
				"a variable":  ".visible .global .u32 v;\n",
				"a constant":  ".visible .const .u32 v = 1;\n",
				"a reference": ".visible .global .texref v;\n",
			} {
				if gpu != "sm_80" && what != "" && what != "a kernel" { // one GPU is enough for these
					continue
				}
				for _, way := range []Build{{Mode: Whole}, {Mode: Separate, Parts: 1}, {Mode: Separate, Parts: 2}} {
					linked, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text + more)}}})
					if err != nil {
						t.Fatal(err)
					}
					b.Mode, b.Parts = way.Mode, way.Parts
					_, messages, err := b.AssembleAll(t.Context(), []Target{{Arch: gpu, Result: linked}})
					empty := slices.ContainsFunc(messages, func(m *link.Message) bool { return m.ID == diag.EmptyCubin })
					if err != nil || empty != (what == "") {
						t.Errorf("%s for %s, mode %d, %d parts, with %s: %v, %v", tools[0], gpu, b.Mode, b.Parts, what, err, messages)
					}
				}
			}
		}
	}
}
