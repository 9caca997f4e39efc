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

// cmakeWorkspace is an installation of ptxlink and a copy of the example.
type cmakeWorkspace struct {
	*workspace
	prefix, cmake, generator string
	settings                 []string
}

// TestCMake installs ptxlink, builds the example with Ninja and Make, changes one file
// after another, and checks that exactly what depends on it is built again.
func TestCMake(t *testing.T) {
	oracles.Long(t) // builds with CMake many times
	cmake, makeProgram := oracles.RequireCompiler(t, "cmake"), oracles.Require(t, "make")
	ninja := oracles.RequireCompiler(t, "ninja")
	prefix := filepath.Join(t.TempDir(), "usr")
	install(t, prefix)
	for _, test := range []struct{ generator, program string }{{"Ninja", ninja}, {"Unix Makefiles", makeProgram}} {
		t.Run(test.generator, func(t *testing.T) {
			for _, part := range []struct {
				name  string
				steps func(*cmakeWorkspace)
			}{{"ptx", rebuildPTX}, {"nvcc", rebuildCUDA}, {"clang", rebuildCUDA}, {"refused", refusedByCMake}} {
				t.Run(part.name, func(t *testing.T) {
					w := &cmakeWorkspace{
						workspace: &workspace{T: t, root: t.TempDir(), ptxlink: prefix + "/bin/ptxlink"},
						prefix:    prefix, cmake: cmake, generator: test.generator,
						settings: []string{"-DCMAKE_MAKE_PROGRAM=" + test.program, "-Dptxlink_ROOT=" + prefix},
					}
					for _, dir := range []string{"bazel", "cmake"} {
						if err := os.CopyFS(filepath.Join(w.root, dir), os.DirFS(dir)); err != nil {
							t.Fatal(err)
						}
					}
					switch part.name {
					case "nvcc":
						variable := map[string]string{"Ninja": "PTXLINK_CUDA_COMPILER", "Unix Makefiles": "CMAKE_CUDA_COMPILER"}[w.generator]
						w.settings = append(w.settings, "-DEXAMPLE_CUDA=ON", "-D"+variable+"="+oracles.RequireCompiler(t, "nvcc"))
					case "clang":
						w.settings = append(w.settings, "-DEXAMPLE_CUDA=ON", "-DPTXLINK_CUDA_COMPILER="+oracles.RequireCompiler(t, "clang"))
						// clang wants a whole toolkit; these sources need only declarations.
						w.settings = append(w.settings, "-DCMAKE_CUDA_FLAGS=-nocudainc -nocudalib -include "+w.path("clang.h"))
						w.write("clang.h", clangHeader)
					}
					part.steps(w)
				})
			}
		})
	}
}

// install runs make install.
func install(t *testing.T, prefix string) {
	t.Helper()
	if out, err := exec.Command(oracles.Require(t, "make"), "-C", "..", "install", "PREFIX="+prefix, "DESTDIR=").CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
}

// TestCMakeVersion asks for versions of several installations.
func TestCMakeVersion(t *testing.T) {
	cmake, ninja := oracles.RequireCompiler(t, "cmake"), oracles.RequireCompiler(t, "ninja")
	const asks = `cmake_minimum_required(VERSION 3.20)
project(versions NONE)
foreach(ask "" 1 1.0 1.4.2 1.5 2.0 0.9 "1.4.2;EXACT" "1.4;EXACT" 1.0...1.4.2 1.0...<1.4.2 1.0...1.9 1.5...2)
	find_package(ptxlink ${ask} QUIET CONFIG)
	if(ptxlink_FOUND)
		string(JOIN " " ask ${ask})
		message(STATUS "<${ask}> ${ptxlink_VERSION}")
	endif()
	unset(ptxlink_DIR CACHE)
endforeach()
`
	every := []string{"", "1", "1.0", "1.4.2", "1.5", "2.0", "0.9", "1.0...1.4.2", "1.0...<1.4.2", "1.0...1.9", "1.5...2"}
	for _, test := range []struct {
		said, version string
		found         []string
	}{
		{"ptxlink v1.4.2 (0123abc) go1.26 linux/amd64", "1.4.2", []string{"", "1", "1.0", "1.4.2", "1.4.2 EXACT", "1.0...1.4.2", "1.0...1.9"}},
		{"ptxlink v2.0.0-rc.1 (0123abc) go1.26 linux/amd64", "2.0.0", []string{"", "2.0", "1.5...2"}},
		{"ptxlink v0.0.0-20261122153431-b2afe7fe7861 (b2afe7fe7861) go1.26 linux/amd64", "0.0.0", every},
		{"ptxlink (devel) go1.26 linux/amd64", "0.0.0", every},
	} {
		t.Run(test.said, func(t *testing.T) {
			w := &workspace{T: t, root: t.TempDir()}
			w.write("CMakeLists.txt", asks)
			w.write("usr/bin/ptxlink", "#!/bin/sh\n[ \"$1\" != --version ] || echo '"+test.said+"'\n")
			if err := os.Chmod(w.path("usr/bin/ptxlink"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.run("..", "internal/release/share.sh", w.path("usr/bin/ptxlink"), w.path("usr/share"))
			out := w.run(w.root, cmake, "-G", "Ninja", "-DCMAKE_MAKE_PROGRAM="+ninja, "-DCMAKE_PREFIX_PATH="+w.path("usr"), "-S", w.root, "-B", w.path("build"))
			var found []string
			for _, m := range regexp.MustCompile(`<(.*)> (.*)`).FindAllStringSubmatch(out, -1) {
				found = append(found, m[1])
				if m[2] != test.version {
					t.Errorf("ptxlink_VERSION is %s, want %s", m[2], test.version)
				}
			}
			if !slices.Equal(found, test.found) {
				t.Errorf("found for %q, want %q:\n%s", found, test.found, out)
			}
		})
	}
}

const clangHeader = `#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct Index { int x; };
#define threadIdx (Index{__nvvm_read_ptx_sreg_tid_x()})
`

// configure runs CMake, which must succeed.
func (w *cmakeWorkspace) configure(more ...string) {
	w.Helper()
	w.run(w.root, w.cmake, w.args(more...)...)
}

func (w *cmakeWorkspace) args(more ...string) []string {
	return slices.Concat([]string{"-G", w.generator, "-S", w.path("cmake/example"), "-B", w.path("build")}, w.settings, more)
}

var built = regexp.MustCompile(`(?m)(?:Compiling \S*/(\S+) to PTX|Packing (\S+)|Linking (\S+))\s*$`)

// build builds everything, and returns what was made: sources, archives, outputs.
func (w *cmakeWorkspace) build() (made []string) {
	w.Helper()
	if ptxas, ok := oracles.Find("ptxas"); ok {
		w.Setenv("PTXAS", ptxas)
	}
	for _, m := range built.FindAllStringSubmatch(w.run(w.root, w.cmake, "--build", w.path("build")), -1) {
		made = append(made, m[1]+m[2]+m[3])
	}
	slices.Sort(made)
	return made
}

// step changes the example, and compares what is built again.
func (w *cmakeWorkspace) step(name string, change func(), want ...string) {
	w.Helper()
	if err := oracles.AwaitTick(w.root); err != nil {
		w.Fatal(err)
	}
	change()
	if made := w.build(); !slices.Equal(made, want) {
		w.Errorf("%s: built %q, want %q", name, made, want)
	}
	if made := w.build(); len(made) > 0 {
		w.Errorf("after %s: built %q again", name, made)
	}
}

// rebuildPTX builds the program of the Bazel example.
func rebuildPTX(w *cmakeWorkspace) {
	const src = "bazel/example/"
	w.configure()
	w.step("from nothing", func() {}, "app", "debug", "math")
	w.step("a unit in an archive", func() { w.replace(src+"math/sqrt.ptx", "sqrt.rn.f32", "sqrt.approx.f32") }, "app", "math")
	w.step("a module of a library", func() { w.replace(src+"vec/vec.ptx", "fma.rn.f32", "fma.rz.f32") }, "app")
	if out := w.read("build/app.ptx"); !strings.Contains(out, "fma.rz.f32") || !strings.Contains(out, "sqrt.approx.f32") {
		w.Errorf("output:\n%s", out)
	}
	// The same program by Make is the same, byte for byte.
	if err := os.CopyFS(w.path("make"), os.DirFS("make")); err != nil {
		w.Fatal(err)
	}
	os.RemoveAll(w.path("make/build"))
	w.run(w.path("make"), oracles.Require(w.T, "make"))
	if byMake := w.read("make/build/app.ptx"); byMake != w.read("build/app.ptx") {
		w.Errorf("Make's output differs:\n%s", byMake)
	}
	// A member that is gone from the list is gone from the archive.
	w.step("an archive without a unit", func() {
		w.replace("cmake/example/CMakeLists.txt", "${SRC}/math/cbrt.ptx ", "")
	}, "app", "math")
	if list := w.run(w.root, w.ptxlink, "ar", "t", w.path("build/libmath.a")); !strings.Contains(list, "sqrt.ptx") || strings.Contains(list, "cbrt.ptx") {
		w.Errorf("members: %q", list)
	}
}

// rebuildCUDA builds the program of .cu files.
func rebuildCUDA(w *cmakeWorkspace) {
	oracles.Require(w.T, "ptxas")
	const src = "cmake/example/cuda/"
	w.configure()
	w.step("from nothing", func() {}, "app", "area.cu", "areas", "debug", "main.cu", "math", "shapes", "volume.cu")
	if cubin := w.read("build/cuda/areas.cubin"); !strings.HasPrefix(cubin, "\x7fELF") {
		w.Errorf("no cubin: %.20q", cubin)
	}
	w.step("a source", func() { w.replace(src+"main.cu", "SCALE *", "SCALE +") }, "areas", "main.cu")
	w.step("a source of an archive", func() { w.replace(src+"volume.cu", "s.width * s.height", "s.height * s.width") }, "areas", "shapes", "volume.cu")
	w.step("a header", func() { w.write(src+"shapes.h", w.read(src+"shapes.h")+"// changed\n") }, "area.cu", "areas", "main.cu", "shapes", "volume.cu")
	w.step("a definition", func() { w.replace(src+"CMakeLists.txt", "SCALE=2", "SCALE=3") }, "areas", "main.cu")
}

// refusedByCMake configures projects with errors.
func refusedByCMake(w *cmakeWorkspace) {
	for _, test := range []struct{ line, want string }{
		{"ptx_link(x SOURCES a.ptx LIBRARIES none)", "x: there is no library none; define it with ptx_library or ptx_archive before"},
		{"add_custom_target(other)\nptx_link(x SOURCES a.ptx LIBRARIES other)", "x: other is no target of ptx_library or ptx_archive"},
		{"ptx_link(x a.ptx)", "x: unknown arguments a.ptx; name sources after SOURCES"},
		{"set(PTXLINK_CUDA_COMPILER nvcc)\nptx_link(x SOURCES a.cu)", "name the GPU of"},
	} {
		w.write("cmake/example/CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES NONE)\nfind_package(ptxlink REQUIRED)\n"+test.line+"\n")
		out, err := exec.Command(w.cmake, w.args()...).CombinedOutput()
		if text := strings.Join(strings.Fields(string(out)), " "); err == nil || !strings.Contains(text, test.want) {
			w.Errorf("%s: %v, want %q in:\n%s", test.line, err, test.want, out)
		}
	}
}

// TestPkgConfig reads the file for pkg-config.
func TestPkgConfig(t *testing.T) {
	oracles.Long(t)
	pkgConfig := oracles.RequireCompiler(t, "pkg-config")
	prefix := filepath.Join(t.TempDir(), "usr")
	install(t, prefix)
	cmd := exec.Command(pkgConfig, "--variable=ptxlink", "--print-errors", "ptxlink")
	cmd.Env = append(os.Environ(), "PKG_CONFIG_PATH="+prefix+"/share/pkgconfig")
	out, err := cmd.CombinedOutput()
	if err != nil || filepath.Clean(strings.TrimSpace(string(out))) != prefix+"/bin/ptxlink" {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(strings.TrimSpace(string(out)), "--version").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
