package ptx

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestSpecialRegisters asks the newest ptxas about the special registers: it knows all of the list, and no other name
// that its program contains.
func TestSpecialRegisters(t *testing.T) {
	tool := oracles.RequireRelease(t, "ptxas-new")
	program, err := os.ReadFile(filepath.Join(oracles.Dir(), "cuda-13.5", "bin", "ptxas"))
	if err != nil {
		t.Fatal(err)
	}
	names := maps.Clone(specialRegisters())
	for _, name := range regexp.MustCompile(`%[a-z_][a-z_0-9]{2,}`).FindAll(program, -1) {
		names[string(name)] = names[string(name)]
	}
	text := fmt.Sprintf(".version %s\n.target sm_100\n.address_size 64\n.entry k() {\n.reg .b32 r;\n", newestVersion)
	var list []string
	for name := range names {
		list = append(list, name)
		text += "mov.u32 r, " + name + ";\n"
	}
	file := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(file, []byte(text+"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(tool, "-arch=sm_100", file, "-o", os.DevNull).CombinedOutput()
	for _, name := range list {
		if unknown := strings.Contains(string(out), "Unknown symbol '"+name+"'"); unknown == specialRegisters()[name] {
			t.Errorf("%s is in the list: %v; ptxas knows it: %v", name, !unknown, unknown)
		}
	}
	later := Version{newestVersion.Major, newestVersion.Minor + 1}
	if err := os.WriteFile(file, []byte(strings.Replace(text+"}\n", newestVersion.String(), later.String(), 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ := exec.Command(tool, "-arch=sm_100", file, "-o", os.DevNull).CombinedOutput(); !strings.Contains(string(out), "current version is '"+newestVersion.String()+"'") {
		t.Errorf("the newest version is not %s: %.200s", newestVersion, out)
	}
}
