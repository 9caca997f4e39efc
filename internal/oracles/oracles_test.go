package oracles

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// put creates an executable file that does nothing.
func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFindPrefersTheOraclesToPATH(t *testing.T) {
	dir, onPath := t.TempDir(), t.TempDir()
	t.Setenv("PTXLINK_ORACLES", dir)
	t.Setenv("PATH", onPath)
	put(t, filepath.Join(dir, "bin", "ptxas"))
	put(t, filepath.Join(onPath, "ptxas"))
	put(t, filepath.Join(onPath, "readelf"))

	for _, test := range []struct {
		tool, want string
		ok         bool
	}{
		{"ptxas", filepath.Join(dir, "bin", "ptxas"), true},
		{"readelf", filepath.Join(onPath, "readelf"), true},
		{"nvlink", "", false},
	} {
		got, ok := Find(test.tool)
		if got != test.want || ok != test.ok {
			t.Errorf("Find(%q) = %q, %v, want %q, %v", test.tool, got, ok, test.want, test.ok)
		}
	}
}

// tb records how a test ended instead of ending it.
type tb struct {
	testing.TB
	skipped, failed bool
	said            string
}

func (r *tb) Helper() {}
func (r *tb) Skipf(format string, args ...any) {
	r.skipped, r.said = true, fmt.Sprintf(format, args...)
}
func (r *tb) Fatalf(format string, args ...any) {
	r.failed, r.said = true, fmt.Sprintf(format, args...)
}

func TestRequireSkipsUnlessTold(t *testing.T) {
	t.Setenv("PTXLINK_ORACLES", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	for _, test := range []struct {
		set             string
		skipped, failed bool
	}{
		{"", true, false},
		{"0", true, false},
		{"1", false, true},
	} {
		t.Setenv(RequireVar, test.set)
		r := &tb{TB: t}
		Require(r, "ptxas")
		if r.skipped != test.skipped || r.failed != test.failed {
			t.Errorf("%s=%q: skipped %v, failed %v", RequireVar, test.set, r.skipped, r.failed)
		}
		r = &tb{TB: t}
		RequireFile(r, "gcc-nvptx/libc.a")
		if r.skipped != test.skipped || r.failed != test.failed {
			t.Errorf("%s=%q: file: skipped %v, failed %v", RequireVar, test.set, r.skipped, r.failed)
		}
	}
}

// TestRequireAdvice checks what a skipped test tells the user to do.
func TestRequireAdvice(t *testing.T) {
	t.Setenv("PTXLINK_ORACLES", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	t.Setenv(RequireVar, "")
	for _, test := range []struct {
		require    func(testing.TB, string) string
		tool, want string
	}{
		{Require, "ptxas", "no ptxas: run internal/oracles/fetch.sh"},
		{RequireCompiler, "nvcc", "no nvcc: run internal/oracles/fetch.sh --compilers"},
		{Require, "ptxas-old", "no ptxas-old: run internal/oracles/fetch.sh --compilers"},
		{Require, "g++", "no g++: install it"},
	} {
		r := &tb{TB: t}
		if test.require(r, test.tool); r.said != test.want {
			t.Errorf("%q, want %q", r.said, test.want)
		}
	}
}

func TestRequireReleaseSkipsAStandIn(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PTXLINK_ORACLES", dir)
	for _, tool := range []string{"nvlink", "ptxas", "nvdisasm"} {
		put(t, filepath.Join(dir, "bin", tool))
	}
	put(t, filepath.Join(dir, "cuda-12.4", "stand-in", "nvlink"))
	put(t, filepath.Join(dir, "cuda-12.4", "stand-in", "ptxas"))
	for tool, skips := range map[string]bool{"nvlink": true, "ptxas": false, "nvdisasm": false} {
		r := &tb{TB: t}
		RequireRelease(r, tool)
		if r.skipped != skips || r.failed {
			t.Errorf("%s: skipped %v, failed %v", tool, r.skipped, r.failed)
		}
	}
}

func TestDirAgreesWithTheScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, env := range [][3]string{
		{"/oracles", "/cache", "/home"},
		{"relative", "/cache", "/home"},
		{"", "/cache", "/home"},
		{"", "", "/home"},
	} {
		t.Setenv("PTXLINK_ORACLES", env[0])
		t.Setenv("XDG_CACHE_HOME", env[1])
		t.Setenv("HOME", env[2])
		out, err := exec.Command(bash, "fetch.sh", "--print-dir").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != Dir() {
			t.Errorf("%q: fetch.sh says %q (%v), Dir says %q", env, got, err, Dir())
		}
	}
}

// TestVersions checks that the fetched tools have the versions in their names; a
// stale cache would silently change every comparison with these tools.
func TestVersions(t *testing.T) {
	for tool, want := range map[string]string{
		"ptxas":         "release 12.4",
		"nvlink":        "release 12.4",
		"cuobjdump":     "release 12.4",
		"nvdisasm":      "release 12.4",
		"fatbinary":     "release 12.4",
		"ptxas-new":     "release 13.5",
		"nvlink-new":    "release 13.5",
		"cuobjdump-new": "release 13.5",
		"nvdisasm-new":  "release 13.5",
		"fatbinary-new": "release 13.5",
		"ptxas-old":     "release 11.8",
		"bazel":         "bazel 2.1.0",
		"bazel-new":     "bazel 7.7.1",
	} {
		t.Run(tool, func(t *testing.T) {
			path := RequireCompiler(t, tool)
			if !strings.HasPrefix(path, Dir()+string(filepath.Separator)) {
				t.Skipf("%s is the machine's own", path)
			}
			switch { // no Debian mirror; fetch.sh reported it
			case !StandsIn(tool):
			case tool == "bazel-new":
				want = "bazel 2.1.0"
			default:
				want = "release 13.5"
			}
			out, err := exec.Command(path, "--version").CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s --version: %v, want %q in:\n%s", path, err, want, out)
			}
		})
	}
}

// TestFetchOnAFreshMachine checks that fetch.sh asks Debian's non-free for CUDA on a
// machine that never ran apt-get update: apt lists no source there.
func TestFetchOnAFreshMachine(t *testing.T) {
	release, _ := os.ReadFile("/etc/os-release")
	if !strings.Contains(string(release), "\nID=debian") {
		t.Skip("not Debian")
	}
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	for name, script := range map[string]string{
		"apt-get": `case "$*" in
*indextargets*) [ -e "$2.updated" ] && echo http://mirror.invalid/debian/ trixie main ;;
*update*) touch "$2.updated"; cat "$(sed -n 's/.*SourceList "\(.*\)";/\1/p' "$2")" >>'` + asked + `' ;;
esac
exit 1`,
		"apt-cache": "exit 1", "python3": "exit 1", "pip3": "exit 1", "npm": "exit 1",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.ReadFile("fetch.sh"); err != nil { // go test reads what its cache depends on
		t.Fatal(err)
	}
	fetch := exec.Command("bash", "fetch.sh")
	fetch.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PTXLINK_ORACLES="+filepath.Join(dir, "oracles"), "PTXLINK_DEBIAN_MIRROR=")
	said, _ := fetch.CombinedOutput() // fails: these tools fetch nothing
	if list, _ := os.ReadFile(asked); !strings.Contains(string(list), "http://mirror.invalid/debian/ trixie non-free\n") {
		t.Errorf("asked for %q:\n%s", list, said)
	}
}

// TestFetchVerifies checks that fetch.sh refuses a package with another digest than the
// recorded one, and one that has none.
func TestFetchVerifies(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("fetch.sh")
	if err != nil {
		t.Fatal(err)
	}
	const (
		name  = "some_package-1.0-py3-none-any.whl"
		right = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // of "x"
		wrong = "3d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	)
	for file, text := range map[string]string{"fetch.sh": string(script), name: "x"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ digests, want string }{
		{right + "  " + name + "\n", ""},
		{right + "  other.whl\n" + right + "  " + name + "\n", ""},
		{wrong + "  " + name + "\n", "cannot fetch " + name + ": " + name + " has the SHA-256 digest " + right + ", and " + dir + "/digests records " + wrong},
		{right + "  " + name + ".other\n", "digests records none"},
		{right + "  some_package-1x0-py3-none-any.whl\n", "digests records none"},
		{"", "digests records none"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "digests"), []byte(test.digests), 0o666); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command("bash", filepath.Join(dir, "fetch.sh"), "--verify", filepath.Join(dir, name)).CombinedOutput()
		if (err == nil) != (test.want == "") || !strings.Contains(string(said), test.want) {
			t.Errorf("%q: %v %s", test.digests, err, said)
		}
	}
}

// TestDigestsOfPins checks that every package whose version fetch.sh names has a digest.
func TestDigestsOfPins(t *testing.T) {
	script, err := os.ReadFile("fetch.sh")
	if err != nil {
		t.Fatal(err)
	}
	digests, err := os.ReadFile("digests")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(digests)) {
		if !regexp.MustCompile(`^[0-9a-f]{64}  [A-Za-z0-9._-]+\n$`).MatchString(line) {
			t.Errorf("no digest and name: %q", line)
		}
	}
	pins := regexp.MustCompile(`([a-z][a-z0-9-]*)==([0-9][0-9.]*)`).FindAllStringSubmatch(string(script), -1)
	if len(pins) < 8 {
		t.Fatalf("%d pins", len(pins))
	}
	for _, pin := range pins {
		if !strings.Contains(string(digests), "  "+strings.ReplaceAll(pin[1], "-", "_")+"-"+pin[2]+"-") {
			t.Errorf("%s has no digest", pin[0])
		}
	}
	for variable, prefixes := range map[string]string{"CUDA_NEW_PIN": "nvidia_cuda_nvcc nvidia_nvvm nvidia_cuda_crt nvidia_cuda_runtime nvidia_cuda_nvrtc nvidia_cuda_cuobjdump nvidia_cuda_nvdisasm", "CUDA_OLD_PIN": "nvidia_cuda_nvcc_cu11 nvidia_cuda_runtime_cu11", "BAZEL_PIN": "bazel-bazel-linux_x64"} {
		pin := regexp.MustCompile(variable + `='([0-9.]+)`).FindStringSubmatch(string(script))
		for _, prefix := range strings.Fields(prefixes) {
			if pin == nil || !strings.Contains(string(digests), "  "+prefix+"-"+pin[1]) {
				t.Errorf("%s of %s has no digest", prefix, variable)
			}
		}
	}
}
