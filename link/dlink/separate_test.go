package dlink

import (
	"os"
	"path/filepath"
	"testing"

	"ptxlink/link"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// TestPackagesAreNotSearched checks that a package goes to the link as it is, from a file and from
// memory, and that members of another archive are looked at.
func TestPackagesAreNotSearched(t *testing.T) {
	// What ptxlink ar would refuse shows that nothing looks at the members.
	bitcode, err := os.ReadFile("../../testdata/forms/bitcode/f.bc")
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []bool{true, false} {
		data, err := container.WriteArchive([]container.ArchiveMember{{Name: "f.bc", Data: bitcode, Symbols: []string{"f"}, Record: &container.Record{Defines: []string{"f"}}}}, index)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "lib.a")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, in := range []link.Input{{Path: path}, {Name: "lib.a", Text: data}} {
			s := Separate(t.Context(), []link.Input{in}, Options{Arch: "sm_90", PTX: true}, &diag.Log{})
			if found := len(s.Bitcode.Units) > 0; found == index {
				t.Errorf("package %v: bitcode was found: %v", index, found)
			}
		}
	}
}
