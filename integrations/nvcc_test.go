package integrations_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// sources are a program of two files. The host looks up a static variable by name.
var sources = map[string]string{
	"main.cu": `#include <cuda_runtime.h>
extern __device__ float scale(float);
extern __constant__ float factor;
__device__ int counter;
static __device__ int hidden = 3;
__global__ void run(float *p) { p[threadIdx.x] = scale(p[threadIdx.x]) + hidden; atomicAdd(&counter, 1); }
static __global__ void own(float *p) { *p = scale(2); }
void go(float *p);
int main() {
    float f = 5, *p;
    int v = 7;
    cudaMalloc(&p, 4);
    cudaMemcpyToSymbol(factor, &f, sizeof f);
    cudaMemcpyToSymbol(hidden, &v, sizeof v);
    run<<<1, 32>>>(p);
    own<<<1, 1>>>(p);
    go(p);
}
`,
	"lib.cu": `extern __device__ int counter;
static __device__ int hidden = 4;
__constant__ float factor = 2;
__device__ float scale(float x) { return x * factor + counter + hidden; }
__global__ void other(float *p) { *p = scale(1); }
__global__ void idle(int *p) { *p = 4; } // which no host code launches
namespace { __global__ void own(float *p) { *p = scale(3); } }
void go(float *p) { other<<<1, 1>>>(p); own<<<1, 1>>>(p); }
`,
	// Nothing needs its device code, but the host linker may take it.
	"extra.cu": `__device__ float unneeded(float x) { return x; }
__global__ void third(float *p) { *p = unneeded(2); }
void go3(float *p) { third<<<1, 1>>>(p); }
`,
}

// TestNvcc builds programs with nvcc, in which ptxlink takes the place of nvlink, and
// compares the device code and the register file of each device link with those of
// nvlink.
func TestNvcc(t *testing.T) {
	oracles.Long(t) // compiles many files
	newest := oracles.RequireCompiler(t, "nvcc-new")
	toolkit := toolkitOf(t, newest)
	for _, test := range []struct{ name, nvcc, suffix string }{
		{"12.4", oracles.RequireCompiler(t, "nvcc"), ""},
		{"13.5", newest, "-new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &nvccWorkspace{T: t, nvcc: test.nvcc, cuobjdump: oracles.Require(t, "cuobjdump"+test.suffix), toolkit: toolkit}
			w.prepare(oracles.Require(t, "nvlink"+test.suffix))
			t.Run("program", func(t *testing.T) {
				w := w.in(t)
				const gpus = "-gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90,code=[sm_90,compute_90] "
				w.replay("-rdc=true "+gpus+"main.cu lib.cu -o app", true)
				w.compare("app", 2)
			})
			t.Run("library", func(t *testing.T) {
				w := w.in(t)
				w.run(w.nvcc, strings.Fields("-dc -lineinfo -arch=sm_80 lib.cu extra.cu")...)
				w.run(w.nvcc, strings.Fields("-lib lib.o extra.o -o libx.a")...)
				w.replay("-rdc=true -arch=sm_80 main.cu -L. -lx -lm -o app", true)
				w.compare("app", 1)
				// Of extra.o there is no PTX now, and nvlink links its cubin.
				w.clear()
				w.run(w.nvcc, strings.Fields("-dc -gencode arch=compute_80,code=sm_80 extra.cu")...)
				w.replay("-rdc=true -arch=sm_80 main.cu lib.o extra.o -o mixed", true)
				w.compare("mixed", 1)
			})
			t.Run("cubins", func(t *testing.T) {
				w := w.in(t)
				w.write("many.cu", many())
				for _, test := range []struct {
					options, units string
					links          int
				}{
					{"-gencode arch=compute_80,code=[sm_80,sm_86] -gencode arch=compute_90,code=[sm_90,compute_90] -lineinfo -maxrregcount=64", "many.cu main.cu lib.cu", 3},
					{"-G -arch=sm_80", "main.cu lib.cu", 1},
				} {
					w.clear()
					w.run(w.nvcc, strings.Fields("-dc "+test.options+" "+test.units)...)
					w.replay("-dlink "+test.options+" "+strings.ReplaceAll(test.units, ".cu", ".o")+" -o linked.o", true)
					w.compare("", test.links)
					w.sameCode(test.options)
				}
			})
		})
	}
	t.Run("toolkit", func(t *testing.T) { toolkitOfLinks(t, newest, toolkit) })
}

// toolkitOf returns the directory of CUDA 13.5, which has libcudart_static.a and crt/link.stub.
func toolkitOf(t *testing.T, nvcc string) string {
	t.Helper()
	out, err := exec.Command(nvcc, "--dryrun", "-c", "x.cu").CombinedOutput()
	top := regexp.MustCompile(`(?m)^#\$ TOP=(.*)$`).FindSubmatch(out)
	if top == nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return filepath.Clean(string(top[1]))
}

type nvccWorkspace struct {
	*testing.T
	dir, tools, nvcc, cuobjdump, toolkit string
}

// prepare writes a nvlink that calls the real one, and then ptxlink by the name nvlink,
// and keeps in $RESULTS what each wrote.
func (w *nvccWorkspace) prepare(nvlink string) {
	w.tools = w.TempDir()
	w.run("go", "build", "-o", filepath.Join(w.tools, "ptxlink", "nvlink"), "ptxlink/cmd/ptxlink")
	script := `#!/bin/sh
set -e
# ptxlink asks whether this is nvlink.
[ "$*" != --version ] || exec '` + w.tools + `/ptxlink/nvlink' --version
prev= out= reg=
for arg; do
	case $prev in -o) out=$arg ;; esac
	case $arg in --register-link-binaries=*) reg=${arg#*=} ;; esac
	prev=$arg
done
mkdir "$RESULTS/$$"
'` + nvlink + `' "$@"
cp "$out" "$RESULTS/$$/want.cubin"
cp "$reg" "$RESULTS/$$/want.c"
rm "$out" "$reg"
'` + w.tools + `/ptxlink/nvlink' "$@"
cp "$out" "$RESULTS/$$/got.cubin"
cp "$reg" "$RESULTS/$$/got.c"
`
	if err := os.WriteFile(filepath.Join(w.tools, "nvlink"), []byte(script), 0o777); err != nil {
		w.Fatal(err)
	}
}

// in returns the workspace for a test of its own, in a new directory.
func (w nvccWorkspace) in(t *testing.T) *nvccWorkspace {
	w.T, w.dir = t, t.TempDir()
	if err := os.Mkdir(filepath.Join(w.dir, "results"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range sources {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return &w
}

func (w *nvccWorkspace) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	if cmd.Dir = w.dir; w.dir != "" {
		cmd.Env = append(os.Environ(), "TMPDIR="+w.dir, "RESULTS="+filepath.Join(w.dir, "results"))
	}
	return cmd
}

func (w *nvccWorkspace) run(program string, args ...string) string {
	w.Helper()
	out, err := w.command(program, args...).CombinedOutput()
	if err != nil {
		w.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// replay runs the commands that nvcc --dryrun prints, with w.tools first on PATH. Those
// of 12.4 name files that its packages lack; the ones of 13.5 serve as well.
func (w *nvccWorkspace) replay(args string, ok bool) string {
	w.Helper()
	script := "set -e\n"
	variable := regexp.MustCompile(`^(PATH|CICC_PATH|NVVMIR_LIBRARY_DIR|LD_LIBRARY_PATH)=(.*)$`)
	for line := range strings.Lines(w.run(w.nvcc, append([]string{"--dryrun"}, strings.Fields(args)...)...)) {
		line, printed := strings.CutPrefix(strings.TrimRight(line, "\n"), "#$ ")
		if !printed {
			continue
		}
		if v := variable.FindStringSubmatch(line); v != nil {
			script += "export " + v[1] + "='" + v[2] + "'\n"
			if v[1] == "PATH" {
				script += "PATH='" + w.tools + "':$PATH\n"
			}
		} else if file, ok := strings.CutPrefix(line, "rm "); ok {
			script += "rm -f " + file + "\n"
		} else if !regexp.MustCompile(`^[A-Z_]+=`).MatchString(line) {
			line = regexp.MustCompile(`"[^"]*/crt/link\.stub"`).ReplaceAllString(line, `"`+w.toolkit+`/bin/crt/link.stub"`)
			script += strings.Replace(line, "-Wl,--start-group", "-L"+w.toolkit+"/lib -Wl,--start-group", 1) + "\n"
		}
	}
	out, err := w.command("sh", "-c", script).CombinedOutput()
	if (err == nil) != ok {
		w.Fatalf("%s: %v\n%s\n%s", args, err, out, script)
	}
	return string(out)
}

// compare compares the results of nvlink and ptxlink. The linked program, if any, must hold the
// latter. links is the number of device links.
func (w *nvccWorkspace) compare(program string, links int) {
	w.Helper()
	calls, err := filepath.Glob(filepath.Join(w.dir, "results", "*"))
	if err != nil || len(calls) != links {
		w.Errorf("device links: %q, want %d", calls, links)
	}
	for _, call := range calls {
		if got, want := readFile(w.T, call+"/got.c"), readFile(w.T, call+"/want.c"); got != want {
			w.Errorf("register file:\n%s\nof nvlink:\n%s", got, want)
		}
		got, want := w.symbols(call+"/got.cubin"), w.symbols(call+"/want.cubin")
		if !slices.Equal(got, want) || len(want) < 6 {
			w.Errorf("ptxlink: %q\nnvlink: %q", got, want)
		}
		if program != "" && !strings.Contains(readFile(w.T, filepath.Join(w.dir, program)), readFile(w.T, call+"/got.cubin")) {
			w.Errorf("%s does not hold the cubin of ptxlink", program)
		}
	}
}

// sameCode reports code that differs from nvlink's: that of the cubins in the objects is what
// ptxlink links where it would assemble each function once.
func (w *nvccWorkspace) sameCode(options string) {
	w.Helper()
	calls, _ := filepath.Glob(filepath.Join(w.dir, "results", "*"))
	for _, call := range calls {
		if w.run(w.cuobjdump, "-sass", call+"/got.cubin") != w.run(w.cuobjdump, "-sass", call+"/want.cubin") {
			w.Errorf("%s: the code differs from nvlink's", options)
		}
	}
}

// many returns a unit of kernels that call one function, which ptxas -c assembles once.
func many() string {
	var b strings.Builder
	b.WriteString("__device__ __noinline__ float series(float x, int n) {\n")
	for i := range 60 {
		fmt.Fprintf(&b, "    x = x * %d.5f + sinf(x + n);\n", i)
	}
	b.WriteString("    return x;\n}\n")
	for i := range 8 {
		fmt.Fprintf(&b, "__global__ void k%d(float *p) { *p = series(*p, %d); }\nvoid go%d(float *p) { k%d<<<1, 1>>>(p); }\n", i, i, i, i)
	}
	return b.String()
}

// symbols returns the kernels and variables in a cubin, sorted.
func (w *nvccWorkspace) symbols(cubin string) (list []string) {
	w.Helper()
	for line := range strings.Lines(w.run(w.cuobjdump, "-symbols", cubin)) {
		words := strings.Fields(line)
		switch {
		// ptxas reserves shared memory in each cubin for some GPUs.
		case len(words) < 4 || strings.HasPrefix(words[len(words)-1], ".nv") || strings.HasPrefix(words[len(words)-1], "__nv_reservedSMEM"):
		case slices.Contains(words, "ENTRY") || slices.Contains(words, "STO_ENTRY"):
			list = append(list, "kernel "+words[len(words)-1])
		case strings.HasSuffix(words[0], "OBJECT"):
			list = append(list, "variable "+words[len(words)-1])
		}
	}
	slices.Sort(list)
	return list
}

// toolkitOfLinks builds a program with the nvcc of a directory of links, as docs/nvcc.md
// describes: nvcc itself calls ptxlink.
func toolkitOfLinks(t *testing.T, nvcc, toolkit string) {
	w := &nvccWorkspace{T: t, nvcc: nvcc, cuobjdump: oracles.Require(t, "cuobjdump-new"), toolkit: toolkit}
	w.prepare(oracles.Require(t, "nvlink-new"))
	w = w.in(t)
	w.run("sh", "-c", `mkdir -p cuda/bin
ln -s "$0"/* cuda/ 2>/dev/null; ln -s "$0"/bin/* cuda/bin/
ln -sf "$1" cuda/bin/nvlink`, toolkit, filepath.Join(w.tools, "nvlink"))
	ccbin := regexp.MustCompile(`'-ccbin' '([^']*)'`).FindStringSubmatch(readFile(t, nvcc))
	if ccbin == nil {
		t.Fatalf("no -ccbin in %s", nvcc)
	}
	w.run("cuda/bin/nvcc", "-ccbin", ccbin[1], "-rdc=true", "-arch=sm_80", "main.cu", "lib.cu", "-o", "app")
	w.compare("app", 1)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
