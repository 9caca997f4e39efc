package integrations_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestClang lets clang 19 and 22 link with ptxlink in place of their clang-nvlink-wrapper:
// they assemble each unit with ptxas, so all inputs are cubins.
func TestClang(t *testing.T) {
	oracles.Long(t) // compiles
	dir := t.TempDir()
	run := func(path string, args ...string) (string, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":/usr/bin:/bin", "NO_COLOR=1")
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
		"a.c": "int g(int);\n__attribute__((nvptx_kernel)) void k(int *p) { *p = g(*p); }\n",
		"b.c": "int g(int x) { return x * 3 + 1; }\n",
		"c.c": "int unused(int x) { return x; }\n",
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
	for _, tool := range []string{"clang", "clang-22"} {
		clang := oracles.RequireCompiler(t, tool)
		flags := []string{"--target=nvptx64-nvidia-cuda", "-march=sm_80", "--cuda-feature=+ptx83", "-O2", "-B" + dir}
		for _, unit := range []string{"b", "c"} {
			must(clang, append(flags, "-c", unit+".c", "-o", unit+".o")...)
		}
		os.Remove(filepath.Join(dir, "libb.a"))
		must("ar", "rcs", "libb.a", "b.o", "c.o")
		for _, test := range []struct{ args, fails string }{
			{"a.c b.c", ""},
			{"a.c b.o -g -v", ""},
			{"a.c -L. -lb", ""},
			{"a.c libb.a -save-temps", ""},
			{"a.c -L. -lb -Wl,-u,g", ""},
			{"a.c", "error: undefined symbol: g"},
			{"a.c b.c b.o", "error: multiple definition of g"},
			{"a.c b.c -flto", "this is LLVM bitcode, not PTX"},
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
			cubin, err := os.ReadFile(filepath.Join(dir, "app.cubin"))
			if err != nil {
				t.Fatal(err)
			}
			for section, want := range map[string]bool{".text.k\x00": true, ".text.g\x00": true, ".text.unused\x00": false} {
				if bytes.Contains(cubin, []byte(section)) != want {
					t.Errorf("%s %s: section %q: want %t", tool, test.args, section, want)
				}
			}
			os.Remove(filepath.Join(dir, "app.cubin"))
		}
	}
}
