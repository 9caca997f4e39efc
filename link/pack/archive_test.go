package pack_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ptxlink/link"
	"ptxlink/link/pack"
)

// TestArchiveOfForeignObjects checks that an object of a compiler is not treated as
// a member of an nv package: it is neither replaced nor found by the name of a PTX
// file.
func TestArchiveOfForeignObjects(t *testing.T) {
	object, err := os.ReadFile(filepath.Join("..", "..", "testdata", "forms", "nvcc", "alpha.o"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := pack.ReadArchive("lib.a", archive("k.o", string(object)))
	if err != nil {
		t.Fatal(err)
	}
	if format := a.Format(); format != "" {
		t.Errorf("format %q", format)
	}
	if a.Find("k.ptx") != -1 || a.Find("k") != -1 || a.Find("k.o") != 0 {
		t.Errorf("k.ptx is member %d, k %d, k.o %d", a.Find("k.ptx"), a.Find("k"), a.Find("k.o"))
	}
	if _, _, _, err := a.Add(t.Context(), pack.Options{Inputs: []link.Input{{Name: "k.ptx", Text: []byte(top + ".visible .func k () { ret; }\n")}}}, true); err != nil {
		t.Fatal(err)
	}
	data, _, err := a.Bytes(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	a, err = pack.ReadArchive("lib.a", data)
	if err != nil || len(a.Members) != 2 || a.Members[0].Name != "k.o" || string(a.Members[0].Data) != string(object) || a.Members[1].Name != "k.ptx" {
		t.Errorf("%v, %d members", err, len(a.Members))
	}
}

// TestArchiveKeepsForeignObjects checks the reverse: an object made for an nv
// package does not replace one of a compiler.
func TestArchiveKeepsForeignObjects(t *testing.T) {
	object, err := os.ReadFile(filepath.Join("..", "..", "testdata", "forms", "nvcc", "alpha.o"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := pack.ReadArchive("lib.a", archive("k.o", string(object)))
	if err != nil {
		t.Fatal(err)
	}
	in := pack.Options{Format: pack.NV, Inputs: []link.Input{{Name: "k.ptx", Text: []byte(top + ".visible .func k () { ret; }\n")}}}
	for range 2 { // the second time it takes its own place
		added, _, _, err := a.Add(t.Context(), in, true)
		if err != nil || !slices.Equal(added, []string{"k-2.o"}) {
			t.Fatal(added, err)
		}
	}
	if len(a.Members) != 2 || string(a.Members[0].Data) != string(object) {
		t.Errorf("%d members", len(a.Members))
	}
}
