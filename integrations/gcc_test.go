package integrations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

const offloads = `#include <math.h>
#include <stdio.h>
#pragma omp declare target
double square(double x);
double scale = 1;
#pragma omp end declare target
int main() {
    double s = 2;
#pragma omp target map(tofrom : s)
    s = square(s) + scale * cos(s - 2);
    printf("%g\n", s);
}
`

const square = `#pragma omp declare target
double square(double x) { return x * x; }
#pragma omp end declare target
`

// TestGCC builds a program with gcc's offload compiler, whose collect2 calls ptxlink as
// ld, and runs it: without a GPU the host computes.
//
// gcc's assembler checks what it writes with the ptxas on PATH, if there is one: for
// sm_35, which ptxas 12 does not know, so then docs/from-gcc.md names a later GPU.
func TestGCC(t *testing.T) {
	oracles.Long(t) // compiles for the GPU
	for _, test := range []struct{ name, ptxas, isa string }{
		{"no ptxas", "", ""}, {"ptxas 12.4", "ptxas", "-misa=sm_53 "}, {"ptxas 13.5", "ptxas-new", "-misa=sm_75 "},
	} {
		t.Run(test.name, func(t *testing.T) {
			tools := t.TempDir()
			for _, tool := range []string{"as", "ld", "sh"} {
				path, err := exec.LookPath(tool)
				if err == nil {
					err = os.Symlink(path, filepath.Join(tools, tool))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if test.ptxas != "" {
				if err := os.Symlink(oracles.Require(t, test.ptxas), filepath.Join(tools, "ptxas")); err != nil {
					t.Fatal(err)
				}
			}
			gccOffloads(t, tools, test.isa)
		})
	}
}

// gccOffloads is TestGCC with the programs of a directory and no others on PATH.
func gccOffloads(t *testing.T, tools, isa string) {
	wrapper := readFile(t, oracles.RequireCompiler(t, "gcc-nvptx"))
	accel := regexp.MustCompile(`'(/[^']*)/usr/bin/([^'/]*)-accel-nvptx-none-gcc-(\d+)'`).FindStringSubmatch(wrapper)
	gcc := regexp.MustCompile(`(?m)^'([^']*)' -fopenacc`).FindStringSubmatch(wrapper)
	if accel == nil || gcc == nil {
		t.Fatalf("gcc-nvptx:\n%s", wrapper)
	}
	root := accel[1]
	dirs, err := filepath.Glob(root + "/usr/lib/gcc/*/" + accel[3])
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	dir := t.TempDir()
	ld := filepath.Join(dir, "nvptx-none", "bin", "ld")
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Env = os.Environ()
		if program != "go" {
			cmd.Env = append(cmd.Env, "PATH="+root+"/usr/bin:"+tools)
		}
		if libraries := regexp.MustCompile(`LD_LIBRARY_PATH='([^']*)'`).FindStringSubmatch(wrapper); libraries != nil {
			cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+libraries[1])
		}
		if program != "go" {
			cmd.Dir = dir
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("go", "build", "-o", ld, "ptxlink/cmd/ptxlink")
	for name, text := range map[string]string{"main.c": offloads, "square.c": square} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	offload := []string{"-fopenmp", "-foffload=nvptx-none", "-B" + dirs[0] + "/", "-B" + root + "/usr/bin/"}
	run(gcc[1], append(offload, "-c", "main.c", "square.c")...)
	run(gcc[1], append(offload, "-save-temps", "-foffload-options="+isa+"-lm -B"+filepath.Dir(ld)+"/", "main.o", "square.o", "-lm", "-o", "app")...)
	if out := run("./app"); out != "5\n" {
		t.Errorf("the program prints %q", out)
	}

	// The linked module, and what mkoffload made of it.
	module := readFile(t, filepath.Join(dir, "app.xnvptx-none.mkoffload"))
	if !strings.Contains(module, "ptxlink-meta") || !strings.HasSuffix(module, "\n\x00") {
		t.Errorf("the module is not ptxlink's, or has no NUL at its end: %.100q ... %q", module, module[max(0, len(module)-100):])
	}
	host := readFile(t, filepath.Join(dir, "app.xnvptx-none.c"))
	for _, want := range []string{"ptx_code_0[]", `{"main$_omp_fn$0"}`, "\t\"scale\"\n"} {
		if strings.Count(host, want) != 1 {
			t.Errorf("%q is %d times in what mkoffload wrote", want, strings.Count(host, want))
		}
	}
	cubin := oracles.Assemble(t, "ptxas", "sm_80", []byte(strings.TrimSuffix(module, "\x00")))
	if list := oracles.Objects(t, cubin, nil); !strings.Contains(strings.Join(list, "\n"), "entry main$_omp_fn$0\n") || !strings.Contains(strings.Join(list, "\n"), "object scale 8") {
		t.Errorf("cubin: %q", list)
	}
}
