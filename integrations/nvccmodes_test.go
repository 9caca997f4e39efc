package integrations_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ptxlink/internal/oracles"
)

var update = flag.Bool("update", false, "rewrite the tables of the pages")

// mode is a way in which nvcc calls nvlink. Objects are compiled once for all modes with
// the same options: KIND.o stands for them, and for main.o and lib.o of that kind.
type mode struct {
	name string
	args string
	runs bool // the result is a program, which is run
}

// kinds are options that the objects of main.cu and lib.cu are compiled with.
var kinds = map[string]string{
	"default": "",
	"80":      "-gencode arch=compute_80,code=[sm_80,compute_80]",
	"G":       "-G -arch=sm_80",
	"line":    "-lineinfo -maxrregcount=32 -arch=sm_80",
	"ptx":     "-gencode arch=compute_80,code=compute_80",
	"cubin":   "-gencode arch=compute_80,code=sm_80",
	"both":    "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]",
	"90a":     "-gencode arch=compute_90a,code=[sm_90a,compute_90a]",
	"dlto":    "-dlto -arch=sm_80",
	"lto":     "-gencode arch=compute_80,code=lto_80",
	"fPIC":    "-arch=sm_80 -Xcompiler -fPIC",
}

var modes = []mode{
	{"without `-rdc=true`", "whole.o -o app", true},
	{"without it, a shared library", "-shared -Xcompiler -fPIC whole.cu -o app.so", false},
	{"without it, for all GPUs", "-arch=all-major whole.o -o app", true},
	{"without it, with a cubin only", "-gencode arch=compute_80,code=sm_80 whole.o -o app", true},
	{"`-rdc=true`", "-rdc=true default.o -o app", true},
	{"`-arch=sm_80`, a `.cpp` unit", "-rdc=true -arch=sm_80 80.o host.cpp -o app", true},
	{"from sources", "-rdc=true -arch=sm_80 -t 2 -objtemp main.cu lib.cu -o app", true},
	{"`-shared`", "-shared -arch=sm_80 fPIC.o -o app.so", false},
	{"`-dlink`", "-dlink -arch=sm_80 80.o -o linked.o", false},
	{"`-dlink` of a static library", "-dlink -arch=sm_80 main.80.o -L. -l80 -o linked.o", false},
	{"an output of `-dlink` among the objects", "-arch=sm_80 80.o first.o -o app", true},
	{"`-G`", "-rdc=true -G -arch=sm_80 G.o -o app", true},
	{"`-lineinfo -maxrregcount=32`", "-rdc=true -lineinfo -maxrregcount=32 -arch=sm_80 line.o -o app", true},
	{"objects with different options", "-rdc=true -arch=sm_80 main.80.o lib.line.o -o app", true},
	{"several GPUs, one PTX", "-rdc=true -gencode arch=compute_80,code=[sm_80,sm_86,sm_90,compute_80] 80.o -o app", true},
	{"`code=compute_80`", "-rdc=true -gencode arch=compute_80,code=compute_80 ptx.o -o app", true},
	{"a GPU that the objects lack", "-dlink -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 80.o -o linked.o", false},
	{"`sm_90a`", "-rdc=true -gencode arch=compute_90a,code=[sm_90a,compute_90a] 90a.o -o app", true},
	{"`-dlink -cubin`", "-dlink -arch=sm_80 -cubin 80.o -o app.cubin", false},
	{"`-dlink -fatbin`", "-dlink -arch=sm_80 -fatbin 80.o -o app.fatbin", false},
	{"`-r`", "-r -arch=sm_80 80.o -o linked.o", false},
	{"options for nvlink", "-rdc=true -arch=sm_80 -Xnvlink -v,--suppress-stack-size-warning -res-usage -w 80.o -o app", true},
	{"`-time`, `-Werror`, a file of options", "-rdc=true --options-file more.opt -time times.csv -Werror all-warnings 80.o -o app", true},
	{"a kernel that launches a kernel", "-rdc=true -arch=sm_80 launch.cu -o app", true},
	{"`-dlto`", "-dlto -arch=sm_80 dlto.o -o app", true},
	{"LTO-IR in place of PTX", "-dlto -arch=sm_80 lto.o -o app", true},
	{"cubins only", "-rdc=true -gencode arch=compute_80,code=sm_80 cubin.o -o app", true},
	{"cubins and PTX", "-dlink -arch=sm_80 main.cubin.o lib.80.o -o linked.o", false},
	{"PTX and cubins", "-dlink -arch=sm_80 main.80.o lib.cubin.o -o linked.o", false},
	{"PTX of the last GPU only, as with `-arch=all-major`", "-dlink -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 both.o -o linked.o", false},
	{"the call graph", "-dlink -arch=sm_80 -Xnvlink -dump-callgraph 80.o -o linked.o", false},
	{"a linker script for the host", "-rdc=true -arch=sm_80 -hls=use-lcs 80.o -o app", true},
}

// modeSources are added to the sources of TestNvcc.
var modeSources = map[string]string{
	"whole.cu": `#include <cstdio>
__global__ void whole(int *p) { *p = 1; }
int main() {
    int *p = 0;
    printf("%s\n", cudaGetErrorString(cudaMalloc(&p, 4)));
    whole<<<1, 1>>>(p);
}
`,
	"launch.cu": `__global__ void child(int *p) { *p = 2; }
__global__ void parent(int *p) { child<<<1, 1>>>(p); }
int main() { parent<<<1, 1>>>(0); }
`,
	"host.cpp": "int host() { return 1; }\n",
	"more.opt": "-arch=sm_80\n",
}

// TestNvccModes links in each mode with nvcc 12.4 and 13.5, nvlink being ptxlink, and
// compares the verdict, the register file, kernels and variables with those of nvlink. It
// checks the table of docs/nvcc.md; -update writes it.
func TestNvccModes(t *testing.T) {
	oracles.Long(t) // compiles many files
	newest := oracles.RequireCompiler(t, "nvcc-new")
	toolkit := toolkitOf(t, newest)
	program := filepath.Join(t.TempDir(), "nvlink")
	if out, err := exec.Command("go", "build", "-o", program, "ptxlink/cmd/ptxlink").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var mu sync.Mutex
	verdicts := map[string][]string{}
	t.Run("versions", func(t *testing.T) {
		for i, version := range []struct{ nvcc, suffix string }{{oracles.RequireCompiler(t, "nvcc"), ""}, {newest, "-new"}} {
			t.Run([]string{"12.4", "13.5"}[i], func(t *testing.T) {
				t.Parallel()
				w := &nvccWorkspace{T: t, nvcc: version.nvcc, cuobjdump: oracles.Require(t, "cuobjdump"+version.suffix), toolkit: toolkit, tools: program}
				w = w.in(t)
				w.mirror(oracles.Require(t, "nvlink"+version.suffix), program)
				w.compile()
				for _, m := range modes {
					verdict := w.mode(m)
					mu.Lock()
					verdicts[m.name] = append(verdicts[m.name], verdict)
					mu.Unlock()
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	var b strings.Builder
	b.WriteString("| link | nvcc | nvlink | ptxlink |\n|---|---|---|---|\n")
	for _, m := range modes {
		list := verdicts[m.name]
		if len(list) != 2 || len(slices.Compact(slices.Clone(list))) != 1 {
			t.Errorf("%s: %q", m.name, list)
		}
		if len(list) > 0 {
			fmt.Fprintf(&b, "| %s | `%s` | links | %s |\n", m.name, m.args, list[0])
		}
	}
	checkTable(t, "../docs/nvcc.md", "<!-- go test ./integrations -run NvccModes -update writes this table -->\n", "<!-- end of the table -->\n", b.String())
}

// checkTable compares a part of a page, or writes it.
func checkTable(t *testing.T, page, begin, end, want string) {
	t.Helper()
	before, rest, ok := strings.Cut(readFile(t, page), begin)
	have, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s lacks %s or %s", page, begin, end)
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	case have != want:
		t.Errorf("%s says otherwise:\n%s", page, want)
	}
}

// mirror makes a toolkit of links in w.dir, and w.nvcc run the nvcc in it. Its nvlink, in
// the toolkit or first on PATH as docs/nvcc.md describes, is a script: it calls the real
// nvlink and then ptxlink, keeps in results what each made and said, and is what ptxlink
// is for nvcc.
func (w *nvccWorkspace) mirror(nvlink, ptxlink string) {
	w.Helper()
	script := `#!/bin/sh
prev= out= reg=
for arg; do
	case $prev in -o) out=$arg ;; esac
	case $arg in --register-link-binaries=*) reg=${arg#*=} ;; esac
	prev=$arg
done
# ptxlink asks whether this is nvlink.
[ "$*" != --version ] || exec '` + ptxlink + `' --version
mkdir "$RESULTS/$$"
try() {
	name=$1; shift
	"$@" >"$RESULTS/$$/$name.out" 2>&1
	code=$?
	echo $code >"$RESULTS/$$/$name.code"
	[ ! -f "$out" ] || cp "$out" "$RESULTS/$$/$name.cubin"
	[ ! -f "$reg" ] || cp "$reg" "$RESULTS/$$/$name.c"
}
try want '` + nvlink + `' "$@"
[ -z "$out$reg" ] || rm -f "$out" "$reg"
try got '` + ptxlink + `' "$@"
cat "$RESULTS/$$/got.out"
exit $code
`
	w.write("nvlink.sh", script)
	w.run("sh", "-c", `set -e
chmod 755 nvlink.sh
mkdir -p cuda/bin cuda/lib
bin=$(dirname "$(sed -n "s/^exec '\([^']*\)'.*/\1/p" "$0")")
for f in "$bin"/*; do ln -s "$f" cuda/bin/; done
rm -f cuda/bin/nvlink
[ -e cuda/bin/crt ] || ln -s "$1/bin/crt" cuda/bin/crt
if [ -x "$bin/../nvvm/bin/cicc" ]; then
	for f in "$bin"/../*; do [ -e "cuda/${f##*/}" ] || ln -s "$(realpath "$f")" cuda/; done
	rmdir cuda/lib && ln -s "$1/lib" cuda/lib
	ln -s "$PWD/nvlink.sh" cuda/bin/nvlink
else
	# nvcc finds nvlink on PATH, as on Debian.
	mkdir shim
	ln -s "$PWD/nvlink.sh" shim/nvlink
	# The packages of 12.4 lack what a program is linked with; that of 13.5 serves as well.
	ln -s "$bin/../include" cuda/include
	ln -s "$1/lib/libcudart_static.a" cuda/lib/
	ln -s "$2/libcudadevrt.a" cuda/lib/
	rm cuda/bin/nvcc.profile
	{
		grep NVVMIR "$bin/nvcc.profile"
		echo 'PATH += $(_HERE_):'
		echo 'INCLUDES =+ "-I$(_HERE_)/../include" $(_SPACE_)'
		echo 'LIBRARIES =+ $(_SPACE_) "-L$(_HERE_)/../lib"'
	} >cuda/bin/nvcc.profile
fi`, w.nvcc, w.toolkit, filepath.Dir(oracles.RequireFile(w.T, "device-libraries/libcudadevrt.a")))
	// The script that stands for nvcc has the host compiler.
	options := regexp.MustCompile(`'-ccbin' '[^']*'(?: '-allow-unsupported-compiler')?`).FindString(readFile(w.T, w.nvcc))
	w.write("nvcc", "#!/bin/sh\nPATH='"+w.dir+"/shim':$PATH exec '"+filepath.Join(w.dir, "cuda/bin/nvcc")+"' "+options+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(w.dir, "nvcc"), 0o777); err != nil {
		w.Fatal(err)
	}
	w.nvcc = "./nvcc"

	for name, text := range modeSources {
		w.write(name, text)
	}
}

// compile makes the objects of all modes.
func (w *nvccWorkspace) compile() {
	w.Helper()
	jobs := []string{"-c whole.cu -o whole.o"}
	for kind, options := range kinds {
		for _, unit := range []string{"main", "lib"} {
			jobs = append(jobs, "-dc "+options+" "+unit+".cu -o "+unit+"."+kind+".o")
		}
	}
	for _, job := range jobs {
		w.run(w.nvcc, strings.Fields(job)...)
	}
	w.run(w.nvcc, strings.Fields("-lib lib.80.o -o lib80.a")...)
	w.run(w.nvcc, strings.Fields("-dlink -arch=sm_80 main.80.o lib.80.o -o first.o")...)
}

func (w *nvccWorkspace) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o666); err != nil {
		w.Fatal(err)
	}
}

// mode links in one mode, and returns what the table says of it.
func (w *nvccWorkspace) mode(m mode) (verdict string) {
	w.Helper()
	w.clear()
	var args []string
	for _, arg := range strings.Fields(m.args) {
		kind, isObject := strings.CutSuffix(arg, ".o")
		if _, ok := kinds[kind]; ok && isObject {
			args = append(args, "main."+arg, "lib."+arg)
		} else {
			args = append(args, arg)
		}
	}
	out, err := w.command(w.nvcc, args...).CombinedOutput()
	calls, _ := filepath.Glob(filepath.Join(w.dir, "results", "*"))
	if len(calls) == 0 {
		w.Errorf("%s: nvcc did not call nvlink: %v\n%s", m.name, err, out)
		return ""
	}
	if err != nil {
		w.Errorf("%s: %v\n%s", m.name, err, out)
		return ""
	}
	w.sameResults(m.name, calls)
	if m.runs {
		// Without a GPU each call of the runtime fails, and the program ends.
		if said, err := exec.Command(filepath.Join(w.dir, "app")).CombinedOutput(); err != nil {
			w.Errorf("%s: the program: %v\n%s", m.name, err, said)
		}
	}
	if warning := regexp.MustCompile(`warning: (.*?) \[`).FindSubmatch(out); warning != nil {
		return "links, with the warning `" + string(warning[1]) + "`"
	}
	return "links"
}

// sameResults compares what ptxlink and nvlink wrote in calls of the script of mirror.
func (w *nvccWorkspace) sameResults(name string, calls []string) {
	w.Helper()
	for _, call := range calls {
		if !w.linksWithNvlink(name, call) {
			continue
		}
		for _, file := range []string{"c", "cubin"} {
			want, err1 := os.ReadFile(call + "/want." + file)
			got, err2 := os.ReadFile(call + "/got." + file)
			switch {
			case (err1 == nil) != (err2 == nil):
				w.Errorf("%s: nvlink writes a .%s: %v, ptxlink: %v", name, file, err1, err2)
			case err1 != nil || string(got) == string(want):
			case file == "c":
				w.Errorf("%s: register file:\n%s\nof nvlink:\n%s", name, got, want)
			default:
				if got, want := w.symbols(call+"/got.cubin"), w.symbols(call+"/want.cubin"); !slices.Equal(got, want) {
					w.Errorf("%s: ptxlink: %q\nnvlink: %q", name, got, want)
				}
			}
		}
	}
}

// linksWithNvlink reports whether nvlink succeeds.
func (w *nvccWorkspace) linksWithNvlink(name, call string) bool {
	w.Helper()
	code := strings.TrimSpace(readFile(w.T, call+"/want.code"))
	if code != "0" {
		w.Errorf("%s: nvlink exits %s\n%s", name, code, readFile(w.T, call+"/want.out"))
	}
	return code == "0"
}
