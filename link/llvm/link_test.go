package llvm_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/llvm"
)

// linker returns what links LLVM bitcode beside PTX and objects. ptxas.NewTarget and AssembleAll make a cubin of
// what it links.
func linker(ctx context.Context, o link.Options) dlink.Linker {
	return dlink.Linker{Options: o, PTX: true, Bitcode: func(code *dlink.Intermediate) (dlink.Compiler, error) {
		c := &llvm.Compiler{Arch: code.Arch(o.Arch)}
		return c, c.Find(ctx, "", nil, code.Units)
	}}
}

func ExampleCompiler() {
	ctx := context.Background()
	linked, err := linker(ctx, link.Options{Arch: "sm_80", Inputs: []link.Input{{Path: "kernel.bc"}, {Path: "lib.ptx"}}}).Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(linked.PTX), len(linked.Messages))
}

func TestLinker(t *testing.T) {
	t.Setenv("CLANG", oracles.RequireCompiler(t, "clang"))
	dir := "../../testdata/forms/bitcode/"
	o := link.Options{Arch: "sm_80", Inputs: []link.Input{{Path: dir + "call.bc"}, {Path: dir + "f.bc"}}}
	linked, err := linker(t.Context(), o).Run(t.Context())
	if err != nil || !strings.Contains(string(linked.PTX), ".entry call") || len(linked.Units) != 2 {
		t.Fatalf("%v\n%+v", err, linked)
	}
	o.Inputs[1].Path = dir + "inline.bc" // as libclc: all functions are linkonce_odr and alwaysinline
	if linked, err = linker(t.Context(), o).Run(t.Context()); err != nil || strings.Contains(string(linked.PTX), "call.uni") {
		t.Errorf("a library of inline functions: %v", err)
	}
	o.Inputs[0] = link.Input{Text: []byte(".version 7.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) f (.param .b32 x);\n.visible .func use() { .param .b32 x, r; call (r), f, (x); ret; }\n")}
	if linked, err = linker(t.Context(), o).Run(t.Context()); err != nil || !strings.Contains(string(linked.PTX), ".weak .func (") {
		t.Errorf("an inline function that PTX calls: %v", err)
	}
	if _, err := (dlink.Linker{Options: o}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "LLVM bitcode") {
		t.Errorf("bitcode without a compiler: %v", err)
	}
}
