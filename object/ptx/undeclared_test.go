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
	"ptxlink/object/diag"
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

// TestDeclaredTypes asks the newest ptxas which types declarations can have.
func TestDeclaredTypes(t *testing.T) {
	tool := oracles.RequireRelease(t, "ptxas-new")
	file := filepath.Join(t.TempDir(), "k.ptx")
	places := []string{".global %s x[2];", ".const %s x;", ".func f(.param %s x[2]) { ret; }", ".func (.param %s x[2]) f() { ret; }", ".entry k(.param %s x) { ret; }",
		".entry k() { .reg %s x; ret; }", ".entry k() { .local %s x[2]; ret; }", ".entry k() { .param %s x; ret; }"}
	for _, word := range strings.Fields(`.b8 .u8 .s8 .b16 .u16 .s16 .b32 .u32 .s32 .b64 .u64 .s64 .f16 .f32 .f64 .pred .f16x2 .b128 .bf16 .bf16x2 .tf32 .e4m3 .e5m2
		.e4m3x2 .e5m2x2 .e2m1 .e2m1x2 .e2m3 .e3m2 .ue8m0 .ue8m0x2 .u16x2 .s16x2 .f32x2 .u128 .s128 .f128 .b1 .u2 .s4 .f8 .b256 .b1024 .u8x4 .e4m3x4 .b4x16 .foo`) {
		for i, place := range places {
			if TypeSize(word) == 0 && i > 0 {
				break
			}
			text := fmt.Sprintf(".version %s\n.target sm_100a\n.address_size 64\n"+place+"\n", newestVersion, word)
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(tool, "-c", "-arch=sm_100a", file, "-o", os.DevNull).CombinedOutput()
			allocation := strings.Contains(string(out), "cannot be allocated in .param") // .f16x2: of the place, not of the type
			if _, fault := Parse(&diag.Source{Text: []byte(text)}); (fault != nil) != (err != nil) && !allocation {
				t.Errorf("%s in %q: Parse returns %v, ptxas prints %s", word, place, fault, out)
			}
		}
	}
}
