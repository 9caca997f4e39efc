package integrations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestPublish gives a clone a public import path, and installs the program from there by the version of
// a tag. Git stands in for the host.
func TestPublish(t *testing.T) {
	oracles.Long(t)
	dir := t.TempDir()
	readAll(t, "../internal/release/*.sh")
	source, published := filepath.Join(dir, "source"), filepath.Join(dir, "published")
	run := func(in, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off", "GOBIN="+dir, "GONOPROXY=github.com/example", "GONOSUMDB=*", "GOMODCACHE="+filepath.Join(dir, "modules"), "GOPROXY=file://"+downloads(t),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+published+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/example/ptxlink")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+w", filepath.Join(dir, "modules")).Run() })
	run("..", "sh", "-c", `mkdir "$0"; git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$0"`, source)
	run(source, "git", "init", "-q")
	run(source, "git", "config", "user.name", "Test")
	run(source, "git", "config", "user.email", "test@example.org")
	run(source, "git", "add", "-A")
	run(source, "git", "commit", "-qm", "Release")
	run(source, "git", "tag", "v0.9.0")
	run(source, "internal/release/publish.sh", "github.com/example/ptxlink", published)
	run(dir, "go", "install", "github.com/example/ptxlink/cmd/ptxlink@v0.9.0")
	if said := run(dir, filepath.Join(dir, "ptxlink"), "--version"); !strings.HasPrefix(said, "ptxlink v0.9.0 go") {
		t.Errorf("the version is %q", said)
	}
	if list := run(published, "go", "list", "-deps", "-test", "./..."); strings.Contains("\n"+list, "\nptxlink/") {
		t.Errorf("a package is imported by its old path:\n%s", list)
	}
	run(dir, filepath.Join(dir, "ptxlink"), filepath.Join(source, "testdata/ptx/example/main.ptx"), filepath.Join(source, "testdata/ptx/example/lib.ptx"), "-o", filepath.Join(dir, "out.ptx"))
}

// downloads returns the directory with what Go has downloaded, which serves as a proxy.
func downloads(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}
