package resolve

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
)

// TestSyscalls asks the newest ptxas about the names in its program that look like functions of the driver: it accepts the
// names of the list as undefined, and no others.
func TestSyscalls(t *testing.T) {
	tool := oracles.RequireRelease(t, "ptxas-new")
	program, err := os.ReadFile(oracles.RequireFile(t, "cuda-13.5/bin/ptxas"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range regexp.MustCompile(`\b(?:cuda|cnp)[A-Z]\w+`).FindAll(program, -1) {
		names = append(names, string(name))
	}
	names = append(names, diag.Facts("functions of the driver")[0].Names...)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "*") })
	slices.Sort(names)
	names = slices.Compact(names)
	file := filepath.Join(t.TempDir(), "k.ptx")
	unknown := regexp.MustCompile(`Unresolved extern function '(\w+)'`)
	for { // ptxas reports one name at a time
		text := ".version 9.0\n.target sm_80\n.address_size 64\n"
		for _, name := range names {
			text += ".extern .func " + name + " ();\n"
		}
		if err := os.WriteFile(file, []byte(text+".entry k () { call "+strings.Join(names, "; call ")+"; }\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool, "-arch=sm_80", file, "-o", os.DevNull).CombinedOutput()
		found := unknown.FindSubmatch(out)
		if found == nil && err != nil {
			t.Fatalf("%v\n%s", err, out)
		} else if found == nil {
			break
		}
		name := string(found[1])
		if IsSyscall(name) {
			t.Errorf("ptxas does not know %s", name)
		}
		names = slices.DeleteFunc(names, func(other string) bool { return other == name })
	}
	for _, name := range names {
		if !IsSyscall(name) && InDeviceRuntime(name) == "" {
			t.Errorf("ptxas knows %s, which is not in the list", name)
		}
	}
}
