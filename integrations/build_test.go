// Package integrations_test builds the example with a real Bazel and with Make.
package integrations_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/container"
)

// workspace is a copy of integrations with a ptxlink for it.

// newWorkspace returns a workspace for a Bazel: bazel is 2.1, which reads WORKSPACE, and

// bazel-new is 7.7, which reads MODULE.bazel.

// offline lists repositories that Bazel fetches for its own Java toolchains before

// any build. Tests have no network, and nothing uses these repositories.

// modules lists what the modules of Bazel 7 itself ask the registry for.

// replace replaces one string in a file.

// run runs a program in a directory and returns its output.

// startup holds the options that give the test a Bazel server of its own. If the

// test is killed, the server exits after a minute. Java's second compiler costs more

// than it saves in so short a time.

// buildArgs returns Bazel's arguments for building a target.

// build builds a target with Bazel and returns the actions that ran, sorted.

// makes runs Make and returns the targets that it built, sorted.

func TestBazel(t *testing.T) {
	oracles.Long(t) // builds with Bazel and Make many times
	t.Run("2.1", func(t *testing.T) {
		w := newWorkspace(t, "bazel")
		w.example(t)
		w.names(t)
		w.pinned(t)
	})
	w := newWorkspace(t, "bazel-new")
	t.Run("example", w.example)
	t.Run("names", w.names)
	t.Run("cubin", w.cubin)
	t.Run("partitions", w.partitions)
	t.Run("compile", w.compile)
	t.Run("deps", w.deps)
	t.Run("refused", w.refused)
	t.Run("pinned", w.pinned)
}

// example builds the example, changes one file after another, and checks that Bazel

// and Make rerun exactly the actions that depend on it, with the same output.

func (w workspace) example(t *testing.T) {
	w.T = t // of this copy
	const (
		link        = "Linking app.ptx"
		packDebug   = "Packing debug/libdebug.a"
		packMath    = "Packing math/libmath.a"
		symbolsOf   = "Listing the symbols of "
		listDebug   = symbolsOf + "debug/libdebug.a"
		listMath    = symbolsOf + "math/libmath.a"
		app         = "build/app.ptx"
		debug, math = "build/libdebug.a", "build/libmath.a"
	)
	const src = "bazel/example/"
	var before string
	for _, step := range []struct {
		name         string
		change       func()
		bazel, make  []string
		outputStays  bool
		outputHolds  string
		outputHasNot string
	}{
		{
			name: "from nothing", change: func() {},
			bazel: []string{link, listDebug, listMath, packDebug, packMath}, make: []string{app, debug, math},
			outputHolds: "sqrt.rn.f32", outputHasNot: "text[7]",
		},
		{
			name: "nothing changed", change: func() {},
			outputStays: true,
		},
		{
			name: "a unit in an archive", change: func() { w.replace(src+"math/sqrt.ptx", "sqrt.rn.f32", "sqrt.approx.f32") },
			bazel: []string{link, listMath, packMath}, make: []string{app, math},
			outputHolds: "sqrt.approx.f32",
		},
		{
			name: "a module", change: func() { w.replace(src+"vec/vec.ptx", "fma.rn.f32", "fma.rz.f32") },
			bazel: []string{link}, make: []string{app},
			outputHolds: "fma.rz.f32",
		},
		{
			// From --unused-inputs Bazel knows that the link need not run.
			name: "an archive of which nothing is linked", change: func() { w.replace(src+"debug/trace.ptx", "116, 114", "84, 82") },
			bazel: []string{listDebug, packDebug}, make: []string{app, debug},
			outputStays: true,
		},
		{
			// Now it defines a name that a later archive defined.
			name: "a symbol more in that archive", change: func() {
				w.write(src+"debug/trace.ptx", w.read(src+"debug/trace.ptx")+strings.Replace(w.read(src+"math/sqrt.ptx"),
					".version 7.8\n.target sm_75\n.address_size 64\n", "", 1))
			},
			bazel: []string{link, listDebug, packDebug}, make: []string{app, debug},
			outputHolds: "text[7]",
		},
	} {
		if err := oracles.AwaitTick(w.root); err != nil {
			t.Fatal(err)
		}
		step.change()
		if ran := w.build("//:app"); !slices.Equal(ran, step.bazel) {
			t.Errorf("%s: Bazel ran %q, want %q", step.name, ran, step.bazel)
		}
		if made := w.makes(); !slices.Equal(made, step.make) {
			t.Errorf("%s: Make made %q, want %q", step.name, made, step.make)
		}
		byBazel, byMake := w.read(src+"bazel-bin/app.ptx"), w.read("make/build/app.ptx")
		if byBazel != byMake {
			t.Errorf("%s: Bazel's output and Make's differ:\n%s\n---\n%s", step.name, byBazel, byMake)
		}
		if step.outputStays != (byBazel == before) {
			t.Errorf("%s: the output is the same as before: %v", step.name, byBazel == before)
		}
		if !strings.Contains(byBazel, step.outputHolds) || step.outputHasNot != "" && strings.Contains(byBazel, step.outputHasNot) {
			t.Errorf("%s: want %q and not %q in:\n%s", step.name, step.outputHolds, step.outputHasNot, byBazel)
		}
		before = byBazel
	}
}

// names builds files whose names must be quoted in a response file, and passes an

// option with a backslash.

func (w workspace) names(t *testing.T) {
	w.T = t // of this copy
	const odd = `it's a #1, $x "q" (k).ptx`
	const header = ".version 7.8\n.target sm_75\n.address_size 64\n"
	w.write("bazel/example/odd/"+odd, header+".visible .func odd () { ret; }\n")
	w.write("bazel/example/odd/k.ptx", header+".extern .func odd ();\n.extern .func miss$ing ();\n.visible .entry k () { call odd; call miss$ing; ret; }\n")
	w.write("bazel/example/odd/BUILD.bazel", `load("@rules_ptx//ptx:defs.bzl", "ptx_archive", "ptx_library", "ptx_link")

ptx_archive(
    name = "lib odd",
    srcs = [`+"'''"+odd+"'''"+`],
)

ptx_library(
    name = "again",
    srcs = [":lib odd"],
)

ptx_link(
    name = "k odd",
    srcs = ["k.ptx"],
    linkopts = ["--allow-undefined=mis[s\\$]*"],
    deps = [":again"],
)
`)
	w.build("//odd:k odd")
	if out := w.read("bazel/example/bazel-bin/odd/k odd.ptx"); !strings.Contains(out, ".visible .func odd") || !strings.Contains(out, ".extern .func miss$ing") {
		t.Errorf("output:\n%s", out)
	}
	unused := w.read("bazel/example/bazel-bin/odd/_k odd/unused_inputs")
	if unused != "" {
		t.Errorf("unused: %q", unused)
	}
}

// cubin builds a cubin, with ptxas from the environment of the actions and from the

// toolchain.

func (w workspace) cubin(t *testing.T) {
	w.T = t // of this copy
	ptxas := oracles.Require(t, "ptxas")
	w.write("bazel/example/cubin/k.ptx", ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k () { ret; }\n")
	w.write("bazel/example/cubin/BUILD.bazel", `load("@rules_ptx//ptx:defs.bzl", "ptx_link")

ptx_link(
    name = "k",
    srcs = ["k.ptx"],
    out = "k.cubin",
)
`)
	const cubin = "bazel/example/bazel-bin/cubin/k.cubin"
	w.build("//cubin:k", "--action_env=PTXAS="+ptxas)
	want := w.read(cubin)
	if !strings.HasPrefix(want, "\x7fELF") {
		t.Errorf("no cubin: %q", want)
	}
	w.toolchain(`ptxas = "` + ptxas + `"`)
	if ran := w.build("//cubin:k", "--action_env=PTXAS=/none/ptxas"); !slices.Contains(ran, "Linking cubin/k.cubin") || w.read(cubin) != want {
		t.Errorf("with the ptxas of the toolchain Bazel ran %q, and the cubin is the same: %v", ran, w.read(cubin) == want)
	}
}

// partitions builds a cubin in parts, changes one source, and checks that one part is

// assembled again, and that the cubin is that of ptxlink --partition.

func (w workspace) partitions(t *testing.T) {
	w.T = t // of this copy
	ptxas, nvlink := oracles.Require(t, "ptxas"), oracles.Require(t, "nvlink")
	w.toolchain(`ptxas = "` + ptxas + `"`)
	const header = ".version 7.8\n.target sm_75\n.address_size 64\n"
	var sources []string
	for i := range 6 {
		name := fmt.Sprintf("parts/k%d.ptx", i)
		sources = append(sources, name)
		w.write("bazel/example/"+name, fmt.Sprintf(header+`.extern .func twice ();
.visible .entry k%d (.param .u64 out)
{
	.reg .u64 %%p;
	ld.param.u64 %%p, [out];
	st.global.u32 [%%p], %d;
	call twice;
	ret;
}
`, i, i))
	}
	k0 := w.read("bazel/example/parts/k0.ptx")
	w.write("bazel/example/parts/lines.ptx", strings.Replace(k0, "\tcall twice;", "\t.loc 1 7 2\n\tcall twice;", 1)+".file 1 \"k0.cu\"\n")
	w.write("bazel/example/parts/twice.ptx", header+".visible .func twice () { bar.sync 0; bar.sync 0; ret; }\n")
	sources = append(sources, "parts/twice.ptx")
	const rules = `load("@rules_ptx//ptx:defs.bzl", "ptx_cubin", "ptx_library")

ptx_library(
    name = "twice",
    srcs = ["twice.ptx"],
)

[ptx_cubin(
    name = name,
    srcs = ["k%d.ptx" % i for i in range(6)],
    arch = "sm_80",
    opt = opt,
    partitions = partitions,
    ptxasopts = ptxasopts,
    deps = [":twice"],
) for name, partitions, opt, ptxasopts in [
    ("one", 1, 0, []),
    ("four", 4, 0, []),
    ("ten", 10, 0, []),
    ("one_options", 1, 1, ["-O0", "-maxrregcount=24"]),
    ("two_options", 2, 1, ["-O0", "-maxrregcount=24"]),
]]

ptx_cubin(
    name = "lines",
    srcs = ["lines.ptx"],
    arch = "sm_80",
    partitions = 2,
    deps = [":twice"],
)
`
	w.write("bazel/example/parts/BUILD.bazel", rules)
	const assembling, joining, linking = "Assembling part%d.ptx of parts/%s.cubin", "Joining parts/%s.cubin", "Linking parts/_%s/linked.ptx"
	actions := func(name string, parts int) (all []string) {
		for i := range parts {
			all = append(all, fmt.Sprintf(assembling, i, name))
		}
		return append(all, fmt.Sprintf(joining, name), fmt.Sprintf(linking, name))
	}
	built := func(name string) string { return w.path("bazel/example/bazel-bin/parts/" + name + ".cubin") }
	// same checks a cubin in parts against that of ptxlink itself.
	same := func(name string, options ...string) {
		t.Helper()
		want := filepath.Join(t.TempDir(), "want.cubin")
		args := append([]string{"-o", want, "--arch=sm_80", "--ptxas=" + ptxas, "--nvlink=" + nvlink}, options...)
		w.run(w.path("bazel/example"), w.ptxlink, append(args, sources...)...)
		got, _ := os.ReadFile(built(name))
		direct, err := os.ReadFile(want)
		if makers := (container.Cubin{Data: direct}).Makers(); slices.Contains(options, "--partition=2") && len(makers) > 0 {
			got = container.AddNote(got, makers[0]) // nvlink joined the parts
		}
		if err != nil || !bytes.Equal(got, direct) {
			t.Errorf("%s.cubin is not that of ptxlink %q: %v", name, options, err)
		}
	}
	if ran := w.build("//parts:one"); !slices.Equal(ran, []string{"Linking parts/one.cubin"}) {
		t.Errorf("one part: Bazel ran %q", ran)
	}
	if ran := w.build("//parts:four"); !slices.Equal(ran, actions("four", 4)) {
		t.Errorf("four parts: Bazel ran %q, want %q", ran, actions("four", 4))
	}
	same("four", "--partition=4")
	// There are seven functions, so some of ten parts are empty.
	if ran, want := w.build("//parts:ten"), actions("ten", 10); !slices.Equal(ran, want) {
		t.Errorf("ten parts: Bazel ran %q, want %q", ran, want)
	}
	same("ten", "--partition=10")
	same("one")
	w.build("//parts:one_options")
	same("one_options", "-O1", "-Xptxas=-O0", "-Xptxas=-maxrregcount=24")
	w.build("//parts:two_options")
	same("two_options", "-O1", "-Xptxas=-O0", "-Xptxas=-maxrregcount=24", "--partition=2")
	// ptxlink passes -lineinfo for the part with lines.
	w.build("//parts:lines")
	if out := w.run(".", oracles.Require(t, "readelf"), "-SW", built("lines")); !strings.Contains(out, " .debug_line ") {
		t.Errorf("lines.cubin has no lines:\n%s", out)
	}
	if empty := w.read("bazel/example/bazel-bin/parts/_ten/part9.ptx"); empty != header {
		t.Errorf("the last of ten parts is %q", empty)
	}
	kernels := w.functions(built("one"))
	if want := []string{"k0", "k1", "k2", "k3", "k4", "k5", "twice"}; !slices.Equal(w.functions(built("four")), want) || !slices.Equal(w.functions(built("ten")), want) {
		t.Errorf("functions in four parts: %q, in ten: %q, want %q", w.functions(built("four")), w.functions(built("ten")), want)
	}
	// In whole mode the function may be a copy in each kernel.
	if got := slices.DeleteFunc(kernels, func(name string) bool { return !strings.HasPrefix(name, "k") }); !slices.Equal(got, []string{"k0", "k1", "k2", "k3", "k4", "k5"}) {
		t.Errorf("kernels in one part: %q", got)
	}

	if ran := w.build("//parts:four"); len(ran) > 0 {
		t.Errorf("nothing changed: Bazel ran %q", ran)
	}
	w.replace("bazel/example/parts/k3.ptx", "[%p], 3", "[%p], 33")
	ran := w.build("//parts:four")
	again := 0
	for _, action := range ran {
		if strings.HasPrefix(action, "Assembling ") {
			again++
		}
	}
	if again != 1 || len(ran) != 3 {
		t.Errorf("a changed source: Bazel ran %q, want one part, the link and the join", ran)
	}
	same("four", "--partition=4")

	// What has no nvlink or cannot be cut.
	w.write("bazel/example/parts/BUILD.bazel", rules+`
ptx_cubin(
    name = "none",
    srcs = ["k0.ptx"],
    arch = "sm_80",
    partitions = 0,
)
`)
	w.fails("//parts:none", "0 is not a number from 1 to 1024")
	w.toolchain("")
	w.fails("//parts:four", "nvlink joins partitions, but the toolchain has none; set nvlink in ptx_toolchain, or ptxas or nvlink in ptxlink_host_toolchain")
}

// toolchain sets the arguments of the toolchain.

// functions returns the functions in a cubin, sorted.

// fails builds a target that must fail with a message.

// compile builds the .cu of the example with nvcc and with clang, and checks what runs

// again after a change.

func (w workspace) compile(t *testing.T) {
	w.T = t // of this copy
	nvcc, clang, ptxas := oracles.RequireCompiler(t, "nvcc"), oracles.RequireCompiler(t, "clang"), oracles.Require(t, "ptxas")
	const compiling, linking, joining = "Compiling cuda/nearest.cu for sm_75", "Linking cuda/_app/linked.ptx", "Joining cuda/app.cubin"
	const part0, part1 = "Assembling part0.ptx of cuda/app.cubin", "Assembling part1.ptx of cuda/app.cubin"
	for _, compiler := range []struct{ name, args, generator string }{
		{"nvcc", `nvcc = "` + nvcc + `"`, "Generated by NVIDIA NVVM Compiler"},
		{"clang", `clang = "` + clang + `", nvcc = ""`, "Generated by LLVM NVPTX Back-End"},
	} {
		w.toolchain(`ptxas = "` + ptxas + `", ` + compiler.args)
		if compiler.name == "clang" {
			w.replace("bazel/example/cuda/BUILD.bazel", `    arch = "sm_75",
`, `    arch = "sm_75",
    compiler = "clang",
    copts = ["-O2", "-nocudainc", "-nocudalib"],
`)
		}
		ran := w.build("//cuda:app")
		for _, want := range []string{compiling, linking, part0, part1, joining} {
			if !slices.Contains(ran, want) {
				t.Errorf("%s: Bazel ran %q, not %q", compiler.name, ran, want)
			}
		}
		text := w.read("bazel/example/bazel-bin/cuda/_nearest/cuda/nearest.cu.ptx")
		if !strings.Contains(text, compiler.generator) || !strings.Contains(text, ".target sm_75") {
			t.Errorf("%s wrote:\n%s", compiler.name, text)
		}
		names := w.functions(w.path("bazel/example/bazel-bin/cuda/app.cubin"))
		for _, kernel := range []string{"nearest", "distances"} {
			if !slices.Contains(names, kernel) {
				t.Errorf("%s: the functions of the cubin are %q", compiler.name, names)
			}
		}
		if ran := w.build("//cuda:app"); len(ran) > 0 {
			t.Errorf("%s: nothing changed, but Bazel ran %q", compiler.name, ran)
		}
		// A comment in the header compiles the source again and changes nothing else.
		w.write("bazel/example/cuda/point.h", w.read("bazel/example/cuda/point.h")+"// x and y in metres\n")
		if ran := w.build("//cuda:app"); !slices.Equal(ran, []string{compiling}) {
			t.Errorf("%s: after a change of a header Bazel ran %q", compiler.name, ran)
		}
		w.replace("bazel/example/cuda/nearest.cu", "< radius", "<= radius")
		if ran := w.build("//cuda:app"); len(ran) != 4 || !slices.Contains(ran, compiling) {
			t.Errorf("%s: after a change of a kernel Bazel ran %q", compiler.name, ran)
		}
		w.replace("bazel/example/cuda/nearest.cu", "<= radius", "< radius")
		if strings.Contains(text, "\t.loc\t") {
			t.Errorf("%s wrote lines without lineinfo", compiler.name)
		}
		w.replace("bazel/example/cuda/BUILD.bazel", `    arch = "sm_75",
`, `    arch = "sm_75",
    lineinfo = True,
`)
		w.build("//cuda:nearest")
		if text := w.read("bazel/example/bazel-bin/cuda/_nearest/cuda/nearest.cu.ptx"); !strings.Contains(text, "\t.loc\t") {
			t.Errorf("%s wrote no lines with lineinfo:\n%s", compiler.name, text)
		}
		w.replace("bazel/example/cuda/BUILD.bazel", "    lineinfo = True,\n", "")
	}
	w.toolchain(`clang = "/none/clang"`)
	w.fails("//cuda:app", "there is no file /none/clang, which the attribute clang names")
}

// deps builds a library of .cu files that is packed and used from another package: the

// headers of a target reach what depends on it, and so do the deps of a source. A

// script stands in for nvcc; it checks that the headers are there.

func (w workspace) deps(t *testing.T) {
	w.T = t // of this copy
	nvcc := w.path("tools/nvcc")
	w.write("tools/nvcc", `#!/bin/sh
for a; do
	case $a in *.cu) src=$a ;; *.ptx) out=$a ;; esac
done
for header in $(sed -n 's/^#include //p' "$src"); do
	cat "$header" >/dev/null || exit 1
done
sed '/^#include/d' "$src" >"$out"
`)
	if err := os.Chmod(nvcc, 0o755); err != nil {
		t.Fatal(err)
	}
	w.toolchain(`nvcc = "` + nvcc + `"`)
	const header = ".version 7.8\n.target sm_75\n.address_size 64\n"
	w.write("bazel/example/deps/geom/geom.h", "")
	w.write("bazel/example/deps/geom/dot.cu", "#include deps/geom/geom.h\n"+header+".visible .func dot () { bar.sync 1; ret; }\n")
	w.write("bazel/example/deps/geom/length.cu", "#include deps/geom/geom.h\n"+header+".extern .func dot ();\n.visible .func length () { call dot; ret; }\n")
	w.write("bazel/example/deps/geom/BUILD.bazel", `load("@rules_ptx//ptx:defs.bzl", "ptx_archive", "ptx_compile", "ptx_library")

ptx_compile(
    name = "dot",
    srcs = ["dot.cu"],
    hdrs = ["geom.h"],
    arch = "sm_75",
)

ptx_compile(
    name = "length",
    srcs = ["length.cu"],
    arch = "sm_75",
    deps = [":dot"],
)

ptx_archive(
    name = "packed",
    srcs = [":length"],
)

ptx_library(
    name = "geom",
    visibility = ["//visibility:public"],
    deps = [":packed"],
)
`)
	w.write("bazel/example/deps/k.cu", "#include deps/geom/geom.h\n"+header+".extern .func length ();\n.visible .entry k () { call length; ret; }\n")
	w.write("bazel/example/deps/BUILD.bazel", `load("@rules_ptx//ptx:defs.bzl", "ptx_compile", "ptx_link")

ptx_compile(
    name = "k",
    srcs = ["k.cu"],
    arch = "sm_75",
    deps = ["//deps/geom"],
)

ptx_link(
    name = "app",
    srcs = [":k"],
)
`)
	w.build("//deps:app")
	if out := w.read("bazel/example/bazel-bin/deps/app.ptx"); !strings.Contains(out, "bar.sync 1") {
		t.Errorf("output:\n%s", out)
	}
	w.write("bazel/example/deps/geom/geom.h", "// changed\n")
	want := []string{"Compiling deps/geom/dot.cu for sm_75", "Compiling deps/geom/length.cu for sm_75", "Compiling deps/k.cu for sm_75"}
	if ran := w.build("//deps:app"); !slices.Equal(ran, want) {
		t.Errorf("after a change of a header Bazel ran %q, want %q", ran, want)
	}
}

// refused builds targets that must fail, and checks the messages.

func (w workspace) refused(t *testing.T) {
	w.T = t // of this copy
	w.write("bazel/example/refused/BUILD.bazel", `load("@rules_ptx//ptx:defs.bzl", "ptx_archive")

ptx_archive(
    name = "nv",
    srcs = ["k.ptx"],
    compress = True,
    format = "nv",
)
`)
	w.write("bazel/example/refused/k.ptx", "")
	for _, test := range []struct{ ptxlink, target, want string }{
		{w.ptxlink, "//refused:nv", `compress cannot be combined with format = "nv"`},
		{"/none/ptxlink", "//:app", "there is no file /none/ptxlink, which PTXLINK names"},
		{"tools/ptxlink", "//:app", "PTXLINK must be an absolute path, not tools/ptxlink"},
	} {
		cmd := exec.Command(w.bazel, w.buildArgs(test.target)...)
		cmd.Dir = w.path("bazel/example")
		cmd.Env = append(os.Environ(), "PTXLINK="+test.ptxlink)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), test.want) {
			t.Errorf("%s with %s: %v, want %q in:\n%s", test.target, test.ptxlink, err, test.want, out)
		}
	}
}

// pinned builds the rules of README.md with the toolchain that it declares. Its blocks are taken as they are.

func (w workspace) pinned(t *testing.T) {
	w.T = t // of this copy
	page := readFile(t, "bazel/README.md")
	block := func(first string) string {
		_, text, ok := strings.Cut(page, "```python\n"+first)
		text, _, closed := strings.Cut(text, "\n```\n")
		if !ok || !closed {
			t.Fatalf("README.md has no block that starts with %s", first)
		}
		return first + text + "\n"
	}
	const example = "bazel/example/"
	setup := block(`bazel_dep(name = "platforms"`)
	if w.module {
		rules, _, _ := strings.Cut(block(`bazel_dep(name = "rules_ptx"`), "ptxlink = use_extension")
		w.write(example+"MODULE.bazel", `module(name = "pinned")`+"\n"+rules+setup)
	} else {
		rules, _, _ := strings.Cut(block(`local_repository(`), "load(")
		w.write(example+"WORKSPACE", rules+setup[strings.Index(setup, "register_toolchains"):])
	}
	w.write(example+"tools/BUILD.bazel", block(`load("@rules_ptx//ptx:defs.bzl", "ptx_toolchain")`))
	if err := os.CopyFS(w.path(example+"third_party/ptxlink/integrations/bazel"), os.DirFS("bazel")); err != nil {
		t.Fatal(err)
	}
	for to, link := range map[string]string{
		w.ptxlink: "tools/ptxlink", oracles.Require(t, "ptxas"): "tools/ptxas",
		oracles.Require(t, "nvlink"): "tools/nvlink", oracles.RequireCompiler(t, "nvcc"): "tools/nvcc",
	} {
		if err := os.Symlink(to, w.path(example+link)); err != nil {
			t.Fatal(err)
		}
	}
	w.write(example+"page/BUILD.bazel", block(`load("@rules_ptx//ptx:defs.bzl", "ptx_archive"`))
	for _, source := range []string{"kernel.ptx", "math/cbrt.ptx", "math/sqrt.ptx", "vec/vec.ptx"} {
		w.write(example+"page/"+filepath.Base(source), w.read(example+source))
	}
	w.write(example+"page/point.h", "struct Point { float x, y; };\n")
	w.write(example+"page/nearest.cu", `#include "point.h"
extern "C" __global__ void nearest(Point *p) { p->x = p->y; }
`)
	w.ptxlink = "/none/ptxlink" // that of the toolchain runs
	w.build("//page:all", "--action_env=PTXAS=/none/ptxas")
	if names := w.functions(w.path(example + "bazel-bin/page/program.cubin")); !slices.Contains(names, "nearest") {
		t.Errorf("program.cubin has the functions %q", names)
	}
	if text := w.read(example + "bazel-bin/page/app.ptx"); !strings.Contains(text, ".entry lengths") {
		t.Errorf("app.ptx:\n%s", text)
	}
}
