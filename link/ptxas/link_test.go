package ptxas_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/ptxas"
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
	if _, _, err = ptxas.Cubin(t.Context(), link.Options{Inputs: []link.Input{missing}}); !errors.Is(err, link.ID("undefined-symbol")) || errors.Is(err, link.ID("duplicate-symbol")) {
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
