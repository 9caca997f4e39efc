package integrations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestPython builds the wheel, installs it in a bare virtual environment, and runs the tests
// of the package there: in threads, after fork, and in other processes.
func TestPython(t *testing.T) {
	oracles.Long(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("no python3")
	}
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PTXLINK=", "PYTHONPATH=", "SOURCE_DATE_EPOCH=1000000000", "PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1")
		if example, err := filepath.Abs("../testdata/ptx/example"); err == nil {
			cmd.Env = append(cmd.Env, "PTXLINK_EXAMPLE="+example)
		}
		cmd.Env = append(cmd.Env, "PTXLINK_PTXAS="+oracles.Require(t, "ptxas"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, glob := range []string{"python/*/*.py", "../internal/release/wheel.sh", "../docs/python.md"} {
		readAll(t, glob)
	}
	run("go", "build", "-C", here, "-tags", "urfave_cli_no_docs", "-o", filepath.Join(dir, "ptxlink"), "ptxlink/cmd/ptxlink")
	run("go", "build", "-C", here, "-o", filepath.Join(dir, "zip"), "ptxlink/internal/release/zip")
	for _, out := range []string{"first", "second"} {
		run("mkdir", out)
		run(filepath.Join(here, "../internal/release/wheel.sh"), filepath.Join(dir, "ptxlink"), "1.2.3", "linux", "amd64", filepath.Join(dir, out), filepath.Join(dir, "zip"))
	}
	wheel := "ptxlink-1.2.3-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl"
	run("cmp", "first/"+wheel, "second/"+wheel)
	run("mkdir", "third")
	run(filepath.Join(here, "../internal/release/wheel.sh"), filepath.Join(dir, "ptxlink"), "1.2.3-rc.1", "linux", "amd64", filepath.Join(dir, "third"), filepath.Join(dir, "zip"))
	run("test", "-e", "third/"+strings.Replace(wheel, "1.2.3", "1.2.3rc1", 1))
	run(python, "-m", "venv", "venv")
	run("venv/bin/pip", "install", "-q", "--no-index", "first/"+wheel)
	run("venv/bin/ptxlink", "--version")
	run("venv/bin/python", "-m", "ptxlink", "--version")
	run("venv/bin/python", "-c", "import ptxlink; assert ptxlink.__version__ == '1.2.3', ptxlink.__version__")
	run("venv/bin/python", "-W", "error", "-m", "unittest", "discover", "-q", "-s", filepath.Join(here, "python/tests"))
	// Beside NVIDIA's packages, as numba-cuda has them.
	run("env", "PYTHONPATH="+filepath.Join(here, "python"), "PTXLINK="+filepath.Join(dir, "ptxlink"), oracles.RequireCompiler(t, "python-numba"), filepath.Join(here, "python/tests/test_cuda_core.py"))
}
