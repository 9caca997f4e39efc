// Package oracles finds the tools that tests compare ptxlink with: ptxas, nvlink,
// cuobjdump and the others that fetch.sh fetches.
package oracles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// RequireVar names the environment variable under which a missing tool fails a
// test instead of skipping it. CI sets it to 1 for make test-all, where no test
// may be skipped (internal/gotest).
const RequireVar = "PTXLINK_REQUIRE_ORACLES"

// Dir returns the directory that fetch.sh fills: $PTXLINK_ORACLES, else
// ptxlink/oracles in the user's cache directory. It may not exist. It holds gcc's
// archives of PTX as gcc-nvptx/*.a, NVIDIA's cudadevrt/libcudadevrt.a, and the
// tools in bin.
func Dir() string {
	if dir := os.Getenv("PTXLINK_ORACLES"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
	// Not os.UserCacheDir: it refuses a relative $XDG_CACHE_HOME and differs on
	// macOS, and Dir must agree with the script.
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home := os.Getenv("HOME")
		if home == "" {
			return ""
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "ptxlink", "oracles")
}

// Find returns the path of a tool, looking in Dir first and then on PATH.
//
// Plain names are the tools of CUDA 12.4 (ptxas, nvlink, cuobjdump, nvdisasm,
// fatbinary), with the suffix -new for the newest CUDA and -old for the oldest
// (ptxas-old). Others are nvptx-none-ld, llvm-dwarfdump, llvm-nm, readelf, ar, nm, ld.
// README.md lists those of fetch.sh --compilers.
func Find(tool string) (path string, ok bool) {
	if dir := Dir(); dir != "" {
		// LookPath checks only this file if the name has a slash, and that it is
		// executable.
		if path, err := exec.LookPath(filepath.Join(dir, "bin", tool)); err == nil {
			return path, true
		}
	}
	path, err := exec.LookPath(tool)
	return path, err == nil
}

// Require returns the path of a tool that a test needs. If it is missing, the test
// is skipped, or fails if [RequireVar] is 1.
func Require(t testing.TB, tool string) string {
	t.Helper()
	return require(t, tool, "")
}

// EveryPtxas returns the ptxas of each CUDA release that tests compare: without the oldest,
// which fetch.sh --compilers fetches, where that is missing and [RequireVar] is not 1.
func EveryPtxas() []string {
	list := []string{"ptxas", "ptxas-new"}
	if _, ok := Find("ptxas-old"); ok || os.Getenv(RequireVar) == "1" {
		list = append(list, "ptxas-old")
	}
	return list
}

// RequireRelease is Require for a test that holds for the tool of CUDA 12.4 only. It
// skips if another stands in.
func RequireRelease(t testing.TB, tool string) string {
	t.Helper()
	path := Require(t, tool)
	if StandsIn(tool) {
		t.Skipf("%s of CUDA 13.5 stands in for that of 12.4", tool)
	}
	return path
}

// StandsIn reports whether another release of a tool stands in: that of CUDA 13.5 for one
// with a plain name, as on Ubuntu, because where Debian's non-free is out of reach fetch.sh
// finds only ptxas of 12.4; and Bazel 2.1 for bazel-new.
func StandsIn(tool string) bool {
	found, _ := filepath.Glob(filepath.Join(Dir(), "*", "stand-in", tool))
	return len(found) > 0 && tool != "ptxas"
}

// RequireFile returns the path of a file below [Dir] that a test needs, such as
// "gcc-nvptx/libc.a". A missing file is treated like a missing tool in [Require].
func RequireFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Dir(), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		missing(t, name, "")
	}
	return path
}

// RequireCompiler is Require for a tool that only fetch.sh --compilers fetches.
func RequireCompiler(t testing.TB, tool string) string {
	t.Helper()
	return require(t, tool, " --compilers")
}

func require(t testing.TB, tool, option string) string {
	t.Helper()
	path, ok := Find(tool)
	if !ok {
		missing(t, tool, option)
	}
	return path
}

func missing(t testing.TB, what, option string) {
	t.Helper()
	if text, fatal := Missing(what, option); fatal {
		t.Fatalf("%s", text)
	} else {
		t.Skipf("%s", text) // not Skip, which the tests of this package do not record
	}
}

// Missing returns the message of a test that lacks a tool or file, with the option of
// fetch.sh that fetches it, and whether the test must fail, because [RequireVar] is 1. It
// knows the option of tools with the suffix -old.
func Missing(what, option string) (text string, fatal bool) {
	if strings.HasSuffix(what, "-old") {
		option = " --compilers"
	}
	advice := "run internal/oracles/fetch.sh" + option
	if what == "make" || what == "g++" { // fetch.sh uses those of the machine
		advice = "install it"
	}
	if os.Getenv(RequireVar) == "1" {
		return "no " + what + ", and " + RequireVar + " is 1: " + advice, true
	}
	return "no " + what + ": " + advice, false
}

// Long skips a test that is too long for make test, which runs go test -short.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("long; make test-all runs it")
	}
}
