package integrations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ptxlink/internal/oracles"
)

const cudaProject = `cmake_minimum_required(VERSION 3.18)
project(x LANGUAGES CUDA)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_executable(whole whole.cu)
add_library(kernels STATIC lib.cu)
add_executable(app main.cu)
target_link_libraries(app PRIVATE kernels)
add_library(objects OBJECT lib.cu)
add_library(both SHARED main.cu $<TARGET_OBJECTS:objects>)
add_library(resolved STATIC main.cu lib.cu)
set_target_properties(resolved PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS ON)
add_executable(lto main.cu lib.cu)
set_target_properties(lto PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
set_target_properties(kernels app objects both resolved lto PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
`

// TestCMakeCUDA builds programs and libraries of CMake's CUDA language with ptxlink as
// nvlink. All device links give what nvlink gives, and programs start.
func TestCMakeCUDA(t *testing.T) {
	oracles.Long(t) // builds with CMake
	cmake, nvcc := oracles.RequireCompiler(t, "cmake"), oracles.RequireCompiler(t, "nvcc-new")
	w := &nvccWorkspace{T: t, nvcc: nvcc, cuobjdump: oracles.Require(t, "cuobjdump-new"), toolkit: toolkitOf(t, nvcc), tools: t.TempDir()}
	program := filepath.Join(w.tools, "nvlink")
	w.run("go", "build", "-o", program, "ptxlink/cmd/ptxlink")
	w = w.in(t)
	w.mirror(oracles.Require(t, "nvlink-new"), program)
	w.write("CMakeLists.txt", cudaProject)
	for _, build := range []struct {
		generator, make, archs string
		links                  int // device links: the check of the compiler, and for each GPU those of four targets
	}{
		{"Ninja", oracles.RequireCompiler(t, "ninja"), "80;90", 9},
		{"Unix Makefiles", oracles.Require(t, "make"), "80", 5},
	} {
		t.Run(build.generator, func(t *testing.T) {
			w := *w
			w.T = t
			w.clear()
			dir := filepath.Join(w.dir, build.generator)
			w.run(cmake, "-G", build.generator, "-S", w.dir, "-B", dir, "-DCMAKE_MAKE_PROGRAM="+build.make,
				"-DCMAKE_CUDA_COMPILER="+filepath.Join(w.dir, "nvcc"), "-DCMAKE_CUDA_ARCHITECTURES="+build.archs)
			w.run(cmake, "--build", dir)
			calls, _ := filepath.Glob(filepath.Join(w.dir, "results", "*"))
			if len(calls) != build.links {
				t.Errorf("%d device links, want %d", len(calls), build.links)
			}
			w.sameResults(build.generator, calls)
			for _, name := range []string{"whole", "app", "lto"} {
				if said, err := exec.Command(filepath.Join(dir, name)).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", name, err, said)
				}
			}
		})
	}
}

// clear removes the results of earlier links.
func (w *nvccWorkspace) clear() {
	w.Helper()
	results := filepath.Join(w.dir, "results")
	if err := os.RemoveAll(results); err != nil {
		w.Fatal(err)
	}
	if err := os.Mkdir(results, 0o777); err != nil {
		w.Fatal(err)
	}
}
