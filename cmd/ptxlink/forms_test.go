package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/ptxas"
	"ptxlink/object/container"
)

// Two units that call each other and share data, also data that both define.
const (
	formsA = `struct P { int a; double b; };
__device__ int twice(int);
__device__ double weigh(P p);
extern __device__ int counter;
__device__ int table[4] = {1, 2, 3, 4};
__device__ __noinline__ int pick(int n) { return table[n & 3]; }
template <class T> __device__ __noinline__ int &shared(T) { static __device__ int n = 5; return n; }
extern "C" __global__ void ka(int *out, int n) {
	P p = {n, 2.5};
	out[0] = twice(n) + counter + shared(0);
	out[1] = (int)weigh(p);
}
`
	formsB = `struct P { int a; double b; };
__device__ int pick(int);
extern __device__ int table[4];
__device__ int counter = 7;
__device__ __noinline__ int twice(int x) { return 2 * x + pick(x); }
__device__ __noinline__ double weigh(P p) { return p.a * p.b + table[0]; }
template <class T> __device__ __noinline__ int &shared(T) { static __device__ int n = 5; return n; }
extern "C" __global__ void kb(int *out) { *out = counter + shared(0); }
`
	// formsBad differs from formsB in what pairs disagree on.
	formsBad = `__device__ long long counter = 7;
__device__ int twice(int x) { return x; }
__device__ double weigh(double p) { return p; }
`
)

// TestForms links two units as PTX, machine code and LTO-IR in all pairs, also with the
// second in a library, and compares the kernels and the data with those of NVIDIA's nvlink.
func TestForms(t *testing.T) {
	nvcc := oracles.RequireCompiler(t, "nvcc-new")
	toolkit := filepath.Dir(oracles.RequireFile(t, "nvcc-13.5/root/nvidia/cu13/bin/nvlink"))
	t.Setenv("PTXAS", filepath.Join(toolkit, "ptxas"))
	t.Setenv("NVLINK", filepath.Join(toolkit, "nvlink"))
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	tool := func(name string, args ...string) {
		t.Helper()
		if said, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, said)
		}
	}
	forms := []string{"compute_80", "sm_80", "lto_80"}
	for name, text := range map[string]string{"a": formsA, "b": formsB, "bad": formsBad} {
		if err := os.WriteFile(file(name+".cu"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			object := file(name + "." + form + ".o")
			tool(nvcc, "-dc", "-std=c++17", "-gencode", "arch=compute_80,code="+form, file(name+".cu"), "-o", object)
			tool("ar", "rc", file("lib"+name+"."+form+".a"), object)
		}
	}
	ptxlink := func(args ...string) (code int, said string) {
		var stdout, stderr bytes.Buffer
		code = run(t.Context(), args, nil, &stdout, &stderr)
		return code, stdout.String() + stderr.String()
	}
	nvvm := file("nvvm")
	if err := os.MkdirAll(filepath.Join(nvvm, "lib64"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(oracles.RequireFile(t, "nvcc-13.5/root/nvidia/cu13/lib/libnvvm.so.4"), filepath.Join(nvvm, "lib64", "libnvvm.so")); err != nil {
		t.Fatal(err)
	}
	devrt := "-L" + filepath.Dir(oracles.RequireFile(t, "cudadevrt/libcudadevrt.a"))

	for _, a := range forms {
		for _, b := range forms {
			objects := []string{file("a." + a + ".o"), file("b." + b + ".o")}
			theirs := []string{"-arch=sm_80", objects[0], objects[1], "-o", file("theirs.cubin")}
			if a == "lto_80" || b == "lto_80" {
				theirs = append(theirs, "-lto", "-nvvmpath="+nvvm, devrt, "-lcudadevrt")
			}
			tool(filepath.Join(toolkit, "nvlink"), theirs...)
			want := kernelsAndData(t, file("theirs.cubin"))
			ways := map[string][]string{"objects": objects, "reversed": {objects[1], objects[0]}, "library": {objects[0], "-L" + dir, "-lb." + b}, "optimized": append(objects, "-O2")}
			for way, args := range ways {
				name := fmt.Sprintf("%s and %s, %s", a, b, way)
				if code, said := ptxlink(append(args, "--arch=sm_80", "-o", file("ours.cubin"))...); code != exitOK || (said != "") != (way == "optimized" && (a == "sm_80" || b == "sm_80")) { // which -O does not change
					t.Errorf("%s: exit code %d\n%s", name, code, said)
					continue
				}
				if got := kernelsAndData(t, file("ours.cubin")); !maps.Equal(got, want) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			// So does the Go API.
			cubin, r, err := ptxas.Cubin(t.Context(), link.Options{Arch: "sm_80", Inputs: []link.Input{{Path: objects[0]}, {Path: objects[1]}}})
			if err != nil || len(r.Messages) > 0 {
				t.Errorf("%s and %s, Cubin: %v %v", a, b, err, r)
			} else if err := os.WriteFile(file("api.cubin"), cubin, 0o666); err != nil {
				t.Fatal(err)
			} else if got := kernelsAndData(t, file("api.cubin")); !maps.Equal(got, want) {
				t.Errorf("%s and %s, Cubin: %v, want %v", a, b, got, want)
			}
		}
	}

	// PTX needs no cubin, and has the calls inlined that nvcc -dlto inlines.
	if code, said := ptxlink(file("a.lto_80.o"), file("b.lto_80.o"), "-o", file("out.ptx")); code != exitOK || said != "" {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	// A unit of a library that nothing needs is left out.
	if code, said := ptxlink(file("b.lto_80.o"), file("a.lto_80.o"), "-L"+dir, "-lbad.lto_80", "-o", file("out.ptx"), "--Map=-"); code != exitOK || strings.Contains(said, "bad") {
		t.Fatalf("exit code %d\n%s", code, said)
	}

	// A fatbin has the best form for each GPU, and PTX only if that is the whole program.
	for _, b := range []string{"lto_80", "sm_80"} {
		if code, said := ptxlink(file("a.compute_80.o"), file("b."+b+".o"), "--arch=sm_80", "--arch=sm_86", "-o", file("out.fatbin")); code != exitOK || said != "" {
			t.Errorf("%s: exit code %d\n%s", b, code, said)
		}
		data, err := os.ReadFile(file("out.fatbin"))
		if err != nil {
			t.Fatal(err)
		}
		objects, err := container.Objects("out.fatbin", data, container.Options{})
		if err != nil || len(objects) != 1 {
			t.Fatalf("%s: %+v, %v", b, objects, err)
		}
		cubins, texts := objects[0].Targets(container.MachineCode), objects[0].Targets(container.PTX)
		if want := map[bool]int{true: 1, false: 0}[b == "lto_80"]; len(cubins) != 2 || len(texts) != want {
			t.Errorf("%s: %d cubins, %d texts, want 2 and %d", b, len(cubins), len(texts), want)
		}
	}

	// What the forms say of each other is compared, with the names of files.
	for _, a := range forms {
		for _, b := range forms {
			code, said := ptxlink(file("a."+a+".o"), file("bad."+b+".o"), "--arch=sm_80", "-o", file("no.cubin"))
			_, _, err := ptxas.Cubin(t.Context(), link.Options{Arch: "sm_80", Inputs: []link.Input{{Path: file("a." + a + ".o")}, {Path: file("bad." + b + ".o")}}})
			wanted := []string{"undefined symbol: weigh(P)", "a." + a + ".o"}
			if a != "sm_80" { // of what it needs, machine code says only the name
				wanted = append(wanted, "counter has", "bad."+b+".o")
			}
			if a != "sm_80" && b == "sm_80" { // the size of data is compared before
				wanted = wanted[1:]
			}
			for _, want := range wanted {
				if code != exitLink || !strings.Contains(said, want) {
					t.Errorf("%s and bad %s: exit code %d, want %q in\n%s", a, b, code, want, said)
				}
				if refused := (*link.Errors)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s and bad %s, Cubin: want %q in\n%v", a, b, want, err)
				}
			}
		}
	}
}

// kernelsAndData returns the kernels of a cubin, and its variables with their contents. What
// becomes of functions depends on what is inlined.
func kernelsAndData(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := oracles.OpenCubin(t, data)
	found := map[string]string{}
	for _, s := range oracles.Symbols(t, data) {
		switch kind := elf.ST_TYPE(s.Info); {
		case s.Name == "" || int(s.Section) >= len(f.Sections) || s.Section == elf.SHN_UNDEF || strings.HasPrefix(s.Name, "$") || strings.HasPrefix(s.Name, "."):
		case kind == elf.STT_FUNC && s.Other&0x10 != 0:
			found[s.Name] = "kernel"
		case kind == elf.STT_OBJECT:
			text := fmt.Sprintf("%d bytes", s.Size)
			if section := f.Sections[s.Section]; section.Type == elf.SHT_PROGBITS || section.Type == elf.SHT_LOPROC+8 {
				if body, err := section.Data(); err == nil && s.Value+s.Size <= uint64(len(body)) {
					text = fmt.Sprintf("% x", body[s.Value:s.Value+s.Size])
				}
			}
			found[s.Name] = text
		}
	}
	if len(found) == 0 {
		t.Errorf("%s: no kernels and no data; symbols %v", path, slices.Collect(maps.Keys(found)))
	}
	return found
}
