package integrations_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/bench/machine"
	"ptxlink/internal/oracles"
)

// solver is a program of three units, of which a static library has two.
var solver = map[string]string{
	"solver.h": `#pragma once
struct Cell { float density, u, v, pressure; };
__device__ float energy(Cell c);
__device__ Cell advance(Cell c, float step);
`,
	"energy.cu": `#include "solver.h"
__device__ float energy(Cell c) { return c.pressure + 0.5f * c.density * (c.u * c.u + c.v * c.v); }
`,
	"advance.cu": `#include "solver.h"
__device__ Cell advance(Cell c, float step) {
	float q = energy(c);
	c.u += step * q;
	c.v -= step * q;
	return c;
}
`,
	"solve.cu": `#include "solver.h"
__global__ void solve(Cell *cells, int n, float step) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		for (int k = 0; k < 100; ++k)
			cells[i] = advance(cells[i], step);
}
int main() { solve<<<1, 32>>>(nullptr, 0, 0.1f); }
`,
	"CMakeLists.txt": `cmake_minimum_required(VERSION 3.18)
project(solver LANGUAGES CUDA)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_library(physics STATIC energy.cu advance.cu)
add_executable(solve solve.cu)
target_link_libraries(solve PRIVATE physics)
set_target_properties(physics solve PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
`,
}

var madeBy = regexp.MustCompile(`(?m)^  made by   ptxlink \S+ -O2$`)

// TestOptimisedBuilds builds the solver with nvcc and with CMake, nvlink being ptxlink with PTXLINK_FLAGS=-O2 as
// docs/nvcc.md says, and compares the kernel with those of nvlink and of nvcc -dlto. It checks the table of the page;
// -update writes it.
func TestOptimisedBuilds(t *testing.T) {
	oracles.Long(t) // compiles many files
	newest := oracles.RequireCompiler(t, "nvcc-new")
	cmake, ninja, makes := oracles.RequireCompiler(t, "cmake"), oracles.RequireCompiler(t, "ninja"), oracles.Require(t, "make")
	toolkit, tools := toolkitOf(t, newest), t.TempDir()
	program, ptxlink := filepath.Join(tools, "nvlink"), filepath.Join(tools, "ptxlink")
	if out, err := exec.Command("go", "build", "-o", program, "ptxlink/cmd/ptxlink").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Symlink(program, ptxlink); err != nil {
		t.Fatal(err)
	}
	table := "| nvcc | build | linker | registers | stack | calls | instructions |\n|---|---|---|---|---|---|---|\n"
	for _, version := range []struct{ name, nvcc, suffix string }{{"12.4", oracles.RequireCompiler(t, "nvcc"), ""}, {"13.5", newest, "-new"}} {
		w := &nvccWorkspace{T: t, nvcc: version.nvcc, cuobjdump: oracles.Require(t, "cuobjdump"+version.suffix), toolkit: toolkit, tools: tools}
		w = w.in(t)
		w.mirror(oracles.Require(t, "nvlink"+version.suffix), program)
		for name, text := range solver {
			w.write(name, text)
		}
		row := func(build, linker string, c machine.Code) {
			for _, k := range c.Kernels {
				table += fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d |\n", version.name, build, linker, k.Registers, k.Stack, c.Calls, c.Instructions)
			}
		}
		inspect := func(cubin string) machine.Code {
			c, err := machine.Inspect(w.cuobjdump, cubin)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		t.Setenv("PTXLINK_FLAGS", "-O2")
		for _, build := range []struct {
			name, made string
			run        func()
		}{
			{"nvcc", "solve", func() {
				w.run(w.nvcc, "-rdc=true", "-arch=sm_80", "solve.cu", "energy.cu", "advance.cu", "-o", "solve")
			}},
			{"CMake, Ninja", "build/solve", func() { w.cmake(cmake, "Ninja", ninja) }},
			{"CMake, Make", "build/solve", func() { w.cmake(cmake, "Unix Makefiles", makes) }},
		} {
			w.clear()
			build.run()
			if out, err := exec.Command(ptxlink, "info", filepath.Join(w.dir, build.made)).Output(); err != nil || !madeBy.Match(out) {
				t.Errorf("%s, %s: info does not say what made the program: %v\n%s", version.name, build.name, err, out)
			}
			links, _ := filepath.Glob(filepath.Join(w.dir, "results", "*", "got.cubin"))
			var got, want machine.Code
			for _, cubin := range links {
				if c, err := machine.Read(cubin); err != nil || len(c.Entries) > 0 { // CMake also checks the compiler
					got, want = inspect(cubin), inspect(filepath.Join(filepath.Dir(cubin), "want.cubin"))
				}
			}
			row(build.name, "nvlink", want)
			row(build.name, "ptxlink, -O2", got)
			for name, k := range got.Kernels {
				if than := want.Kernels[name]; k.Stack >= than.Stack || got.Calls > 0 || want.Calls == 0 {
					t.Errorf("%s, %s: %+v with %d calls, nvlink's has %+v with %d", version.name, build.name, k, got.Calls, than, want.Calls)
				}
			}
			if len(got.Kernels) != 1 {
				t.Errorf("%s, %s: kernels %v", version.name, build.name, got.Kernels)
			}
		}
		w.run(w.nvcc, "-dlto", "-arch=sm_80", "-dlink", "-cubin", "solve.cu", "energy.cu", "advance.cu", "-o", "dlto.cubin")
		row("nvcc", "nvlink, -dlto", inspect(filepath.Join(w.dir, "dlto.cubin")))
	}
	checkTable(t, "../docs/nvcc.md", "<!-- go test ./integrations -run OptimisedBuilds -update writes this table -->\n", "<!-- end of the table of kernels -->\n", table)
}

// cmake builds the project of the workspace.
func (w *nvccWorkspace) cmake(cmake, generator, program string) {
	w.Helper()
	dir := filepath.Join(w.dir, "build")
	if err := os.RemoveAll(dir); err != nil {
		w.Fatal(err)
	}
	w.run(cmake, "-G", generator, "-S", w.dir, "-B", dir, "-DCMAKE_MAKE_PROGRAM="+program, "-DCMAKE_CUDA_COMPILER="+filepath.Join(w.dir, strings.TrimPrefix(w.nvcc, "./")), "-DCMAKE_CUDA_ARCHITECTURES=80")
	w.run(cmake, "--build", dir)
}
