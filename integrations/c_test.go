package integrations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestNvJitLink builds what takes the place of nvJitLink, and calls it by the names of all
// releases.
func TestNvJitLink(t *testing.T) {
	oracles.Long(t)
	dir := t.TempDir()
	here, err := filepath.Abs("c")
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, filepath.Join(here, "*"))
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CC=cc -Werror", "PTXLINK="+filepath.Join(dir, "ptxlink"), "PTXAS="+oracles.Require(t, "ptxas"), "PTXLINK_NVJITLINK=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-C", here, "-tags", "urfave_cli_no_docs", "-o", filepath.Join(dir, "ptxlink"), "ptxlink/cmd/ptxlink")
	run(filepath.Join(here, "nvjitlink.sh"), "lib")
	for _, name := range []string{"libnvJitLink.so.12", "libnvJitLink.so.13"} {
		run("python3", filepath.Join(here, "test_nvjitlink.py"), filepath.Join(dir, "lib", name))
	}
	oracles.RequireCompiler(t, "python-numba") // has NVVM 12.4
	nvvm, _ := filepath.Glob(filepath.Join(oracles.Dir(), "numba/lib/python*/site-packages/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so"))
	run("env", "NVCC="+oracles.RequireCompiler(t, "nvcc"), "FATBINARY="+oracles.Require(t, "fatbinary"), "NVVM="+strings.Join(nvvm, ""),
		"python3", filepath.Join(here, "nvjitlink_cases.py"), "here 12="+filepath.Join(dir, "lib/libnvJitLink.so.12"), "here 13="+filepath.Join(dir, "lib/libnvJitLink.so.13"))
}

// readAll reads files, so that go test runs the test again if they change.
func readAll(t *testing.T, pattern string) {
	t.Helper()
	files, _ := filepath.Glob(pattern)
	for _, path := range files {
		if _, err := os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestC builds the C library, and runs its test with the sanitizers and valgrind, and the
// examples with pkg-config, CMake and, where there is one, Julia.
func TestC(t *testing.T) {
	oracles.Long(t)
	dir := t.TempDir()
	here, err := filepath.Abs("c")
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, filepath.Join(here, "*"))
	example, err := filepath.Abs("../testdata/ptx/example")
	if err != nil {
		t.Fatal(err)
	}
	ptxlink := filepath.Join(dir, "ptxlink")
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PTXLINK="+ptxlink, "LD_LIBRARY_PATH=lib", "PKG_CONFIG_PATH=lib/pkgconfig", "TSAN_OPTIONS=die_after_fork=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-C", here, "-tags", "urfave_cli_no_docs", "-o", ptxlink, "ptxlink/cmd/ptxlink")
	cc := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-I", here, filepath.Join(here, "ptxlink.c"), filepath.Join(here, "test.c"), "-lpthread", "-o", "test"}
	test := []string{ptxlink, oracles.Require(t, "ptxas"), example, dir}
	for _, sanitizers := range []string{"address,undefined", "thread"} {
		run("cc", append(cc, "-fsanitize="+sanitizers)...)
		if sanitizers == "thread" {
			run("./test", append(test, "once")...)
		} else {
			run("./test", test...)
		}
	}
	if valgrind, err := exec.LookPath("valgrind"); err == nil {
		run("cc", cc...)
		run(valgrind, append([]string{"-q", "--leak-check=full", "--error-exitcode=9", "./test"}, append(test, "once")...)...)
	}

	linked := func(command ...string) {
		t.Helper()
		os.Remove(filepath.Join(dir, "out.ptx"))
		run(command[0], append(command[1:], "out.ptx", filepath.Join(example, "main.ptx"), filepath.Join(example, "lib.ptx"))...)
		if text, err := os.ReadFile(filepath.Join(dir, "out.ptx")); err != nil || !strings.Contains(string(text), ".visible .entry k_main") {
			t.Errorf("%v: %v\n%s", command, err, text)
		}
	}
	run(filepath.Join(here, "build.sh"), "lib", "1.2.3")
	run("sh", "-c", "cc "+filepath.Join(here, "example.c")+" $("+oracles.RequireCompiler(t, "pkg-config")+" --cflags --libs ptxlink-c) -o example")
	linked("./example")
	run("c++", "-I"+here, filepath.Join(here, "example.cpp"), "lib/libptxlink.a", "-lpthread", "-o", "static")
	linked("./static")
	if err := os.WriteFile(filepath.Join(dir, "CMakeLists.txt"), []byte("cmake_minimum_required(VERSION 3.16)\nproject(e C)\nadd_subdirectory("+here+" c)\nadd_executable(example "+here+"/example.c)\ntarget_link_libraries(example ptxlink::c)\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmake := oracles.RequireCompiler(t, "cmake")
	run(cmake, "-G", "Ninja", "-DCMAKE_MAKE_PROGRAM="+oracles.RequireCompiler(t, "ninja"), "-B", "build", ".")
	run(cmake, "--build", "build")
	linked("build/example")
	if julia, err := exec.LookPath("julia"); err == nil {
		linked(julia, filepath.Join(here, "example.jl"), filepath.Join(dir, "lib/libptxlink.so"))
	}
}
