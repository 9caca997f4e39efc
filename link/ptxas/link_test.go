package ptxas_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/ptxas"
	"ptxlink/object/diag"
)

// Cubin is the whole way from modules to machine code.
func ExampleCubin() {
	cubin, r, err := ptxas.Cubin(context.Background(), link.Options{
		Inputs:   []link.Input{{Path: "main.ptx"}, {Path: "lib.ptx"}},
		Arch:     "sm_80",
		Optimize: link.Optimize{Level: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(cubin), len(r.Messages))
}

func TestCubin(t *testing.T) {
	tool := oracles.Require(t, "ptxas")
	t.Setenv("PTXAS", tool)
	dir := "../../testdata/ptx/nvcc-lineinfo/"
	var o link.Options
	for _, name := range []string{"main", "math", "shapes", "table", "log"} {
		o.Inputs = append(o.Inputs, link.Input{Path: dir + name + ".ptx"})
	}
	cubin, r, err := ptxas.Cubin(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Target == "" || len(r.PTX) == 0 {
		t.Errorf("the result has target %q and %d bytes", r.Target, len(r.PTX))
	}
	path := filepath.Join(t.TempDir(), "out.cubin")
	if err := os.WriteFile(path, cubin, 0o666); err != nil {
		t.Fatal(err)
	}
	f := oracles.OpenCubin(t, cubin)
	lines := false
	for _, s := range f.Sections {
		lines = lines || s.Name == ".debug_line"
	}
	if !lines {
		t.Error("the cubin has no lines")
	}

	const top = ".version 7.8\n.target sm_75\n.address_size 64\n"
	bad := link.Input{Name: "bad.ptx", Text: []byte(top + ".visible .entry k () {\n.reg .f32 %f;\nadd.s32 %f, %f, %f;\nret;\n}\n")}
	_, _, err = ptxas.Cubin(t.Context(), link.Options{Inputs: []link.Input{bad}})
	var refused *link.Errors
	if !errors.Is(err, ptxas.ErrRejected) || !errors.As(err, &refused) || !strings.Contains(err.Error(), "bad.ptx:6") {
		t.Errorf("a module that ptxas rejects: %v", err)
	}
	missing := link.Input{Name: "use.ptx", Text: []byte(top + ".extern .func f ();\n.visible .entry k () {\ncall f;\nret;\n}\n")}
	if _, _, err = ptxas.Cubin(t.Context(), link.Options{Inputs: []link.Input{missing}}); !errors.Is(err, diag.ID("undefined-symbol")) || errors.Is(err, diag.ID("duplicate-symbol")) {
		t.Errorf("an undefined symbol: %v", err)
	}
	t.Setenv("PTXAS", filepath.Join(t.TempDir(), "none"))
	if _, _, err = ptxas.Cubin(t.Context(), o); err == nil {
		t.Error("there is a cubin without ptxas")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err = ptxas.Cubin(ended, o); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// Cubins of objects are linked as the command links them.
func TestCubinOfObjects(t *testing.T) {
	nvlink, fatbinary := oracles.Require(t, "nvlink"), oracles.Require(t, "fatbinary")
	t.Setenv("PTXAS", oracles.Require(t, "ptxas"))
	t.Setenv("NVLINK", nvlink)
	t.Chdir(t.TempDir())
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(tool string, args ...string) {
		if said, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, said)
		}
	}
	const top = "//\n.version 7.0\n.target sm_80\n.address_size 64\n" // fatbinary 12.4 blanks line 1
	for name, text := range map[string]string{
		"alone": ".visible .entry alone() { ret; }", "f": ".visible .func f () { ret; }",
		"calls": ".extern .func f ();\n.visible .entry calls() { call f; ret; }", "wrong": ".extern .func f (.param .b32 q);\n.visible .entry wrong() { .param .b32 q; call f, (q); ret; }",
	} {
		write(name+".ptx", []byte(top+text+"\n"))
		write(name+".cubin", oracles.Assemble(t, "ptxas", "sm_80", []byte(top+text+"\n"), "-c"))
		run(fatbinary, "-64", "--create="+name+".fatbin", "--image3=kind=elf,sm=80,file="+name+".cubin", "--image3=kind=ptx,sm=80,file="+name+".ptx")
	}
	link := func(arch string, paths ...string) ([]byte, *link.Result, error) {
		o := link.Options{Arch: arch}
		for _, path := range paths {
			o.Inputs = append(o.Inputs, link.Input{Path: path})
		}
		return ptxas.Cubin(t.Context(), o)
	}
	for _, test := range []struct {
		inputs string
		own    bool // nvlink links the cubins of the inputs, and ptxas does not run
	}{
		{"alone.fatbin f.fatbin", true}, // the kernel calls no function
		{"alone.ptx f.fatbin", false},
		{"calls.ptx f.cubin", false},
		{"calls.fatbin f.cubin", true}, // a cubin requires separate functions
	} {
		inputs := strings.Fields(test.inputs)
		got, r, err := link("sm_80", inputs...)
		if err != nil || len(r.Messages) > 0 {
			t.Errorf("%s: %v %v", test.inputs, err, r)
			continue
		}
		names := []string{}
		for _, s := range oracles.Symbols(t, got) {
			names = append(names, s.Name)
		}
		kernel, _, _ := strings.Cut(inputs[0], ".")
		if calls := kernel == "calls"; !slices.Contains(names, kernel) || calls && !slices.Contains(names, "f") {
			t.Errorf("%s: the cubin has %v", test.inputs, names)
		}
		if !test.own {
			continue
		}
		run(nvlink, append([]string{"-arch=sm_80", "-o", "want.cubin"}, strings.Fields(strings.ReplaceAll(test.inputs, ".fatbin", ".cubin"))...)...)
		if want, err := os.ReadFile("want.cubin"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the cubin is not nvlink's of their cubins (%v)", test.inputs, err)
		}
	}
	if _, _, err := link("sm_80", "wrong.ptx", "f.cubin"); !errors.Is(err, diag.ParamCount) {
		t.Errorf("a call that does not fit a cubin: %v", err)
	}
	if _, _, err := link("sm_90", "calls.ptx", "f.cubin"); err == nil {
		t.Error("a cubin for another GPU is linked")
	}
	t.Setenv("NVLINK", "none")
	if _, _, err := link("sm_80", "calls.ptx", "f.cubin"); !errors.Is(err, diag.Tool) {
		t.Errorf("a cubin without nvlink: %v", err)
	}
}
