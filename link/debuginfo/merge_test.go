package debuginfo

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// module makes a module with sections of these bytes.
func module(t testing.TB, name string, sections map[string][]byte) *Module {
	t.Helper()
	text := ".version 7.5\n.target sm_75, debug\n.address_size 64\n.file 1 \"" + name + "\"\n"
	for _, section := range []string{".debug_abbrev", ".debug_info", ".debug_loc", ".debug_macinfo", ".debug_pubnames"} {
		if data := sections[section]; data != nil {
			text += ".section " + section + " {\n"
			for _, b := range data {
				text += fmt.Sprintf(".b8 %d\n", b)
			}
			text += "}\n"
		}
	}
	var log diag.Log
	files, _, err := object.Load(context.Background(), []object.Input{{Name: name, Text: []byte(text)}}, object.Options{Jobs: 1}, &log)
	if err != nil || len(files) != 1 {
		t.Fatal(err, log.Messages)
	}
	return &Module{File: files[0], Files: map[int64]int64{1: 1}, Name: func(string) (string, Fate) { return "", Unknown }}
}

// reread reads the merged .debug_info again.
func reread(sections []Section) ([]*unit, error) {
	data := map[string]*ptx.Data{}
	for _, s := range sections {
		data[s.Name] = &ptx.Data{Name: s.Name, Bytes: s.Bytes, Fixups: s.Fixups}
	}
	units, err := readUnits(data[".debug_info"], newAbbrevReader(data[".debug_abbrev"]))
	if err != nil {
		return nil, err
	}
	return units, nil
}

// abbrevs: 1 is a unit with children, a name and a sibling reference; 2 a
// variable with a file and a reference by each width.
var abbrevs = []byte{
	1, 0x11, 1, 0x03, 0x08, 0x10, 0x06, 0, 0,
	2, 0x34, 0, 0x03, 0x08, 0x3a, 0x0b, 0x49, 0x13, 0, 0,
	3, 0x34, 0, 0x3a, 0x0f, 0x49, 0x11, 0, 0,
	4, 0x24, 0, 0x03, 0x08, 0, 0,
	0,
}

// info is one unit: base type "int", two variables of it.
func info() []byte {
	b := []byte{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1, 'u', 0, 0, 0, 0, 0}
	base := byte(len(b))
	b = append(b, 4, 'i', 'n', 't', 0)
	b = append(b, 2, 'v', 0, 1, base, 0, 0, 0)
	b = append(b, 3, 1, base)
	b = append(b, 0)
	b[0] = byte(len(b) - 4)
	return b
}

func TestMergeMovesReferences(t *testing.T) {
	a := module(t, "a.c", map[string][]byte{".debug_abbrev": abbrevs, ".debug_info": info()})
	b := module(t, "b.c", map[string][]byte{".debug_abbrev": abbrevs, ".debug_info": info()})
	b.Files[1] = 300 // outgrows data1; and ref1 becomes ref4
	var log diag.Log
	sections, kept, _ := Merge(context.Background(), []*Module{a, b}, &log)
	if len(kept) != 2 || len(log.Messages) != 0 {
		t.Fatalf("%d kept, messages %v", len(kept), log.Messages)
	}
	units, err := reread(sections)
	if err != nil || len(units) != 2 {
		t.Fatalf("%d units, %v", len(units), err)
	}
	for i, want := range []uint64{1, 300} {
		u := units[i]
		for _, d := range u.dies {
			for _, at := range d.attrs {
				switch {
				case at.at == atDeclFile && at.value != want:
					t.Errorf("unit %d: file %d, want %d", i, at.value, want)
				case isUnitRef(at.form):
					if u.off+int64(at.value) != u.dies[1].off {
						t.Errorf("unit %d: a reference leads to %d, want %d", i, at.value, u.dies[1].off-u.off)
					}
				}
			}
		}
	}
	if text := string(sections[0].Text()); !strings.HasPrefix(text, ".section .debug_abbrev\n{\n\t.b8 1, 17, 1, 3, 8, 16, 6, 0, 0, 2, 36, 0, 3, 8, 0, 0\n") {
		t.Errorf("abbreviations in order of first use:\n%s", text)
	}
}

// FuzzMerge: merging never panics, and what comes out reads as twice what went
// in.
func FuzzMerge(f *testing.F) {
	f.Add(abbrevs, info(), []byte{0}, []byte{14, 0, 0, 0, 2, 0, 0, 0, 0, 0, 37, 0, 0, 0, 18, 0, 0, 0, 'v', 0})
	f.Add([]byte{1, 0x11, 0, 0x3a, 0x16, 0, 0, 0}, []byte{9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0x0f}, []byte{3, 1, 1, 4, 0}, []byte{})
	f.Add([]byte{1, 0x11, 0, 0x3a, 0x21, 5, 0, 0, 0}, []byte{9, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1}, []byte{1, 2, 'x', 0}, []byte{})
	f.Fuzz(func(t *testing.T, abbrev, info, macinfo, pubnames []byte) {
		sections := map[string][]byte{".debug_abbrev": abbrev, ".debug_info": info, ".debug_macinfo": macinfo, ".debug_pubnames": pubnames}
		a, b := module(t, "a.c", sections), module(t, "b.c", sections)
		a.Files, b.Files = map[int64]int64{1: 1}, map[int64]int64{1: 70000, 2: 3}
		merged, kept, _ := Merge(context.Background(), []*Module{a, b}, &diag.Log{})
		if len(kept) == 0 {
			return
		}
		units, err := reread(merged)
		if err != nil {
			t.Fatalf("the merged sections do not read: %v", err)
		}
		if len(units) != 2*len(a.units) {
			t.Fatalf("%d units of %d", len(units), len(a.units))
		}
		for i, u := range units {
			from := a.units[i%len(a.units)]
			if len(u.dies) != len(from.dies) {
				t.Fatalf("unit %d has %d entries of %d", i, len(u.dies), len(from.dies))
			}
		}
	})
}
