package object

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestFamilies asks the newest ptxas which of its GPUs run each f target.
func TestFamilies(t *testing.T) {
	oracles.Long(t) // runs ptxas 40 times
	ptxas := oracles.Require(t, "ptxas-new")
	list, err := exec.Command(ptxas, "--list-arch").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "k.ptx")
	for target := range strings.FieldsSeq(string(list)) {
		if len(target) < 3 { // before sm_100
			continue
		}
		if err := os.WriteFile(file, []byte(".version 9.4\n.target sm_"+target+"f\n.entry k () { }\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		of, _ := ParseGPU("sm_" + target + "f")
		for gpu := range strings.FieldsSeq(string(list)) {
			g, _ := ParseGPU("sm_" + gpu)
			out, err := exec.Command(ptxas, "-arch="+g.String(), file, "-o", os.DevNull).CombinedOutput()
			if g.Runs(of) != (err == nil) {
				t.Errorf("%s on %s: %v, ptxas says %s", of, g, g.Runs(of), fmt.Sprint(err, string(out)))
			}
		}
	}
}

func TestRunsCubin(t *testing.T) {
	for _, test := range []struct {
		gpu, cubin string
		want       bool
	}{
		{"sm_80", "sm_80", true},
		{"sm_86", "sm_80", true},
		{"sm_80", "sm_86", false},
		{"sm_90", "sm_89", false},
		{"sm_90a", "sm_90a", true},
		{"sm_90a", "sm_90", true},
		{"sm_90", "sm_90a", false},
		{"sm_103", "sm_100f", true},
		{"sm_100", "sm_103f", false},
		{"sm_120", "sm_110", false},
	} {
		gpu, _ := ParseGPU(test.gpu)
		cubin, _ := ParseGPU(test.cubin)
		if got := gpu.RunsCubin(cubin); got != test.want {
			t.Errorf("%s runs a cubin for %s: %v", test.gpu, test.cubin, got)
		}
	}
	if (GPU{120, 0}).Runs(GPU{103, 'f'}) {
		t.Error("sm_120 runs PTX for sm_103f, of another family")
	}
}
