package debuginfo

import (
	"context"
	"debug/dwarf"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/dies"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// module makes a module with sections of these bytes.
func module(t testing.TB, name string, sections map[string][]byte) *Module {
	t.Helper()
	var text strings.Builder
	text.WriteString(".version 7.5\n.target sm_75, debug\n.address_size 64\n.file 1 \"" + name + "\"\n")
	for _, section := range []string{".debug_abbrev", ".debug_info", ".debug_loc", ".debug_ranges", ".debug_macinfo", ".debug_pubnames", ".debug_str_offsets", ".debug_names"} {
		if data := sections[section]; data != nil {
			text.WriteString(".section " + section + " {\n")
			for _, b := range data {
				fmt.Fprintf(&text, ".b8 %d\n", b)
			}
			text.WriteString("}\n")
		}
	}
	var log diag.Log
	files, _, err := object.Load(context.Background(), []object.Input{{Name: name, Text: []byte(text.String())}}, object.Options{Jobs: 1}, &log)
	if err != nil || len(files) != 1 {
		t.Fatal(err, log.Messages)
	}
	return &Module{File: files[0], Files: map[int64]int64{1: 1}, Name: func(int32) (string, Fate) { return "", Unknown }}
}

// dataSink keeps a section as bytes and fixups.
type dataSink struct{ ptx.Data }

func (s *dataSink) bytes(b []byte) { s.Bytes = append(s.Bytes, b...) }

func (s *dataSink) address(to target) {
	s.Fixups = append(s.Fixups, ptx.Fixup{Offset: int64(len(s.Bytes)), Width: int32(to.width), Target: to.name, Name: numbered(to.name), Addend: to.addend})
	s.Bytes = append(s.Bytes, make([]byte, to.width)...)
}

// numbered returns a number for a name: -1 for a section.
func numbered(name string) int32 {
	if strings.HasPrefix(name, ".") {
		return -1
	}
	return 0
}

// mergedData is Merge with another kind of result.
func mergedData(modules []*Module, log *diag.Log) (sections []ptx.Data, kept []*Module) {
	ctx := context.Background()
	w, kept, _ := prepare(ctx, modules, 1, log)
	w.place()
	for _, name := range w.sections() {
		out := dataSink{ptx.Data{Name: name}}
		w.write(ctx, name, &out)
		sections = append(sections, out.Data)
	}
	return sections, kept
}

// textOf returns a section as Merge writes it.
func textOf(s ptx.Data) string {
	out := newTextSink(s.Name)
	at := int64(0)
	for _, f := range s.Fixups {
		out.bytes(s.Bytes[at:f.Offset])
		out.address(target{f.Target, f.Addend, int(f.Width)})
		at = f.Offset + int64(f.Width)
	}
	out.bytes(s.Bytes[at:])
	return strings.Join(out.texts(), "")
}

// addressed makes a module with fixups in its sections.
func addressed(t testing.TB, name string, sections []ptx.Data) *Module {
	t.Helper()
	text := ".version 7.5\n.target sm_75, debug\n.address_size 64\n.file 1 \"" + name + "\"\n"
	for i := range sections {
		text += textOf(sections[i])
	}
	var log diag.Log
	files, _, err := object.Load(context.Background(), []object.Input{{Name: name, Text: []byte(text)}}, object.Options{Jobs: 1}, &log)
	if err != nil || len(files) != 1 {
		t.Fatal(err, log.Messages)
	}
	return &Module{File: files[0], Files: map[int64]int64{1: 300}, Name: func(number int32) (string, Fate) {
		switch symbol := files[0].SectionNames()[number]; symbol {
		case "kept":
			return symbol, Kept
		case "gone":
			return "", Gone
		case "moved":
			return "kept", Gone
		}
		return "", Unknown
	}}
}

// reread reads the merged .debug_info again.
func reread(sections []ptx.Data) ([]*unit, error) {
	data := map[string]*ptx.Data{".debug_abbrev": {}}
	for i := range sections {
		data[sections[i].Name] = &sections[i]
	}
	units, err := readUnits(context.Background(), data[".debug_info"], dies.NewTables(data[".debug_abbrev"].Bytes))
	if err != nil {
		return nil, err
	}
	return units, nil
}

// allDies returns the DIEs of a unit.
func allDies(u *unit) (list []dies.DIE) {
	for d := u.Entries(); d.Next(); {
		entry := d.DIE
		entry.Attrs = slices.Clone(d.Attrs)
		list = append(list, entry)
	}
	return list
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
	sections, kept := mergedData([]*Module{a, b}, &log)
	if len(kept) != 2 || len(log.Messages) != 0 {
		t.Fatalf("%d kept, messages %v", len(kept), log.Messages)
	}
	units, err := reread(sections)
	if err != nil || len(units) != 2 {
		t.Fatalf("%d units, %v", len(units), err)
	}
	for i, want := range []uint64{1, 300} {
		u := units[i]
		entries := allDies(u)
		for _, d := range entries {
			for _, a := range d.Attrs {
				switch {
				case a.At == dwarf.AttrDeclFile && a.Value != want:
					t.Errorf("unit %d: file %d, want %d", i, a.Value, want)
				case a.IsUnitRef():
					if u.Off+int64(a.Value) != entries[1].Off {
						t.Errorf("unit %d: a reference leads to %d, want %d", i, a.Value, entries[1].Off-u.Off)
					}
				}
			}
		}
	}
	if text := textOf(sections[0]); !strings.HasPrefix(text, ".section .debug_abbrev\n{\n\t.b8 1, 17, 1, 3, 8, 16, 6, 0, 0, 2, 36, 0, 3, 8, 0, 0\n") {
		t.Errorf("abbreviations in order of first use:\n%s", text)
	}
}

// TestMergeCancelled: Merge gives up inside a unit, without a warning.
func TestMergeCancelled(t *testing.T) {
	for _, asked := range []int{1, 2, 3, 4, 5, 6} {
		ctx := &countdown{Context: context.Background(), left: asked}
		var log diag.Log
		_, _, err := Merge(ctx, []*Module{module(t, "a.c", map[string][]byte{".debug_abbrev": abbrevs, ".debug_info": info()})}, 1, &log)
		if err != context.Canceled || len(log.Messages) > 0 {
			t.Errorf("cancelled when asked for the %d. time: %v, messages %v", asked, err, log.Messages)
		}
	}
}

// countdown is cancelled when asked for the last time.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestMergeLines: a module that loses its DWARF, or wants lines only, keeps the
// names of inlined functions.
func TestMergeLines(t *testing.T) {
	named := func(name, more string) *Module {
		text := ".version 7.5\n.target sm_75\n.address_size 64\n.file 1 \"x\"\n.func f () { .loc 1 1 1\n .loc 1 2 1, function_name s, inlined_at 1 1 1\n ret; }\n.section .debug_str { .b8 65, 0 s: .b8 66, 0 }\n" + more
		var log diag.Log
		files, _, err := object.Load(context.Background(), []object.Input{{Name: name, Text: []byte(text)}}, object.Options{Jobs: 1}, &log)
		if err != nil || len(files) != 1 {
			t.Fatal(err, log.Messages)
		}
		return &Module{File: files[0], Files: map[int64]int64{1: 1}, Name: func(int32) (string, Fate) { return "", Unknown }}
	}
	whole := named("whole", "")
	bad := named("bad", ".section .debug_info { .b8 1 }\n")
	lines := named("lines", ".section .debug_info { .b8 1 }\n")
	lines.Lines = true
	var log diag.Log
	sections, kept := mergedData([]*Module{whole, bad, lines}, &log)
	if len(kept) != 1 || kept[0] != whole || len(log.Messages) != 1 {
		t.Errorf("%d modules kept, messages %v", len(kept), log.Messages)
	}
	if len(sections) != 1 || string(sections[0].Bytes) != "A\x00B\x00A\x00B\x00A\x00B\x00" {
		t.Errorf("sections %v", sections)
	}
	for i, m := range []*Module{whole, bad, lines} {
		want := fmt.Sprintf(".debug_str+%d", 4*i+3)
		if text, ok := m.String("s", 1); !ok || text != want {
			t.Errorf("module %d: %s, want %s", i, text, want)
		}
		if _, ok := m.String("t", 0); ok {
			t.Errorf("module %d has a label t", i)
		}
		for _, addend := range []int64{-1, 3, math.MaxInt64} {
			if text, ok := m.String("s", addend); ok {
				t.Errorf("module %d: s+%d is %s, outside its strings", i, addend, text)
			}
		}
	}
}

// TestSectionTexts checks that the parts of a long section are the text of its data.
func TestSectionTexts(t *testing.T) {
	want := ptx.Data{Name: ".debug_info"}
	for i := range 100_000 {
		if i%37 == 5 {
			f := ptx.Fixup{Offset: int64(len(want.Bytes)), Width: int32(4 + i%2*4), Target: ".debug_str", Name: -1, Addend: int64(i)}
			if i%3 == 0 {
				f.Target, f.Name, f.Addend = "kept", 0, 0
			}
			want.Fixups = append(want.Fixups, f)
			want.Bytes = append(want.Bytes, make([]byte, f.Width)...)
		}
		want.Bytes = append(want.Bytes, byte(i*i>>3))
	}
	m := addressed(t, "a.c", []ptx.Data{want, {Name: ".debug_str", Bytes: make([]byte, 100_000)}})
	got, err := m.File.SectionData(want.Name)
	if err != nil {
		t.Fatal(err.Text)
	}
	for i := range got.Fixups {
		got.Fixups[i].Span = diag.Span{}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("data (-) and what is read of its text (+):\n%s", d)
	}
	out := newTextSink(want.Name)
	out.bytes(want.Bytes)
	if parts := len(out.texts()); parts < 3 {
		t.Errorf("%d parts", parts)
	}
}

// TestMergeRefuses: what cannot be moved is dropped with a warning, the module's
// DWARF or one section, and nothing else.
func TestMergeRefuses(t *testing.T) {
	// unit is one of a DIE with an attribute.
	unit := func(version byte, value ...byte) []byte {
		return append([]byte{byte(8 + len(value)), 0, 0, 0, version, 0, 0, 0, 0, 0, 8, 1}, value...)
	}
	abbrev := func(at, form byte) []byte { return []byte{1, 0x11, 0, at, form, 0, 0, 0} }
	list := append(append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0}, 0x99, 11, 0, 0, 0), make([]byte, 16)...)
	for what, test := range map[string]struct {
		sections map[string][]byte
		dropped  string // all of the module, unless it is a section
	}{
		"operation":    {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormBlock1), ".debug_info": unit(2, 1, 0xff)}, "operation 0xff of an expression is not known at byte 13 of .debug_info"},
		"reference":    {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormBlock1), ".debug_info": unit(2, 2, 0xa8, 12)}, "an expression refers to no entry at byte 15 of .debug_info"},
		"no type":      {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormBlock1), ".debug_info": unit(2, 4, 0xa4, 0, 1, 8)}, "an expression refers to no entry at byte 15 of .debug_info"},
		"value":        {map[string][]byte{".debug_abbrev": abbrev(0x1c, dies.FormBlock1), ".debug_info": unit(2, 1, 0xff)}, ""},
		"branch":       {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormBlock1), ".debug_info": unit(2, 5, 0x2f, 1, 0, 0xa8, 11)}, "a branch of an expression leads to no operation at byte 14 of .debug_info"},
		"string":       {map[string][]byte{".debug_abbrev": abbrev(3, dies.FormStrp), ".debug_info": unit(2, 1, 0, 0, 0)}, "the module has no section .debug_str at byte 12 of .debug_info"},
		"index":        {map[string][]byte{".debug_abbrev": abbrev(3, dies.FormStrx), ".debug_info": unit(4, 1), ".debug_str_offsets": {1}}, "an attribute needs a table of DWARF 5, which cannot be merged at byte 12 of .debug_info"},
		"base":         {map[string][]byte{".debug_abbrev": abbrev(byte(dwarf.AttrStrOffsetsBase), dies.FormSecOffset), ".debug_info": unit(4, 0, 0, 0, 0), ".debug_str_offsets": {1}}, ".debug_str_offsets"},
		"unknown":      {map[string][]byte{".debug_abbrev": abbrev(0x7f, dies.FormSecOffset), ".debug_info": unit(4, 0, 0, 0, 0)}, "the section of an offset is not known at byte 12 of .debug_info"},
		"list":         {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormData4), ".debug_info": unit(2, 0, 0, 0, 0), ".debug_loc": list[:20]}, "a list does not end at byte 16 of .debug_loc"},
		"list length":  {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormData4), ".debug_info": unit(2, 0, 0, 0, 0), ".debug_loc": list[:17]}, "a list does not end at byte 16 of .debug_loc"},
		"list end":     {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormData4), ".debug_info": unit(2, 0, 0, 0, 0), ".debug_loc": append(slices.Clone(list[:16]), 0, 0)}, "a list does not end at byte 18 of .debug_loc"},
		"longer list":  {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormData4), ".debug_info": unit(2, 0, 0, 0, 0), ".debug_loc": slices.Concat(list[:16], []byte{0x80, 0x70}, slices.Repeat([]byte{0xa8, 11}, 14400), make([]byte, 16))}, "an expression becomes too long at byte 16 of .debug_loc"},
		"shared list":  {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormData4), ".debug_info": append(unit(2, 0, 0, 0, 0), unit(2, 0, 0, 0, 0)...), ".debug_loc": list}, "units share a list that refers to entries at byte 0 of .debug_loc"},
		"overlap":      {map[string][]byte{".debug_abbrev": []byte{1, 0x11, 0, 2, 6, 0x2a, 6, 0, 0, 0}, ".debug_info": unit(2, 0, 0, 0, 0, 1, 0, 0, 0), ".debug_loc": append(list, list...)}, "a list does not end"},
		"pubnames":     {map[string][]byte{".debug_abbrev": abbrev(3, dies.FormString), ".debug_info": unit(2, 'u', 0), ".debug_pubnames": {14, 0, 0, 0, 2, 0, 5, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0}}, ".debug_pubnames"},
		"names":        {map[string][]byte{".debug_abbrev": abbrev(3, dies.FormString), ".debug_info": unit(2, 'u', 0), ".debug_names": {1, 2, 3}}, ".debug_names"},
		"tables":       {map[string][]byte{".debug_abbrev": {1, 0x11, 0, 3, 8, 0, 0, 1, 0x11, 0, 3, 8, 0, 0, 0}, ".debug_info": slices.Concat(unit(2, 0), at7(unit(2, 0)), unit(2, 0))}, ""},
		"good list":    {map[string][]byte{".debug_abbrev": abbrev(2, dies.FormData4), ".debug_info": unit(2, 0, 0, 0, 0), ".debug_loc": list}, ""},
		"attribute 0":  {map[string][]byte{".debug_abbrev": abbrev(0, dies.FormFlag), ".debug_info": unit(2, '0')}, "its abbreviations: attribute 0x0 of form 0xc at byte 0 of .debug_info"},
		"form 0":       {map[string][]byte{".debug_abbrev": abbrev(3, 0), ".debug_info": unit(2, '0')}, "its abbreviations: attribute 0x3 of form 0x0 at byte 0 of .debug_info"},
		"64-bit DWARF": {map[string][]byte{".debug_abbrev": abbrev(3, dies.FormString), ".debug_info": {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}}, "64-bit DWARF at byte 4 of .debug_info"},
	} {
		var log diag.Log
		good := module(t, "good.c", map[string][]byte{".debug_abbrev": abbrevs, ".debug_info": info()})
		sections, kept := mergedData([]*Module{good, module(t, "m.c", test.sections)}, &log)
		text := ""
		for _, m := range log.Messages {
			text += m.Text
		}
		section := strings.HasPrefix(test.dropped, ".")
		if test.dropped == "" && text != "" || !strings.Contains(text, test.dropped) || section != strings.HasPrefix(text, "sections") {
			t.Errorf("%s: message %q, want %q", what, text, test.dropped)
		}
		if want := map[bool]int{true: 2, false: 1}[section || test.dropped == ""]; len(kept) != want {
			t.Errorf("%s: %d modules are kept, want %d", what, len(kept), want)
		}
		if _, err := reread(sections); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, s := range sections {
			if s.Name == test.dropped {
				t.Errorf("%s: %s is there", what, s.Name)
			}
		}
	}
}

// TestMergeFixups: the merge refuses an address that it would cut or that lies
// outside its section. The end of a dropped body disappears from an attribute that
// cannot hold 0 in as many bytes.
func TestMergeFixups(t *testing.T) {
	const constValue = 0x1c
	for what, test := range map[string]struct {
		specs   []byte // attributes and forms of a DIE
		value   []byte // of the second attribute
		fixups  []ptx.Fixup
		dropped string
		attrs   int // kept
	}{
		"kept":         {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, byte(dwarf.AttrHighpc), dies.FormAddr}, nil, []ptx.Fixup{{Offset: 12, Width: 8, Target: "kept"}, {Offset: 20, Width: 8, Target: "kept"}}, "", 2},
		"gone":         {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, byte(dwarf.AttrHighpc), dies.FormAddr}, nil, []ptx.Fixup{{Offset: 12, Width: 8, Target: "gone"}, {Offset: 20, Width: 8, Target: "gone"}}, "", 2},
		"table":        {[]byte{constValue, dies.FormData16}, nil, []ptx.Fixup{{Offset: 6, Width: 4, Target: "kept"}}, "the unit takes its abbreviations from kept", 0},
		"file":         {[]byte{constValue, dies.FormData4, byte(dwarf.AttrDeclFile), dies.FormData4, constValue, dies.FormData8}, nil, []ptx.Fixup{{Offset: 12, Width: 8, Target: "kept"}}, "the merge would cut the address kept at byte 12 of .debug_info", 0},
		"lines":        {[]byte{constValue, dies.FormData4, byte(dwarf.AttrStmtList), dies.FormSecOffset, constValue, dies.FormData8}, nil, []ptx.Fixup{{Offset: 12, Width: 8, Target: "kept"}}, "the merge would cut the address kept at byte 12 of .debug_info", 0},
		"outside":      {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, constValue, dies.FormData8}, nil, []ptx.Fixup{{Offset: 20, Width: 8, Target: ".debug_info", Name: -1, Addend: 29}}, ".debug_info+29 lies outside its section", 0},
		"its end":      {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, constValue, dies.FormData8}, nil, []ptx.Fixup{{Offset: 20, Width: 8, Target: ".debug_info", Name: -1, Addend: 28}}, "", 2},
		"second start": {[]byte{byte(dwarf.AttrLowpc), dies.FormUdata, byte(dwarf.AttrLowpc), dies.FormAddr, constValue, dies.FormData4, constValue, dies.FormData2, constValue, dies.FormData1}, nil, []ptx.Fixup{{Offset: 13, Width: 8, Target: "moved"}}, "", 5},
		"LEB128":       {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, byte(dwarf.AttrHighpc), dies.FormAddrx, constValue, dies.FormData4, constValue, dies.FormData2}, []byte{0x80, 0}, []ptx.Fixup{{Offset: 12, Width: 8, Target: "gone"}}, "", 3},
		"block":        {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, byte(dwarf.AttrHighpc), dies.FormBlock1, constValue, dies.FormData4}, []byte{3}, []ptx.Fixup{{Offset: 12, Width: 8, Target: "gone"}}, "", 2},
		"string":       {[]byte{byte(dwarf.AttrLowpc), dies.FormAddr, byte(dwarf.AttrHighpc), dies.FormString, constValue, dies.FormData4}, []byte{'a', 'b', 'c', 0}, []ptx.Fixup{{Offset: 12, Width: 8, Target: "gone"}}, "", 2},
	} {
		abbrev := append(append([]byte{1, 0x11, 0}, test.specs...), 0, 0, 0)
		info := append([]byte{24, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, make([]byte, 16)...)
		copy(info[20:], test.value)
		m := addressed(t, "m.c", []ptx.Data{{Name: ".debug_abbrev", Bytes: abbrev}, {Name: ".debug_info", Bytes: info, Fixups: test.fixups}})
		var log diag.Log
		sections, kept := mergedData([]*Module{m}, &log)
		text := ""
		for _, m := range log.Messages {
			text += m.Text
		}
		if (test.dropped == "") != (text == "") || !strings.Contains(text, test.dropped) {
			t.Errorf("%s: message %q, want %q", what, text, test.dropped)
		}
		if len(kept) == 0 {
			continue
		}
		if err := checkFixups(sections); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		units, err := reread(sections)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if entries := allDies(units[0]); len(entries) != 1 || len(entries[0].Attrs) != test.attrs {
			t.Errorf("%s: %d entries, the first with %d attributes, want %d", what, len(entries), len(entries[0].Attrs), test.attrs)
		}
	}
}

// at7 gives a unit the abbreviations at byte 7.
func at7(unit []byte) []byte {
	unit[6] = 7
	return unit
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
		merged, kept := mergedData([]*Module{a, b}, &diag.Log{})
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
		bytes := map[string][]byte{}
		for _, s := range merged {
			bytes[s.Name] = s.Bytes
		}
		for i, u := range units {
			m := []*Module{a, b}[i/len(a.units)]
			from := m.units[i%len(a.units)]
			old, entries := allDies(from), allDies(u)
			if len(entries) != len(old) {
				t.Fatalf("unit %d has %d entries of %d", i, len(entries), len(old))
			}
			for k := range entries {
				if err := sameDIE(m, from, u, old, entries, k, m.sections[from.Section].Bytes, bytes[u.Section]); err != nil {
					t.Fatalf("entry %d of unit %d: %v", k, i, err)
				}
			}
		}
	})
}

// sameDIE checks that entry k of a merged unit, u, has the tag and the values of the
// entry that it was. It does not compare expressions and section offsets.
func sameDIE(m *Module, from, u *unit, oldDies, entries []dies.DIE, k int, before, after []byte) error {
	old, d := &oldDies[k], &entries[k]
	if old.Abbrev == nil || d.Abbrev == nil {
		if old.Abbrev != d.Abbrev {
			return fmt.Errorf("one ends a list, the other does not")
		}
		return nil
	}
	if d.Abbrev.Tag != old.Abbrev.Tag || d.Abbrev.Children != old.Abbrev.Children || len(d.Attrs) != len(old.Attrs) {
		return fmt.Errorf("tag %x, children %d, %d attributes; was tag %x, children %d, %d attributes",
			d.Abbrev.Tag, d.Abbrev.Children, len(d.Attrs), old.Abbrev.Tag, old.Abbrev.Children, len(old.Attrs))
	}
	dieAt := func(u *unit, list []dies.DIE, off uint64) int {
		return slices.IndexFunc(list, func(d dies.DIE) bool { return d.Off == u.Off+int64(off) })
	}
	for i := range d.Attrs {
		a, was := &d.Attrs[i], &old.Attrs[i]
		same := true
		switch {
		case was.IsUnitRef():
			same = dieAt(u, entries, a.Value) == dieAt(from, oldDies, was.Value)
		case was.IsConstant() && (was.At == dwarf.AttrDeclFile || was.At == dwarf.AttrCallFile):
			same = a.Value == uint64(m.Files[int64(was.Value)])
		case isExpression(was), was.Form == dies.FormStrp, was.Form == dies.FormLineStrp, was.Form == dies.FormRefAddr, isOffset(was, u.Version) && sectionOf(was.At, u.Version) != "":
		default:
			same = a.Form == was.Form && a.Value == was.Value && string(after[a.Off:a.End]) == string(before[was.Off:was.End])
		}
		if a.At != was.At || !same {
			return fmt.Errorf("attribute %x, form %x, value %d; was %x, form %x, value %d", a.At, a.Form, a.Value, was.At, was.Form, was.Value)
		}
	}
	return nil
}

// FuzzMergeLists does the same for the sections that FuzzMerge leaves out, with
// names that are kept and names that are gone.
func FuzzMergeLists(f *testing.F) {
	loc := append(append(make([]byte, 8), 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x30, 0xa8, 14), make([]byte, 16)...)
	f.Add([]byte{1, 0x11, 1, 0x03, 0x08, 0, 0, 4, 0x24, 0, 0x03, 0x08, 0, 0, 2, 0x34, 0, 2, 6, 0, 0, 3, 0x34, 0, 2, 10, 0, 0, 0},
		[]byte{29, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1, 'u', 0, 4, 'i', 'n', 't', 0, 2, 0, 0, 0, 0, 3, 6, 0x98, 14, 0, 0x2f, 0, 0, 0},
		[]byte{}, loc, []byte{0, 1}, []byte{})
	f.Add([]byte{1, 0x11, 0, 0x55, 6, 0x11, 1, 0x12, 1, 0, 0, 2, 0x41, 0, 0, 0, 0}, append([]byte{28, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, make([]byte, 20)...),
		[]byte{20, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 23, 0, 0, 0, 2}, []byte{}, make([]byte, 48),
		append([]byte{44, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0}, make([]byte, 32)...))
	f.Fuzz(func(t *testing.T, abbrev, info, types, loc, ranges, aranges []byte) {
		sections := []ptx.Data{{Name: ".debug_abbrev", Bytes: abbrev}, {Name: ".debug_info", Bytes: info}, {Name: ".debug_types", Bytes: types},
			{Name: ".debug_loc", Bytes: loc}, {Name: ".debug_ranges", Bytes: ranges}, {Name: ".debug_aranges", Bytes: aranges}}
		for i := range sections[1:] {
			sections[i+1].Fixups = fuzzFixups(sections[i+1].Bytes)
		}
		modules := []*Module{addressed(t, "a.c", sections), addressed(t, "b.c", sections)}
		merged, kept := mergedData(modules, &diag.Log{})
		if len(kept) == 0 {
			return
		}
		if err := checkFixups(merged); err != nil {
			t.Fatal(err)
		}
		units, err := reread(merged)
		if err != nil {
			t.Fatalf("the merged sections do not read: %v", err)
		}
		if want := 2 * len(modules[0].units); len(units) != want {
			t.Fatalf("%d units, want %d", len(units), want)
		}
	})
}

// fuzzFixups turns some bytes into fixups that start there: of a kept name, of one
// that is gone, and of a place in another section.
func fuzzFixups(b []byte) (fixups []ptx.Fixup) {
	for at := 0; at < len(b); {
		f := ptx.Fixup{Offset: int64(at), Width: 8}
		switch b[at] {
		case 170, 171:
			f.Target = "kept"
		case 187, 188:
			f.Target = "gone"
		case 204, 205:
			f.Target, f.Name = ".debug_info", -1
		case 221, 222:
			f.Target, f.Name = ".debug_loc", -1
		}
		if b[at]%17 == 1 { // 171, 188, 205, 222
			f.Width = 4
		}
		if f.Target == "" || at+int(f.Width) > len(b) {
			at++
			continue
		}
		if f.Name < 0 {
			f.Addend = int64(b[at+1])
		}
		fixups = append(fixups, f)
		at += int(f.Width)
	}
	return fixups
}

// checkFixups checks that the fixups of merged sections are addresses that PTX can
// write, one after the other.
func checkFixups(merged []ptx.Data) error {
	for _, s := range merged {
		at := int64(0)
		for _, f := range s.Fixups {
			if f.Offset < at || f.Width != 4 && f.Width != 8 || f.Addend < 0 || f.Target == "" {
				return fmt.Errorf("%s: the fixup %s of %d bytes at byte %d, where byte %d is the next", s.Name, f, f.Width, f.Offset, at)
			}
			at = f.Offset + int64(f.Width)
		}
		if at > int64(len(s.Bytes)) {
			return fmt.Errorf("%s: a fixup ends at byte %d of %d", s.Name, at, len(s.Bytes))
		}
	}
	return nil
}
