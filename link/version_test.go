package link

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/ptx"
)

// TestTargetVersions asks each ptxas that knows a target whether it takes the version of
// PTX that targetVersions has, and not the one before.
func TestTargetVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("runs ptxas 100 times")
	}
	const refusal = "does not support .target"
	dir := t.TempDir()
	says := func(ptxas, target string, v ptx.Version) string {
		t.Helper()
		file := filepath.Join(dir, "k.ptx")
		text := fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n", v, target)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(ptxas, "-arch="+target, file, "-o", filepath.Join(dir, "k.cubin")).CombinedOutput()
		return string(out)
	}
	lastMinor := map[int]int{3: 2, 4: 3, 5: 0, 6: 5, 7: 8, 8: 8}
	compared := map[string]bool{}
	for _, tool := range []string{"ptxas-old", "ptxas", "ptxas-new"} {
		ptxas := oracles.Require(t, tool)
		for _, target := range slices.Sorted(maps.Keys(targetVersions)) {
			first := targetVersions[target]
			said := says(ptxas, target, first)
			if strings.Contains(said, "not defined for option") || strings.Contains(said, "is not allowed with") {
				continue // too old or too new a target for this ptxas
			}
			compared[target] = true
			if said != "" {
				t.Errorf("%s, %s with PTX %s: %s", tool, target, first, said)
			}
			before := ptx.Version{Major: first.Major, Minor: first.Minor - 1}
			if first.Minor == 0 {
				before = ptx.Version{Major: first.Major - 1, Minor: lastMinor[first.Major-1]}
			}
			if said := says(ptxas, target, before); !strings.Contains(said, refusal) {
				t.Errorf("%s, %s with PTX %s, the version before: %q", tool, target, before, said)
			}
		}
	}
	for target := range targetVersions {
		if !compared[target] && !slices.Contains(unknownTargets, target) {
			t.Errorf("no ptxas knows %s", target)
		}
	}
}

// unknownTargets are known to no ptxas of the tests. Their versions are those of the
// table of .target in the PTX ISA.
var unknownTargets = []string{"sm_20", "sm_30", "sm_32", "sm_101", "sm_101f"}
