package atomics

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// check returns the messages of Check on modules, one per line: the file with the
// line, and the text.
func check(t *testing.T, modules ...object.Input) []string {
	t.Helper()
	var log diag.Log
	files, _, err := object.Load(t.Context(), modules, object.Options{}, &log)
	if err != nil || log.Errors() > 0 {
		t.Fatal(err, log.Messages)
	}
	Check(resolve.Resolve(files, resolve.Options{Relocatable: true}, &log), &log)
	var lines []string
	for _, m := range log.Messages {
		if m.Kind != diag.Warning || m.ID != diag.Atomics || len(m.Notes) != 1 || m.Help == "" {
			t.Fatalf("an odd message: %v", m)
		}
		line, _ := m.Place.Source.LineColumn(m.Place.Span.Off)
		lines = append(lines, fmt.Sprintf("%s:%d: %s", m.Place.Source.Name, line, m.Text))
	}
	return lines
}

const atomicHeader = ".version 8.6 .target sm_90 .address_size 64 .visible .global .u32 x; .visible .global .u32 y[2];"

func hand(body string) string {
	return atomicHeader + ".visible .func f () { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;\n" + body + "\nret; }"
}

func TestAtomicSequences(t *testing.T) {
	const asm = "// begin inline asm\n"
	const end = "\n// end inline asm\n"
	for _, test := range []struct{ body, want string }{
		// Rows of the tables, and stronger ones.
		{"fence.sc.gpu; ld.acquire.gpu.u32 %r1, [x];", ""},
		{"fence.sc.gpu; ld.relaxed.gpu.u32 %r1, [x]; fence.acquire.gpu;", ""},
		{"fence.sc.gpu; ld.relaxed.gpu.u32 %r1, [x]; fence.acq_rel.gpu;", ""},
		{"fence.sc.gpu; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.gpu; st.release.gpu.u32 [x], 1;", ""},
		{"fence.sc.gpu; atom.acquire.gpu.add.u32 %r1, [x], 1;", ""},
		{"fence.sc.gpu; atom.relaxed.gpu.add.u32 %r1, [x], 1; fence.acquire.gpu;", ""},
		{"fence.sc.gpu; atom.acq_rel.gpu.add.u32 %r1, [x], 1; fence.sc.gpu;", ""},
		{"st.release.gpu.u32 [x], 1;", ""},
		{"fence.release.gpu; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.acq_rel.gpu; red.relaxed.gpu.add.u32 [x], 1;", ""},
		{"ld.relaxed.gpu.u32 %r1, [x]; fence.acquire.gpu;", ""},
		{"ld.relaxed.gpu.u32 %r1, [x]; fence.sc.gpu;", ""},
		{"ld.acquire.gpu.u32 %r1, [x]; fence.acquire.gpu;", ""},
		{"atom.relaxed.gpu.add.u32 %r1, [x], 1; fence.acquire.gpu;", ""},
		{"fence.release.gpu; atom.acquire.gpu.add.u32 %r1, [x], 1;", ""},
		{"fence.release.gpu; atom.relaxed.gpu.add.u32 %r1, [x], 1; fence.acquire.gpu;", ""},
		{"membar.gl; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.gpu; st.relaxed.gpu.u32 [x], 1;", ""},
		// A wider fence is stronger.
		{"fence.sc.sys; ld.acquire.gpu.u32 %r1, [x];", ""},
		{"fence.release.sys; atom.acquire.cta.add.u32 %r1, [x], 1;", ""},
		// A narrower one is not a mapping.
		{"fence.sc.cta; ld.acquire.gpu.u32 %r1, [x];", "fence.sc.cta is narrower than ld.acquire.gpu, which it orders"},
		{"fence.sc.gpu; ld.acquire.sys.global.u32 %r1, [x];", "fence.sc.gpu is narrower than ld.acquire.sys, which it orders"},
		{"fence.sc.cta; st.relaxed.cluster.u32 [x], 1;", "fence.sc.cta is narrower than st.relaxed.cluster, which it orders"},
		{"fence.sc.cta; st.release.gpu.u32 [x], 1;", "fence.sc.cta is narrower than st.release.gpu, which it orders"},
		{"membar.cta; st.relaxed.gpu.u32 [x], 1;", "membar.cta is narrower than st.relaxed.gpu, which it orders"},
		{"fence.release.cta; mov.u32 %r1, 1; st.relaxed.gpu.u32 [x], %r1;", "fence.release.cta is narrower than st.relaxed.gpu, which it orders"},
		{"atom.relaxed.sys.add.u32 %r1, [x], 1; fence.acquire.gpu;", "fence.acquire.gpu is narrower than atom.relaxed.sys, which it orders"},
		{"fence.sc.gpu; ld.relaxed.gpu.u32 %r1, [x]; fence.acquire.cta;", "fence.acquire.cta is narrower than ld.relaxed.gpu, which it orders"},
		// It may belong to the access on its other side.
		{"ld.relaxed.gpu.u32 %r1, [x]; fence.sc.cta; st.relaxed.cta.u32 [y], 1;", ""},
		{"ld.relaxed.cta.u32 %r1, [x]; fence.acq_rel.cta; st.relaxed.gpu.u32 [y], 1;", ""},
		// Or to nothing: the accesses beside it need no fence.
		{"fence.acq_rel.cta; ld.acquire.gpu.u32 %r1, [x]; st.release.gpu.u32 [y], 1;", ""},
		{"fence.acq_rel.cta; st.release.gpu.u32 [x], 1;", ""},
		{"ld.acquire.gpu.u32 %r1, [x]; fence.acq_rel.cta;", ""},
		// An instruction in between makes it something else.
		{"fence.sc.cta; st.global.u32 [y], 1; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.cta; bar.sync 0; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.cta; L: st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.cta; @%p1 bra L; st.relaxed.gpu.u32 [x], 1; L:", ""},
		{"@%p1 fence.sc.cta; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.cta; atom.add.u32 %r1, [x], 1;", ""},
		{"fence.proxy.async; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.mbarrier_init.release.cluster; st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.cta; st.volatile.u32 [x], 1;", ""},
		{"fence.sc.cta; future.sc.gpu.u32 [x]; st.relaxed.gpu.u32 [x], 1;", ""},
		// Shared memory reaches no further than its block.
		{"fence.sc.cta; st.relaxed.gpu.shared.u32 [%r1], 1;", ""},
		{"fence.sc.cta; st.relaxed.gpu.shared::cluster.u32 [%r1], 1;", "fence.sc.cta is narrower than st.relaxed.gpu, which it orders"},
		// One access and its fences, and nothing else.
		{"st.release.gpu.u32 [x], 1; fence.sc.gpu;", "fence.sc.gpu behind st.release.gpu makes no atomic store"},
		{"st.relaxed.gpu.u32 [x], 1; fence.acq_rel.gpu;", "fence.acq_rel.gpu behind st.relaxed.gpu makes no atomic store"},
		{"fence.acquire.gpu; st.relaxed.gpu.u32 [x], 1;", "fence.acquire.gpu before st.relaxed.gpu makes no atomic store"},
		{"fence.sc.gpu; st.relaxed.gpu.u32 [x], 1; fence.sc.gpu;", ""},
		{"fence.sc.gpu; ld.relaxed.gpu.u32 %r1, [x];", "fence.sc.gpu before ld.relaxed.gpu makes no atomic load"},
		{"fence.acq_rel.gpu; ld.acquire.gpu.u32 %r1, [x];", "fence.acq_rel.gpu before ld.acquire.gpu makes no atomic load"},
		{"ld.relaxed.gpu.u32 %r1, [x]; fence.release.gpu;", "fence.release.gpu behind ld.relaxed.gpu makes no atomic load"},
		{"fence.acquire.gpu; atom.relaxed.gpu.add.u32 %r1, [x], 1;", "fence.acquire.gpu before atom.relaxed.gpu makes no atomic read-modify-write"},
		{"fence.sc.gpu; atom.relaxed.gpu.add.u32 %r1, [x], 1;", ""},
		{"atom.relaxed.gpu.add.u32 %r1, [x], 1; fence.release.gpu;", "fence.release.gpu behind atom.relaxed.gpu makes no atomic read-modify-write"},
		{"fence.acq_rel.gpu; fence.sc.gpu; st.relaxed.gpu.u32 [x], 1;", ""},
		// With more in the function, the fence may be for that.
		{"st.relaxed.gpu.u32 [x], 1; fence.sc.gpu; ld.relaxed.gpu.u32 %r1, [y];", ""},
		{"st.relaxed.gpu.u32 [x], 1; fence.sc.gpu; ld.global.u32 %r1, [y];", ""},
		{"st.relaxed.gpu.u32 [x], 1; fence.sc.gpu; call f;", ""},
		{"@%p1 ret; st.relaxed.gpu.u32 [x], 1; fence.sc.gpu;", ""},
		// Inline assembly has one author; the compiler's code around it does not
		// count.
		{asm + "st.release.gpu.u32 [x], 1; fence.sc.gpu;" + end + "ld.relaxed.gpu.u32 %r1, [y];", "fence.sc.gpu behind st.release.gpu makes no atomic store"},
		{asm + "{ fence.sc.cta; st.relaxed.gpu.u32 [x], 1; }" + end, "fence.sc.cta is narrower than st.relaxed.gpu, which it orders"},
		{asm + "fence.sc.cta;" + end + asm + "st.relaxed.gpu.u32 [x], 1;" + end, ""},
		{asm + "fence.sc.cta;" + end + "st.relaxed.gpu.u32 [x], 1;", ""},
		{"fence.sc.cta; st.relaxed.gpu.u32 [x], 1;" + asm + end, ""},
	} {
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		got := check(t, object.Input{Name: "f.ptx", Text: []byte(hand(test.body))})
		for i := range got {
			_, got[i], _ = strings.Cut(got[i], ": ")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s\n%s", test.body, d)
		}
	}
}

func TestAtomicScopes(t *testing.T) {
	const extern = ".version 8.6 .target sm_90 .address_size 64 .extern .global .u32 x; .extern .global .u32 y[2];"
	const llvm = "// Generated by LLVM NVPTX Back-End\n"
	module := func(body string) string {
		return extern + ".visible .func g () { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;\n" + body + "\nret; }"
	}
	const differs = "g.ptx:%d: %s is accessed at scope .%s here but at .%s in f.ptx"
	const atGPU = "ld.relaxed.gpu.u32 %r1, [x]; st.relaxed.gpu.u32 [y+4], 1;"
	for _, test := range []struct{ f, g, want string }{
		{hand(atGPU), module("ld.acquire.gpu.u32 %r1, [x];"), ""},
		{hand(atGPU), module("ld.acquire.sys.u32 %r1, [x];"), fmt.Sprintf(differs, 2, "x", "sys", "gpu")},
		{hand(atGPU), module("mov.u64 %rd1, x; cvta.global.u64 %rd2, %rd1; \n red.relaxed.cta.add.u32 [%rd2], 1;"), fmt.Sprintf(differs, 3, "x", "cta", "gpu")},
		{hand(atGPU), module("mov.u64 %rd1, y+8; add.s64 %rd1, %rd1, -4; red.relaxed.cta.add.u32 [%rd1], 1;"), fmt.Sprintf(differs, 2, "y", "cta", "gpu")},
		{hand(atGPU), module("mov.u64 %rd1, y; atom.cta.add.u32 %r1, [%rd1+4], 1;"), fmt.Sprintf(differs, 2, "y", "cta", "gpu")},
		{hand(atGPU), module("red.relaxed.cta.add.u32 [y], 1;"), ""}, // another element
		{hand(atGPU), module("ld.acquire.sys.u32 %r1, [x]; ld.relaxed.gpu.u32 %r1, [x];"), ""},
		{hand(atGPU), module("ld.volatile.u32 %r1, [x]; ld.u32 %r1, [x];"), ""},
		// The register holds something else by then, or may do so.
		{hand(atGPU), module("mov.u64 %rd1, x; ld.u64 %rd1, [%rd1]; red.relaxed.cta.add.u32 [%rd1], 1;"), ""},
		{hand(atGPU), module("mov.u64 %rd1, x; ld.v2.u64 {%rd2, %rd1}, [%rd1]; red.relaxed.cta.add.u32 [%rd1], 1;"), ""},
		{hand(atGPU), module("mov.u64 %rd1, x; add.s64 %rd1, %rd1, %rd2; red.relaxed.cta.add.u32 [%rd1], 1;"), ""},
		{hand(atGPU), module("mov.u64 %rd1, x; L: red.relaxed.cta.add.u32 [%rd1], 1;"), ""},
		{hand(atGPU), module("@%p1 mov.u64 %rd1, x; red.relaxed.cta.add.u32 [%rd1], 1;"), ""},
		{hand(atGPU), module("mov.u64 %rd1, x; { .reg .b64 %rd1; red.relaxed.cta.add.u32 [%rd1], 1; }"), ""},
		// A block has registers of its own, and those around it.
		{hand(atGPU), module("mov.u64 %rd1, x; { .reg .b64 %t; red.relaxed.cta.add.u32 [%rd1], 1; }"), fmt.Sprintf(differs, 2, "x", "cta", "gpu")},
		{hand(atGPU), module("mov.u64 %rd1, x; { .reg .b64 %rd1; mov.u64 %rd1, 0; } red.relaxed.cta.add.u32 [%rd1], 1;"), fmt.Sprintf(differs, 2, "x", "cta", "gpu")},
		// An atom without scope has scope gpu, unless its compiler omits scopes.
		{hand("atom.add.u32 %r1, [x], 1;"), module("atom.sys.add.u32 %r1, [x], 1;"), fmt.Sprintf(differs, 2, "x", "sys", "gpu")},
		{llvm + hand("atom.add.u32 %r1, [x], 1;"), module("atom.sys.add.u32 %r1, [x], 1;"), ""},
		{llvm + hand("atom.cta.add.u32 %r1, [x], 1;"), module("atom.sys.add.u32 %r1, [x], 1;"), fmt.Sprintf(differs, 2, "x", "sys", "cta")},
		// Names that are not external belong to other variables.
		{strings.ReplaceAll(hand(atGPU), ".visible .global", ".global"), strings.ReplaceAll(module("ld.acquire.sys.u32 %r1, [x];"), ".extern", ""), ""},
	} {
		got := check(t, object.Input{Name: "f.ptx", Text: []byte(test.f)}, object.Input{Name: "g.ptx", Text: []byte(test.g)})
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s\n%s\n%s", test.f, test.g, d)
		}
	}
}

// FuzzAtomics reads any body that the parser accepts.
func FuzzAtomics(f *testing.F) {
	f.Add("fence.sc.gpu; @!%p1 ld.acquire.gpu.u32 %r1, [x+-4]; { .reg .b32 %r1; mov.b64 {%r1, _}, x; }")
	f.Add("// begin inline asm\n@%p1 ; add.s64 %rd1, x, 4;\n// end inline asm\n L: .branchtargets L; red.relaxed.cta.add.u32 [%rd1], 1;")
	f.Fuzz(func(t *testing.T, body string) {
		var log diag.Log
		files, _, err := object.Load(t.Context(), []object.Input{{Name: "f.ptx", Text: []byte(hand(body))}}, object.Options{}, &log)
		if err == nil && log.Errors() == 0 {
			Check(resolve.Resolve(files, resolve.Options{Relocatable: true}, &log), &log)
		}
	})
}

// TestAtomicsOfCompilers checks that there are no findings in compiler output, with
// the modules of each set together; nor if its sequences are treated as
// hand-written.
func TestAtomicsOfCompilers(t *testing.T) {
	sets, err := filepath.Glob("../../testdata/ptx/*")
	if err != nil || len(sets) == 0 {
		t.Fatal("no modules", err)
	}
	for _, set := range sets {
		paths, _ := filepath.Glob(set + "/*.ptx")
		var together []object.Input
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) != "call_example.ptx" { // its neighbours together
				together = append(together, object.Input{Path: path, Text: text})
			}
			text = bytes.ReplaceAll(text[bytes.Index(text, []byte(".version")):], []byte("inline asm"), nil)
			for _, line := range check(t, object.Input{Path: path, Text: text}) {
				t.Error("as if by hand:", line)
			}
		}
		if len(together) > 0 {
			for _, line := range check(t, together...) {
				t.Error(line)
			}
		}
	}
}
