package oracles

import (
	"os"
	"os/exec"
	"path/filepath"
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
}

func (r *tb) Helper()               {}
func (r *tb) Skipf(string, ...any)  { r.skipped = true }
func (r *tb) Fatalf(string, ...any) { r.failed = true }

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
	} {
		t.Run(tool, func(t *testing.T) {
			path := Require(t, tool)
			if !strings.HasPrefix(path, Dir()+string(filepath.Separator)) {
				t.Skipf("%s is the machine's own", path)
			}
			if StandsIn(tool) {
				want = "release 13.5" // no Debian mirror; fetch.sh reported it
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
