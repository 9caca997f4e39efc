package optimize_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// assemble runs ptxas, and returns the machine code of the output; with -short, and from
// another ptxas, nothing.
func assemble(t *testing.T, ptxas, text string) (sass string) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "t.ptx"), filepath.Join(dir, "t.cubin")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if message, err := exec.Command(oracles.Require(t, ptxas), "-arch=sm_80", in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", ptxas, err, message, text)
	}
	if ptxas != "ptxas" || testing.Short() {
		return ""
	}
	code, err := exec.Command(oracles.Require(t, "cuobjdump"), "-sass", out).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(code)
}

// TestRandomPtxas checks that ptxas accepts random modules before and after.
func TestRandomPtxas(t *testing.T) {
	n := uint64(6)
	if testing.Short() {
		n = 2
	}
	for seed := range n {
		text := generate(seed + 1000)
		m, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		before := assemble(t, "ptxas", text)
		for _, o := range levels[1:3] {
			r, err := optimizeModule(m, o)
			if err != nil {
				t.Fatal(err)
			}
			after := assemble(t, "ptxas", string(r.Text))
			assemble(t, "ptxas-new", string(r.Text))
			t.Logf("module %d: %d calls, then %d", seed, strings.Count(before, "CALL."), strings.Count(after, "CALL."))
		}
	}
}
