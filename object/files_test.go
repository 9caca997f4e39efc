package object_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ptxlink/link"
	"ptxlink/link/pack"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// makePackage writes a package of one module, which defines a function.
func makePackage(t *testing.T, path, function string) {
	t.Helper()
	text := fmt.Appendf(nil, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func %s() { ret; }\n", function)
	p, err := pack.Make(t.Context(), pack.Options{Inputs: []link.Input{{Name: "m.ptx", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, p.Data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestPackagesReplaced checks that the members of a package are those that it had when it
// was opened, whatever becomes of the file.
func TestPackagesReplaced(t *testing.T) {
	for what, replace := range map[string]func(path string){
		"replaced": func(path string) { makePackage(t, path+".new", "g"); os.Rename(path+".new", path) },
		"deleted":  func(path string) { os.Remove(path) },
	} {
		path := filepath.Join(t.TempDir(), "l.a")
		makePackage(t, path, "f")
		var log diag.Log
		set, err := object.Open(t.Context(), []object.Input{{Path: path}}, object.Options{}, &log)
		if err != nil || len(set.Units) != 1 || !set.Units[0].Lazy || set.Units[0].File != nil {
			t.Fatalf("%v; %d units", err, len(set.Units))
		}
		replace(path)
		if err := set.Read(t.Context(), set.Units, &log); err != nil || set.Distrusted(&log) != nil || len(log.Messages) > 0 {
			t.Fatalf("%s: %v, %v", what, err, log.Messages)
		}
		if f := set.Units[0].File; f == nil || !slices.Contains(f.Names, "f") {
			t.Errorf("%s: read %v", what, f)
		}
	}
}
