package integrations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestClang lets clang 19 and 22 link with ptxlink in place of their clang-nvlink-wrapper:
// they assemble each unit with ptxas, so all inputs are cubins, but with -flto they are LLVM
// bitcode, which the clang that calls compiles.
func TestClang(t *testing.T) {
	oracles.Long(t) // compiles
	dir := t.TempDir()
	run := func(path string, args ...string) (string, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+oracles.Machine, "NO_COLOR=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(path string, args ...string) {
		t.Helper()
		if out, err := run(path, args...); err != nil {
			t.Fatalf("%s %v: %v\n%s", path, args, err, out)
		}
	}
	for name, text := range map[string]string{
		"a.c":      "int g(int);\n__attribute__((nvptx_kernel)) void k(int *p) { *p = g(*p); }\n",
		"b.c":      "int g(int x) { return x * 3 + 1; }\n",
		"c.c":      "int unused(int x) { return x; }\n",
		"d.c":      "int g(long x) { return x; }\n",
		"long.txt": strings.Repeat("-L"+dir+"/"+strings.Repeat("x", 200)+"\n", 10_000),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"ptxas", "nvlink"} {
		if err := os.Symlink(oracles.Require(t, tool), filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	must("go", "build", "-C", here, "-o", filepath.Join(dir, "clang-nvlink-wrapper"), "ptxlink/cmd/ptxlink")
	if err := os.Symlink("clang-nvlink-wrapper", filepath.Join(dir, "ptxlink")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"clang", "clang-22"} {
		clang := oracles.RequireCompiler(t, tool)
		flags := []string{"--target=nvptx64-nvidia-cuda", "-march=sm_80", "--cuda-feature=+ptx83", "-O2", "-B" + dir}
		for _, unit := range []string{"a", "b", "c"} {
			must(clang, append(flags, "-c", unit+".c", "-o", unit+".o")...)
			must(clang, append(flags, "-flto", "-c", unit+".c", "-o", unit+".bc")...)
		}
		must(clang, append(flags, "-S", "b.c", "-o", "b.ptx")...)
		os.Remove(filepath.Join(dir, "libb.a"))
		os.Remove(filepath.Join(dir, "liblto.a"))
		must("ar", "rcs", "libb.a", "b.o", "c.o")
		must("ar", "rcS", "liblto.a", "b.bc", "c.bc")
		for _, test := range []struct{ args, fails, text string }{ // text: the functions of the cubin
			{"a.c b.c", "", "g k"},
			{"a.c b.o -g -v", "", "g k"},
			{"a.c -L. -lb", "", "g k"},
			{"a.c libb.a -save-temps", "", "g k"},
			{"a.c -L. -lb -Wl,-u,g", "", "g k"},
			{"a.c", "error: undefined symbol: g", ""},
			{"a.c b.c b.o", "error: multiple definition of g", ""},
			// Across bitcode, g is inlined.
			{"a.c b.c -flto", "", "k"},
			{"a.c b.c -flto=thin -g", "", "k"},
			{"a.c b.c c.c -flto -O0 -g", "", "g k"},
			{"a.c -flto -L. -llto", "", "k"},
			{"c.c a.c -flto -L. -llto", "", "k"},
			{"a.c liblto.a", "", "g k"},
			{"a.c b.o -flto", "", "g k"},
			{"a.o b.bc", "", "g k"},
			{"a.c b.c -flto @long.txt", "", "k"}, // too long for a command line
			{"a.c b.c -flto -r", "", "g k"},
			{"a.c -flto -Wl,--library-path=. -llto -z relro", "", "k"},
			{"a.c -flto", "error: undefined symbol: g", ""},
			{"a.c d.c -flto", "error: g takes a .b32 here but a .b64 where it is defined", ""},
			{"a.c b.c b.o -flto", "error: multiple definition of g", ""},
			{"a.c b.c -flto -Xlinker -mllvm -Xlinker -no-such-option", "-no-such-option", ""},
		} {
			out, err := run(clang, append(append(flags, strings.Fields(test.args)...), "-o", "app.cubin")...)
			switch {
			case test.fails != "":
				if err == nil || !strings.Contains(out, test.fails) {
					t.Errorf("%s %s: %v, want %q\n%s", tool, test.args, err, test.fails, out)
				}
				continue
			case err != nil:
				t.Errorf("%s %s: %v\n%s", tool, test.args, err, out)
				continue
			}
			if got := functions(t, filepath.Join(dir, "app.cubin")); got != test.text {
				t.Errorf("%s %s: functions %q, want %q", tool, test.args, got, test.text)
			}
			os.Remove(filepath.Join(dir, "app.cubin"))
		}
		must(clang, append(flags, "a.c", "-flto", "-Wl,--lto-emit-asm", "-o", "a.s")...)
		if text, err := os.ReadFile(filepath.Join(dir, "a.s")); err != nil || !strings.Contains(string(text), ".visible .entry k(") {
			t.Errorf("%s: a.s: %v\n%s", tool, err, text)
		}
		// The clang on PATH compiles it for ptxlink itself.
		for _, test := range []struct{ args, text string }{{"a.bc b.bc", "k"}, {"a.bc b.ptx --arch=sm_90", "k"}, {"a.bc b.ptx -c", "g k"}, {"a.o b.bc --arch=sm_80", "g k"}} {
			if out, err := run(filepath.Join(dir, "ptxlink"), append(strings.Fields(test.args), "--clang="+clang, "-o", "app.cubin")...); err != nil || out != "" {
				t.Errorf("%s: ptxlink %s: %v\n%s", tool, test.args, err, out)
			} else if got := functions(t, filepath.Join(dir, "app.cubin")); got != test.text {
				t.Errorf("%s: ptxlink %s: functions %q, want %q", tool, test.args, got, test.text)
			}
		}
	}
}

// functions returns the functions with code in a cubin, in order of their names.
func functions(t *testing.T, path string) string {
	t.Helper()
	cubin, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`\x00\.text\.(\w+)`).FindAllSubmatch(cubin, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}
