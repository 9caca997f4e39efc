package link_test

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// arch is the GPU to assemble modules for that need no newer one: the oldest that
// the newest ptxas supports.
const arch = "sm_75"

// gpuOf returns the GPU to assemble a module with this target for.
func gpuOf(target string) string { return oracles.GPU(target) }

// assemble runs ptxas on a module and returns its cubin. The exit code proves
// little (ptxas stops at a NUL and exits 0), so callers check the symbols.
func assemble(t *testing.T, gpu string, text []byte, flags ...string) []byte {
	t.Helper()
	return assembleWith(t, "ptxas", gpu, text, flags...)
}

func assembleWith(t *testing.T, tool, gpu string, text []byte, flags ...string) []byte {
	t.Helper()
	return oracles.Assemble(t, tool, gpu, text, flags...)
}

// nvlink links cubins.
func nvlink(t *testing.T, gpu string, cubins ...[]byte) []byte {
	t.Helper()
	linked, output, err := tryNvlink(t, gpu, cubins...)
	if err != nil {
		t.Fatalf("nvlink: %v\n%s", err, output)
	}
	return linked
}

func tryNvlink(t *testing.T, gpu string, cubins ...[]byte) (linked []byte, output string, err error) {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.cubin")
	args := []string{"-arch=" + gpu, "-o", out}
	for i, cubin := range cubins {
		path := filepath.Join(dir, fmt.Sprintf("%d.cubin", i))
		if err := os.WriteFile(path, cubin, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	text, err := exec.Command(oracles.Require(t, "nvlink"), args...).CombinedOutput()
	if err == nil {
		linked, err = os.ReadFile(out)
	}
	return linked, string(text), err
}

// symbols reads the symbol table of a cubin.
func symbols(t *testing.T, cubin []byte) []elf.Symbol { return oracles.Symbols(t, cubin) }

// objects lists the entries and data objects of a cubin: name, kind, size. It
// removes the suffixes that ptxlink gave to module-local names.
func objects(t *testing.T, cubin []byte, renamed map[string]string) []string {
	return oracles.Objects(t, cubin, renamed)
}

// TestLinkSets links every set of testdata/ptx. ptxas accepts the result with and
// without -c, and its entries and data objects are those that nvlink gives for the
// separate modules.
func TestLinkSets(t *testing.T) {
	sets, err := filepath.Glob("../testdata/ptx/*")
	if err != nil || len(sets) == 0 {
		t.Fatalf("no link sets: %v", err)
	}
	for _, set := range sets {
		paths, _ := filepath.Glob(set + "/*.ptx")
		paths = slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == wholeExample })
		if len(paths) < 2 {
			continue
		}
		t.Run(filepath.Base(set), func(t *testing.T) {
			t.Parallel()
			linkSet(t, paths)
		})
	}
}

func linkSet(t *testing.T, paths []string) {
	var inputs []link.Input
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, link.Input{Name: filepath.Base(path), Text: text})
	}
	forwards := mustLink(t, link.Options{Inputs: inputs})
	gpu := gpuOf(forwards.Target)
	var separate [][]byte
	for _, in := range inputs {
		separate = append(separate, assemble(t, gpu, in.Text, "-c"))
	}
	linked, output, err := tryNvlink(t, gpu, separate...)
	if err != nil && strings.Contains(output, "Prototype doesn't match") {
		// nvlink refuses gcc's .f32 against the .b32 of nvcc and clang, though the
		// call is the same. It accepts the modules with equal types.
		for i, in := range inputs {
			separate[i] = assemble(t, gpu, bytes.ReplaceAll(in.Text, []byte(".param .f32"), []byte(".param .b32")), "-c")
		}
		linked, output, err = tryNvlink(t, gpu, separate...)
	}
	if err != nil {
		t.Fatalf("nvlink: %v\n%s", err, output)
	}
	want := objects(t, linked, nil)
	if len(want) == 0 {
		t.Fatal("nvlink's output has no symbols")
	}
	slices.Reverse(inputs)
	backwards := mustLink(t, link.Options{Inputs: inputs})
	slices.Reverse(inputs)
	for _, r := range []*link.Result{forwards, backwards} {
		for _, m := range r.Messages {
			t.Errorf("%v", m)
		}
		renamed := map[string]string{}
		for _, s := range r.Symbols() {
			renamed[s.Name] = s.Original
		}
		if d := cmp.Diff(want, objects(t, nvlink(t, gpu, assemble(t, gpu, r.PTX, "-c")), renamed)); d != "" {
			t.Errorf("symbols differ from nvlink's (-) in ptxlink, ptxas -c, nvlink (+):\n%s", d)
		}
		whole := objects(t, assemble(t, gpu, r.PTX), renamed)
		if d := cmp.Diff(entries(want), entries(whole)); d != "" {
			t.Errorf("entries differ from nvlink's (-) in ptxlink, ptxas (+):\n%s", d)
		}
		newest := objects(t, assembleWith(t, "ptxas-new", gpu, r.PTX), renamed)
		if d := cmp.Diff(entries(want), entries(newest)); d != "" {
			t.Errorf("entries differ from nvlink's (-) in ptxlink, newest ptxas (+):\n%s", d)
		}
	}
}

func entries(objects []string) []string {
	return slices.DeleteFunc(slices.Clone(objects), func(s string) bool { return !strings.HasPrefix(s, "entry") })
}

// TestGCCArchives links every member of gcc's libraries, 1577 modules in gcc 12, on
// its own: bodies stay the same byte for byte, and ptxas accepts the result.
func TestGCCArchives(t *testing.T) {
	oracles.Long(t)
	oracles.Require(t, "ptxas")
	type member struct {
		name     string
		text     []byte
		assemble bool
	}
	var members []member
	for _, lib := range []string{"libc.a", "libm.a", "libgcc.a", "libgfortran.a"} {
		path := filepath.Join(oracles.Dir(), "gcc-nvptx", lib)
		archive, err := os.ReadFile(path)
		if err != nil {
			if os.Getenv(oracles.RequireVar) == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		for name, text := range gnuMembers(t, archive) {
			members = append(members, member{lib + "(" + name + ")", text, len(members)%4 == 0}) // all take ptxas minutes
		}
	}
	if len(members) < 1000 {
		t.Fatalf("only %d members", len(members))
	}
	t.Logf("%d members", len(members))
	work := make(chan member)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for m := range work {
				linkMember(t, m.name, m.text, m.assemble)
			}
		})
	}
	for _, m := range members {
		work <- m
	}
	close(work)
	workers.Wait()
}

func linkMember(t *testing.T, name string, text []byte, assemble bool) {
	r, err := link.Link(context.Background(), link.Options{Inputs: []link.Input{{Name: name, Text: text}}, Relocatable: true})
	if err != nil {
		t.Error(err)
		return
	}
	if len(r.Messages) > 0 {
		t.Errorf("%s: %v", name, r.Messages[0])
	}
	before, after := bodies(t, text), bodies(t, r.PTX)
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("%s: bodies changed:\n%s", name, d)
	}
	if !assemble {
		return
	}
	dir, err := os.MkdirTemp("", "gcc")
	if err != nil {
		t.Error(err)
		return
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	os.WriteFile(in, r.PTX, 0o666)
	ptxas, _ := oracles.Find("ptxas")
	if output, err := exec.Command(ptxas, "-c", "-arch="+arch, in, "-o", out).CombinedOutput(); err != nil {
		t.Errorf("%s: ptxas: %v\n%s", name, err, output)
		return
	}
	cubin, err := os.ReadFile(out)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defined := map[string]bool{}
	for _, s := range symbols(t, cubin) {
		if s.Section != elf.SHN_UNDEF {
			defined[s.Name] = true
		}
	}
	for function := range before {
		if !defined[function] {
			t.Errorf("%s: %s is not in the cubin", name, function)
		}
	}
}

// bodies returns the function bodies of a module by name.
func bodies(t *testing.T, text []byte) map[string]string {
	m, err := ptx.Parse(&diag.Source{Text: text})
	if err != nil {
		t.Error(err)
	}
	list := map[string]string{}
	for _, d := range m.Decls {
		if d.HasBody {
			list[m.Names[d.Name]] = m.Src.String(d.Body)
		}
	}
	return list
}

// gnuMembers reads the members of a GNU archive.
func gnuMembers(t *testing.T, archive []byte) map[string][]byte {
	members := map[string][]byte{}
	var long string
	const header = 60
	for at := len("!<arch>\n"); at+header <= len(archive); {
		name := strings.TrimRight(string(archive[at:at+16]), " ")
		size, err := strconv.Atoi(strings.TrimRight(string(archive[at+48:at+58]), " "))
		if err != nil || at+header+size > len(archive) {
			t.Fatalf("archive is broken at byte %d", at)
		}
		data := archive[at+header : at+header+size]
		at += header + size + size&1
		switch {
		case name == "//":
			long = string(data)
		case name == "/":
		case name[0] == '/':
			off, _ := strconv.Atoi(name[1:])
			name, _, _ = strings.Cut(long[off:], "/\n")
			fallthrough
		default:
			members[strings.TrimSuffix(name, "/")] = data
		}
	}
	return members
}

// wholeExample is the guide's example before it was split into two modules.
const wholeExample = "call_example.ptx"

// TestGuideExample links the two modules of the example in PTX Interoperability,
// chapter 6: the output of ptxas contains foo, and test calls it.
func TestGuideExample(t *testing.T) {
	inputs := []link.Input{{Path: "../testdata/ptx/guide/foo.ptx"}, {Path: "../testdata/ptx/guide/test.ptx"}}
	defined := map[string]bool{}
	for _, s := range symbols(t, assemble(t, arch, mustLink(t, link.Options{Inputs: inputs}).PTX, "-c")) {
		if s.Section != elf.SHN_UNDEF {
			defined[s.Name] = true
		}
	}
	for _, name := range []string{"_Z3fooii", "_Z4testPi"} {
		if !defined[name] {
			t.Errorf("%s is not in the cubin; there are %v", name, slices.Sorted(maps.Keys(defined)))
		}
	}
}
