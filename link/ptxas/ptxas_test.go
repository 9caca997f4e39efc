package ptxas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"ptxlink/internal/oracles"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// fake writes a shell script that stands in for ptxas.
func fake(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands in for ptxas")
	}
	path := filepath.Join(t.TempDir(), "ptxas")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// inA returns a linked module whose lines 2, 4, ... come from the lines of a.ptx.
func inA(text string) *link.Result {
	a := &diag.Source{Name: "a.ptx", Text: []byte("\tadd.u32 %add, x, y;\nret;\n")}
	var pieces ptx.Pieces
	for i, line := range strings.SplitAfter(text, "\n") {
		piece := ptx.Piece{Text: line}
		if i%2 == 1 {
			piece.Src, piece.Span.Off = a, a.LineSpan((i+1)/2).Off
		}
		pieces = append(pieces, piece)
	}
	return &link.Result{PTX: []byte(text), Lines: pieces.Map([]byte(text), nil)}
}

const merged = "// ptxlink\n\tadd.u32 %add, x__1, y;\n.version 9.0\nret;\n"

// assemble assembles a module in one run.
func assemble(ctx context.Context, o Options, r *link.Result, log *diag.Log) ([]byte, error) {
	b := Build{Options: o, Mode: Whole, progress: &progress{}}
	output, err := b.assemble(ctx, r, log)
	return output.Cubin, err
}

// assembleFake runs a script as ptxas and returns the messages as text, with the
// path of the script written as PTXAS.
func assembleFake(t *testing.T, script string, o Options) ([]byte, string, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	o.Path = fake(t, script)
	if o.Arch == "" {
		o.Arch = "sm_80"
	}
	var log diag.Log
	cubin, err := assemble(t.Context(), o, inA(merged), &log)
	if failed, ok := errors.AsType[*diag.Message](err); ok {
		log.Messages = append(log.Messages, failed)
	}
	var b strings.Builder
	diag.Write(&b, log.Messages, diag.Style{})
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind in the directory for temporary files: %v", left)
	}
	return cubin, strings.ReplaceAll(b.String(), o.Path, "PTXAS"), err
}

var succeed = `for last; do :; done; printf '` + octal(oracles.LeastCubin) + `' > "$last"` + "\n"

func TestAssemble(t *testing.T) {
	cubin, messages, err := assembleFake(t, succeed+`cmp -s linked.ptx - <<'END' || exit 9
`+merged+`END
`, Options{})
	if err != nil || string(cubin) != string(oracles.LeastCubin) || messages != "" {
		t.Errorf("%q, %q, %v", cubin, messages, err)
	}
}

func TestMessages(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"mapped line whose names changed", `
echo "ptxas linked.ptx, line 2; error   : Arguments mismatch for instruction 'add'" >&2
echo "ptxas linked.ptx, line 2; error   : Unknown symbol 'x__1'" >&2
echo "ptxas fatal   : Ptx assembly aborted due to errors" >&2
exit 255`, `a.ptx:1:2: error: ptxas: Arguments mismatch for instruction 'add' [ptxas-error]
    1 | 	add.u32 %add, x, y;
      | 	^^^
<linked module>:2:2: note: ptxas read this line
    2 | 	add.u32 %add, x__1, y;
      | 	^^^
a.ptx:1:2: error: ptxas: Unknown symbol 'x__1' [ptxas-error]
    1 | 	add.u32 %add, x, y;
      | 	^^^^^^^^^^^^^^^^^^^
<linked module>:2:16: note: ptxas read this line
    2 | 	add.u32 %add, x__1, y;
      | 	              ^^^^
`},
		{"mapped line as it was, on stdout", `
echo "ptxas linked.ptx, line 4; fatal   : Parsing error near 'ret': syntax error"
exit 255`, `a.ptx:2:1: error: ptxas: Parsing error near 'ret': syntax error [ptxas-error]
    2 | ret;
      | ^^^
`},
		{"the linker's own line", `
echo "ptxas linked.ptx, line 3; fatal   : Unsupported .version 9.0; current version is '8.4'"
echo "ptxas fatal   : Ptx assembly aborted due to errors"
exit 255`, `ptxlink: error: ptxas: Unsupported .version 9.0; current version is '8.4' [ptxas-error]
<linked module>:3:1: note: ptxas read this line
    3 | .version 9.0
      | ^^^^^^^^^^^^
help: PTXAS is older than the PTX; name a newer ptxas with Options.Path or $PTXAS, or lower the version of the output with Options.Version
`},
		{"no line", `
echo "ptxas fatal   : Unresolved extern function 'foo'"
exit 255`, `ptxlink: error: ptxas: Unresolved extern function 'foo' [ptxas-error]
help: a finished cubin has no undefined symbols; Options.Compile makes one that can be linked further, and the ptxas of a later CUDA may know the function
`},
		{"aborted, and nothing before it", `
echo "ptxas fatal   : Ptx assembly aborted due to errors"
exit 255`, "ptxlink: error: ptxas: Ptx assembly aborted due to errors [ptxas-error]\n"},
		{"line that does not exist", `
echo "ptxas linked.ptx, line 99; error   : odd"
exit 255`, `ptxlink: error: ptxas: odd [ptxas-error]
ptxlink: note: ptxas names line 99, and the linked module has fewer
`},
		{"exit code 0 with an error", succeed + `
echo "ptxas error   : Entry function 'k' uses too much shared data (0xf4240 bytes, 0x29000 max)"`,
			"ptxlink: error: ptxas: Entry function 'k' uses too much shared data (0xf4240 bytes, 0x29000 max) [ptxas-error]\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cubin, messages, err := assembleFake(t, test.script, Options{})
			if cubin != nil || !errors.Is(err, ErrRejected) {
				t.Errorf("%q, %v", cubin, err)
			}
			if d := cmp.Diff(test.want, messages); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFailures checks errors that are not about the module.
func TestFailures(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"nothing said", "exit 3", `ptxlink: error: ptxas failed without a message (exit code 3) [ptxas-failed]
help: the program is PTXAS
`},
		{"exit code 0 and no cubin", "exit 0", "ptxlink: error: ptxas reported success and wrote no cubin [ptxas-failed]\nhelp: the program is PTXAS\n"},
		{"exit code 0 and an empty cubin", ": > linked.cubin", "ptxlink: error: ptxas reported success and wrote no cubin [ptxas-failed]\nhelp: the program is PTXAS\n"},
		{"exit code 0 and no ELF", "echo text > linked.cubin", `ptxlink: error: ptxas reported success, but its cubin cannot be used: it is not an ELF file [ptxas-failed]
help: the program is PTXAS
`},
		{"no input", "echo \"ptxas fatal   : Input file 'linked.ptx' could not be opened\"; echo 'ptxas fatal   : Ptx assembly aborted due to errors'; exit 255", `ptxlink: error: ptxas: Input file 'linked.ptx' could not be opened [ptxas-failed]
help: the program is PTXAS
`},
		{"no memory", "echo 'ptxas fatal   : Memory allocation failure'; exit 255", `ptxlink: error: ptxas: Memory allocation failure [ptxas-failed]
help: the program is PTXAS
`},
		{"no library", "echo 'ptxas: error while loading shared libraries: libm.so.6: failed to map segment from shared object'; exit 127", `ptxlink: note: ptxas: ptxas: error while loading shared libraries: libm.so.6: failed to map segment from shared object
ptxlink: error: ptxas: libm.so.6: failed to map segment from shared object [ptxas-failed]
help: the program is PTXAS
`},
		{"no memory for C++", "echo \"  what():  std::bad_alloc\"; exit 1", `ptxlink: note: ptxas:   what():  std::bad_alloc
ptxlink: error: ptxas: std::bad_alloc [ptxas-failed]
help: the program is PTXAS
`},
		{"a crash after an error", "echo \"ptxas error   : odd\"; kill -SEGV $$", `ptxlink: error: ptxas: odd [ptxas-error]
ptxlink: error: ptxas was killed by SIGSEGV (segmentation fault) [ptxas-failed]
help: the program is PTXAS; try another version with Options.Path, and write the PTX instead of a cubin to see what it crashed on
`},
		{"crash", "kill -SEGV $$", `ptxlink: error: ptxas was killed by SIGSEGV (segmentation fault) [ptxas-failed]
help: the program is PTXAS; try another version with Options.Path, and write the PTX instead of a cubin to see what it crashed on
`},
		{"crash below a shell", "exit 137", `ptxlink: error: ptxas was killed by SIGKILL, perhaps out of memory [ptxas-failed]
help: the program is PTXAS; try another version with Options.Path, and write the PTX instead of a cubin to see what it crashed on
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cubin, messages, err := assembleFake(t, test.script, Options{})
			if cubin != nil || err == nil || errors.Is(err, ErrRejected) {
				t.Errorf("%q, %v", cubin, err)
			}
			if d := cmp.Diff(test.want, messages); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWarningsAndNotes(t *testing.T) {
	cubin, messages, err := assembleFake(t, succeed+`
cat >&2 <<'END'
ptxas warning : Stack size for entry function 'k' cannot be statically determined
ptxas linked.ptx, line 4; warning : odd
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers

wrapper: hello
END`, Options{Args: []string{"-v"}})
	want := `ptxlink: warning: ptxas: Stack size for entry function 'k' cannot be statically determined [-Wptxas]
help: the kernel recurses or calls through pointers: avoid that, or set the bytes of stack per thread with cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch
a.ptx:2:1: warning: ptxas: odd [-Wptxas]
    2 | ret;
      | ^^^^
ptxlink: note: ptxas: Function properties for k: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxlink: note: ptxas: Used 4 registers
ptxlink: note: ptxas: wrapper: hello
`
	if err != nil || cubin == nil {
		t.Error(err)
	}
	if d := cmp.Diff(want, messages); d != "" {
		t.Error(d)
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "-arch=sm_80 -v"},
		{Options{Usage: true}, "-arch=sm_80 -v"}, // the same, since ptxas 13.5 writes it into the cubin
		{Options{Debug: true, LineInfo: true}, "-arch=sm_80 -v -g"},
		{Options{LineInfo: true, Compile: true}, "-arch=sm_80 -c -v -lineinfo"},
		{Options{Debug: true, Args: []string{"-lineinfo", "-O1"}}, "-arch=sm_80 -v -lineinfo -O1"},
		{Options{Debug: true, Args: []string{"--device-debug"}}, "-arch=sm_80 -v --device-debug"},
		{Options{Args: []string{"--verbose"}}, "-arch=sm_80 --verbose"},
		{Options{Args: []string{"-g"}}, "-arch=sm_80 -v -g"},
	} {
		_, messages, _ := assembleFake(t, `echo "$@"; exit 1`, test.o)
		want := "ptxlink: note: ptxas: " + test.want + " linked.ptx -o linked.cubin\n"
		if !strings.HasPrefix(messages, want) {
			t.Errorf("got  %swant %s", messages, want)
		}
	}
}

func TestRefusesBeforeRunning(t *testing.T) {
	var log diag.Log
	if _, err := assemble(t.Context(), Options{Path: "/bin/true"}, inA(merged), &log); err == nil {
		t.Error("no GPU was named, and no error")
	}
	for _, args := range [][]string{{"--gpu-name=sm_90"}, {"-arch", "sm_90"}} {
		if _, err := assemble(t.Context(), Options{Path: "/bin/true", Arch: "sm_80", Args: args}, inA(merged), &log); err == nil || !strings.Contains(err.Error(), "Options.Arch") {
			t.Errorf("a GPU in %q: %v", args, err)
		}
	}
	if _, err := assemble(t.Context(), Options{Path: "/none/ptxas", Arch: "sm_80"}, inA(merged), &log); err == nil || errors.Is(err, ErrRejected) {
		t.Errorf("a ptxas that is not there: %v", err)
	}
	_, err := assemble(t.Context(), Options{Path: "/none/ptxas", Arch: "sm_80"}, inA("a\x00b"), &log)
	if !errors.Is(err, ErrRejected) || log.Errors() != 1 {
		t.Errorf("a NUL: %v", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var log diag.Log
	_, err := assemble(ctx, Options{Path: fake(t, "exec tail -f /dev/null"), Arch: "sm_80"}, inA(merged), &log)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestSitePackages checks the directories of wheels and their order.
func TestSitePackages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has the directories of Unix")
	}
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE", "HOME"} {
		t.Setenv(v, "")
	}
	system := len(SitePackages())
	t.Setenv("HOME", "/h")
	t.Setenv("CONDA_PREFIX", "/c")
	t.Setenv("VIRTUAL_ENV", "/v")
	const below = "/lib/python3*/site-packages"
	list := SitePackages()
	if got, want := strings.Join(list[:len(list)-system], " "), "/v"+below+" /c"+below+" /h/.local"+below; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	t.Setenv("PYTHONUSERBASE", "/u")
	if got := SitePackages()[2]; got != "/u"+below {
		t.Error(got)
	}
	for _, v := range []string{"CONDA_PREFIX", "VIRTUAL_ENV", "APPDATA"} {
		t.Setenv(v, "")
	}
	t.Setenv("LOCALAPPDATA", "/local")
	t.Setenv("ProgramFiles", "/programs")
	got := strings.Join(sitePackagesOf("windows"), " ")
	if want := "/local/Python/pythoncore-3*/Lib/site-packages /local/Programs/Python/Python3*/Lib/site-packages /programs/Python3*/Lib/site-packages"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes programs with mode bits")
	}
	root := t.TempDir()
	put := func(dir string) string {
		path := filepath.Join(root, dir, "ptxas")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, v := range []string{"PTXAS", "CUDA_HOME", "CUDA_PATH", "PATH"} {
		t.Setenv(v, "")
	}
	old := toolkits
	toolkits = func() []string { return []string{filepath.Join(root, "cuda-*")} }
	defer func() { toolkits = old }()
	for _, v := range []string{"CONDA_PREFIX", "PYTHONUSERBASE", "HOME"} {
		t.Setenv(v, "")
	}
	t.Setenv("VIRTUAL_ENV", "")
	// The machine may have wheels of its own.
	sitePackages = func() []string {
		return SitePackages()[:strings.Count(os.Getenv("HOME")+os.Getenv("VIRTUAL_ENV"), root)]
	}
	defer func() { sitePackages = SitePackages }()

	const want = "ptxlink: error: cannot find ptxas in $PATH, the usual directories or pip's wheels (not set: $CUDA_HOME, $CUDA_PATH"
	if _, err := Find(""); err == nil || err.Error() != want+", $VIRTUAL_ENV) [tool]" {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	t.Setenv("VIRTUAL_ENV", filepath.Join(root, "venv"))
	if _, err := Find(""); err == nil || err.Error() != want+") [tool]" {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	o := Options{First: []Directory{{filepath.Join(root, "first"), "--cuda-path"}}}
	var m *diag.Message
	if _, err := o.Find(""); !errors.As(err, &m) || !strings.HasPrefix(m.Text, "cannot find ptxas in "+o.First[0].Path+" (--cuda-path), $PATH") || !strings.Contains(m.Help, " name the program with $PTXAS;") {
		t.Errorf("%v; %q", err, m.Help)
	}
	// Each of these takes precedence over those before it.
	steps := []struct {
		path     string
		set      func(path string)
		explicit string
	}{
		{path: put("home/.local/lib/python3.9/site-packages/nvidia/cu13/bin"), set: func(string) { t.Setenv("HOME", filepath.Join(root, "home")) }},
		{path: put("venv/lib/python3.13/site-packages/triton/backends/nvidia/bin")},
		{path: put("venv/lib/python3.13/site-packages/nvidia/cuda_nvcc/bin")},
		{path: put("venv/lib/python3.13/site-packages/nvidia/cu13/bin")},
		{path: put("venv/lib/python3.13/site-packages/nvidia/cu14/bin")},
		{path: put("cuda-9.2/bin")},
		{path: put("cuda-12.4/bin")},
		{path: put("cuda-12.10/bin")},
		{path: put("path"), set: func(p string) { t.Setenv("PATH", filepath.Dir(p)) }},
		{path: put("p/bin"), set: func(string) { t.Setenv("CUDA_PATH", filepath.Join(root, "p")) }},
		{path: put("h/bin"), set: func(string) { t.Setenv("CUDA_HOME", filepath.Join(root, "h")) }},
		{path: put("env"), set: func(p string) { t.Setenv("PTXAS", p) }},
		{path: put("first")},
		{path: put("flag"), explicit: filepath.Join(root, "flag", "ptxas")},
	}
	for i, s := range steps {
		for _, later := range steps[i+1:] {
			os.Chmod(later.path, 0)
		}
		os.Chmod(s.path, 0o777)
		if s.set != nil {
			s.set(s.path)
		}
		if got, err := o.Find(s.explicit); err != nil || got != s.path {
			t.Errorf("got %q, %v; want %q", got, err, s.path)
		}
	}
	os.Remove(filepath.Join(root, "first", "ptxas"))
	if got, err := o.Find("none"); err == nil || !strings.Contains(err.Error(), "cannot run none, which Options.Path names") {
		t.Errorf("%q, %v", got, err)
	}
	os.Remove(filepath.Join(root, "env", "ptxas"))
	if got, err := o.Find(""); err == nil || !strings.Contains(err.Error(), "which $PTXAS names") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestHangs names a program that does not print its version, in the place of nvlink and of ptxas.
func TestHangs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for programs")
	}
	ctx := tool.WithPatience(t.Context(), 200*time.Millisecond)
	dir := t.TempDir()
	for _, name := range []string{"ptxas", "nvlink"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nkill -STOP $$\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("NVLINK", "")
	o := Options{Path: filepath.Join(dir, "ptxas")}
	for _, explicit := range []string{"", filepath.Join(dir, "nvlink")} {
		if path, err := o.FindNvlink(ctx, explicit); !errors.Is(err, tool.ErrHangs) {
			t.Errorf("%q, %v", path, err)
		}
	}
	c := &Cache{Dir: filepath.Join(dir, "cache")}
	key := c.Key(ctx, o.Path, nil, nil)
	var log diag.Log
	c.Finish(&log)
	if key != "" || len(log.Messages) != 1 || log.Messages[0].Text != "the cache is not used: "+o.Path+" --version has not ended after 200ms" {
		t.Errorf("%q, %v", key, log.Messages)
	}
}

// The real ptxas writes messages in the form of the script above.
func TestRealPtxas(t *testing.T) {
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	for _, tool := range oracles.EveryPtxas() {
		t.Run(tool, func(t *testing.T) {
			path := oracles.Require(t, tool)
			for _, test := range []struct{ ptx, want string }{
				{head + ".visible .entry k() { ret; }\n", ""},
				{head + ".visible .entry k() { add.u32 a, b, c; ret; }\n", "Unknown symbol 'b' [ptxas-error]\n<linked module>:4:34: note: ptxas read this line"},
				{head + ".visible .entry k( { ret; }\n", "<linked module>:4:20: note: ptxas read this line"},
				{head + ".extern .func f;\n.visible .entry k() { call f; ret; }\n", "error: ptxas: Unresolved extern function 'f' [ptxas-error]\n<linked module>:4:15: note: ptxas read this line"},
				{".version 19.0\n.target sm_80\n", "help: " + path + " is older than the PTX"},
				{".version 7.8\n.target sm_90\n", "help: the module needs a newer GPU than sm_80"},
				{"", "Missing .version directive"},
			} {
				var log diag.Log
				cubin, err := assemble(t.Context(), Options{Path: path, Arch: "sm_80"}, &link.Result{PTX: []byte(test.ptx)}, &log)
				var b strings.Builder
				diag.Write(&b, log.Messages, diag.Style{})
				if (test.want == "") != (cubin != nil && err == nil) || !strings.Contains(b.String(), test.want) {
					t.Errorf("%s%v, %d bytes of cubin\n%swant %s", test.ptx, err, len(cubin), b.String(), test.want)
				}
				if strings.Contains(b.String(), aborted) {
					t.Errorf("says that it aborted:\n%s", b.String())
				}
			}
			var log diag.Log
			_, err := assemble(t.Context(), Options{Path: path, Arch: "compute_80"}, &link.Result{PTX: []byte(head)}, &log)
			if failed, ok := errors.AsType[*diag.Message](err); !ok || !strings.Contains(failed.Help, "virtual architecture") {
				t.Errorf("compute_80: %v, %v", err, log.Messages)
			}
		})
	}
}

// A byte order mark crashes ptxas 12.4; other versions report an error.
func TestRealPtxasCrash(t *testing.T) {
	path := oracles.Require(t, "ptxas")
	var log diag.Log
	_, err := assemble(t.Context(), Options{Path: path, Arch: "sm_80"}, &link.Result{PTX: []byte("\ufeff.version 7.8\n.target sm_80\n")}, &log)
	if err == nil || errors.Is(err, ErrRejected) {
		t.Fatalf("%v, %v", err, log.Messages)
	}
	t.Log(err)
}

// octal returns data as an argument of printf.
func octal(data []byte) string {
	var b strings.Builder
	for _, c := range data {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

// TestCrashOnDWARF checks that a crash is reported with the option that removes debug
// information, if there is any.
func TestCrashOnDWARF(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var log diag.Log
	text := merged + ".section .debug_info { .b8 0 }\n"
	_, err := assemble(t.Context(), Options{Arch: "sm_80", Path: fake(t, "kill -SEGV $$")}, inA(text), &log)
	if failed, ok := errors.AsType[*diag.Message](err); !ok || !strings.HasSuffix(failed.Help, "; Options.StripDebug drops debug information, which it may have crashed on") {
		t.Errorf("%+v", err)
	}
}

// TestPlaceNVVM checks where nvlink finds libnvvm.
func TestPlaceNVVM(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes a symbolic link")
	}
	for system, want := range map[string]string{"linux": "nvvm/lib64/libnvvm.so", "windows": "nvvm/bin/nvvm64_40_0.dll"} {
		l := &Lowerer{NVVM: filepath.Join(t.TempDir(), "nvvm64_40_0.dll")}
		if err := os.WriteFile(l.NVVM, []byte(system), 0o666); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		err := l.placeNVVM(dir, system)
		if text, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(want))); err != nil || string(text) != system {
			t.Errorf("on %s: %q, %v", system, text, err)
		}
	}
}
