package debuginfo

import (
	"context"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/dies"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// TestMergeRandom merges random modules. It compares the contents of the merged
// sections with those of each module, as read by Go's DWARF reader and the small
// readers below.
func TestMergeRandom(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	seen := map[string]int{}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 9))
		modules := make([]*Module, 1+r.IntN(3))
		var want []string
		for i := range modules {
			g := &generator{Rand: r, files: 1 + r.IntN(3)}
			m := g.module(t, fmt.Sprintf("%d.c", i))
			m.Files = map[int64]int64{}
			for k := range g.files {
				m.Files[int64(k+1)] = int64(1 + r.IntN([]int{100, 300, 70000}[r.IntN(3)]))
			}
			tag := fmt.Sprintf("$%d", i)
			m.Name = func(number int32) (string, Fate) {
				symbol := m.File.SectionNames()[number]
				switch {
				case strings.HasPrefix(symbol, "gone"):
					return "", Gone
				case strings.HasPrefix(symbol, "moved"):
					return "kept" + tag, Gone
				}
				return symbol + tag, Kept
			}
			sections, err := m.File.AllSections()
			if err != nil {
				t.Fatalf("seed %d: %s", seed, err.Text)
			}
			want = append(want, (&reading{t: t, sections: sections, module: m, count: seen}).all()...)
			modules[i] = m
		}
		var log diag.Log
		merged, kept := mergedData(modules, &log)
		if len(kept) != len(modules) {
			t.Fatalf("seed %d: %d of %d modules are kept: %v", seed, len(kept), len(modules), log.Messages[0].Text)
		}
		sections := map[string]*ptx.Data{}
		for i := range merged {
			sections[merged[i].Name] = &merged[i]
		}
		got := (&reading{t: t, sections: sections, count: map[string]int{}}).all()
		slices.Sort(want) // .debug_types of all modules stands behind .debug_info of all
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: modules (-) and merged (+):\n%s", seed, d)
		}
	}
	for _, kind := range []string{"decl_file", "call_file", "reference", "type unit", "tombstone", "unit at kept", "list entry", "range", "pubname",
		"DW_OP 98", "DW_OP 99", "DW_OP 9a", "DW_OP a0", "DW_OP a3", "DW_OP a4", "DW_OP a5", "DW_OP a6", "DW_OP a8", "DW_OP f9", "DW_OP 2f"} {
		if seen[kind] == 0 {
			t.Errorf("no %s was tried", kind)
		}
	}
}

// generator writes a random module.
type generator struct {
	*rand.Rand
	files   int
	text    strings.Builder
	units   []*testUnit
	abbrevs []byte
	codes   int
	loc     testBytes
	ranges  testBytes
	labels  int
}

// testBytes is a section under construction.
type testBytes struct {
	bytes  []byte
	fixups []ptx.Fixup
}

func (b *testBytes) fixup(width int, target string, addend int64) {
	b.fixups = append(b.fixups, ptx.Fixup{Offset: int64(len(b.bytes)), Width: int32(width), Target: target, Name: numbered(target), Addend: addend})
	b.bytes = append(b.bytes, make([]byte, width)...)
}

func (b *testBytes) append(bytes ...byte) { b.bytes = append(b.bytes, bytes...) }

// testUnit has its DIEs at fixed distances: each takes dieSize bytes and is padded
// with a string.
type testUnit struct {
	version int
	typ     bool
	at      int64
	dies    int
	header  int64
}

const dieSize = 400

func (u *testUnit) die(i int) int64 { return u.header + int64(i)*dieSize }

func (u *testUnit) size() int64 { return u.die(u.dies) + 1 }

func (g *generator) module(t *testing.T, name string) *Module {
	var info, types testBytes
	at := map[bool]int64{}
	for i := range 1 + g.IntN(3) {
		u := &testUnit{version: 2 + g.IntN(4), dies: 2 + g.IntN(6), header: 11}
		u.typ = i > 0 && u.version >= 4 && g.IntN(4) == 0 // Go wants a .debug_info
		if u.version == 5 {
			u.header++
		}
		if u.typ {
			u.header += 12
		}
		inTypes := u.typ && u.version == 4
		u.at = at[inTypes]
		at[inTypes] += u.size()
		g.units = append(g.units, u)
	}
	for i := range g.units {
		if u := g.units[i]; u.typ && u.version == 4 {
			g.unit(&types, u)
		} else {
			g.unit(&info, u)
		}
	}
	var pubnames testBytes
	for _, u := range g.units {
		if u.typ || g.IntN(2) == 0 {
			continue
		}
		from := len(pubnames.bytes)
		pubnames.append(0, 0, 0, 0, 2, 0)
		if u.at == 0 {
			pubnames.fixup(4, ".debug_info", 0)
		} else {
			pubnames.bytes = appendUint(pubnames.bytes, uint64(u.at), 4)
		}
		pubnames.bytes = appendUint(pubnames.bytes, uint64(u.size()), 4)
		for i := range u.dies {
			pubnames.bytes = appendUint(pubnames.bytes, uint64(u.die(i)), 4)
			pubnames.append([]byte(fmt.Sprintf("die%d\x00", i))...)
		}
		pubnames.append(0, 0, 0, 0)
		binary.LittleEndian.PutUint32(pubnames.bytes[from:], uint32(len(pubnames.bytes)-from-4))
	}
	fmt.Fprintf(&g.text, ".version 7.5\n.target sm_75, debug\n.address_size 64\n.file 1 %q\n", name)
	for _, s := range []struct {
		name string
		data testBytes
	}{
		{".debug_abbrev", testBytes{bytes: append(g.abbrevs, 0)}}, {".debug_info", info}, {".debug_types", types},
		{".debug_loc", g.loc}, {".debug_ranges", g.ranges}, {".debug_pubnames", pubnames},
	} {
		if len(s.data.bytes) > 0 {
			g.text.WriteString(textOf(ptx.Data{Name: s.name, Bytes: s.data.bytes, Fixups: s.data.fixups}))
		}
	}
	var log diag.Log
	files, _, err := object.Load(context.Background(), []object.Input{{Name: name, Text: []byte(g.text.String())}}, object.Options{Jobs: 1}, &log)
	if err != nil || len(files) != 1 {
		t.Fatal(err, log.Messages)
	}
	return &Module{File: files[0]}
}

func (g *generator) unit(b *testBytes, u *testUnit) {
	b.bytes = appendUint(b.bytes, uint64(u.size()-4), 4)
	b.append(byte(u.version), 0)
	abbrevs := func() {
		if g.IntN(2) == 0 {
			b.fixup(4, ".debug_abbrev", 0)
		} else {
			b.append(0, 0, 0, 0)
		}
	}
	if u.version == 5 {
		kind := byte(1)
		if u.typ {
			kind = 2
		}
		b.append(kind, 8)
		abbrevs()
	} else {
		abbrevs()
		b.append(8)
	}
	if u.typ {
		b.bytes = appendUint(b.bytes, g.Uint64(), 8)
		b.bytes = appendUint(b.bytes, uint64(u.die(1+g.IntN(u.dies-1))), 4)
	}
	for i := range u.dies {
		g.die(b, u, i)
	}
	b.append(0)
}

// die writes DIE i of a unit: DIE 0 is the unit, the others are its children.
func (g *generator) die(b *testBytes, u *testUnit, i int) {
	from := len(b.bytes)
	g.codes += 1 + g.IntN(20)
	b.bytes = binary.AppendUvarint(b.bytes, uint64(g.codes))
	tag, children := uint64([]int{0x2e, 0x34, 0x13, 0x0b}[g.IntN(4)]), byte(0)
	if i == 0 {
		tag, children = 0x11, 1
		if u.typ {
			tag = 0x41
		}
	}
	abbrev := append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(g.codes)), tag), children)
	for _, k := range g.Perm(12)[:1+g.IntN(8)] {
		at, form, tail := g.attribute(b, u, k)
		if at == 0 {
			continue
		}
		abbrev = binary.AppendUvarint(abbrev, uint64(at))
		if form != dies.FormImplicit && g.IntN(8) == 0 && tail == nil {
			// The form precedes the value, which is written already.
			abbrev = append(abbrev, dies.FormIndirect)
			tail = []byte{}
			g.indirect(b, from, form)
		} else {
			abbrev = binary.AppendUvarint(abbrev, form)
		}
		abbrev = append(abbrev, tail...)
	}
	abbrev = binary.AppendUvarint(binary.AppendUvarint(abbrev, 0x03), dies.FormString)
	g.abbrevs = append(append(g.abbrevs, abbrev...), 0, 0)
	fill := dieSize - (len(b.bytes) - from) - 1
	if fill < 0 {
		panic("the DIE is too large")
	}
	b.append([]byte(strings.Repeat("x", fill))...)
	b.append(0)
}

// last is the offset of the value of the current attribute.
var last int

func (g *generator) indirect(b *testBytes, _ int, form uint64) {
	b.bytes = slices.Insert(b.bytes, last, byte(form))
	for i := range b.fixups {
		if b.fixups[i].Offset >= int64(last) {
			b.fixups[i].Offset++
		}
	}
}

func (g *generator) attribute(b *testBytes, u *testUnit, k int) (at dwarf.Attr, form uint64, tail []byte) {
	last = len(b.bytes)
	target := uint64(u.die(g.IntN(u.dies)))
	switch k {
	case 0, 1: // files
		at = []dwarf.Attr{dwarf.AttrDeclFile, dwarf.AttrCallFile}[k]
		n := uint64(g.IntN(g.files + 1))
		switch form = []uint64{dies.FormData1, dies.FormData2, dies.FormData4, dies.FormData8, dies.FormSdata, dies.FormUdata, dies.FormImplicit}[g.IntN(7)]; form {
		case dies.FormData1:
			b.append(byte(n))
		case dies.FormData2:
			b.bytes = appendUint(b.bytes, n, 2)
		case dies.FormData4:
			b.bytes = appendUint(b.bytes, n, 4)
		case dies.FormData8:
			b.bytes = appendUint(b.bytes, n, 8)
		case dies.FormSdata:
			b.bytes = appendSleb(b.bytes, int64(n))
		case dies.FormUdata:
			b.bytes = binary.AppendUvarint(b.bytes, n)
		default:
			tail = appendSleb(nil, int64(n))
		}
	case 2, 3: // references
		at = []dwarf.Attr{dwarf.AttrType, dwarf.AttrAbstractOrigin}[k-2]
		switch form = []uint64{dies.FormRef1, dies.FormRef2, dies.FormRef4, dies.FormRef8, dies.FormRefUdata}[g.IntN(5)]; form {
		case dies.FormRef1:
			if target > 0xff {
				target = uint64(u.die(0))
			}
			b.append(byte(target))
		case dies.FormRef2:
			b.bytes = appendUint(b.bytes, target, 2)
		case dies.FormRef4:
			b.bytes = appendUint(b.bytes, target, 4)
		case dies.FormRef8:
			b.bytes = appendUint(b.bytes, target, 8)
		case dies.FormRefUdata:
			b.bytes = binary.AppendUvarint(b.bytes, target)
		}
	case 4: // a reference to any unit
		at, form = 0x47, dies.FormRefAddr
		to := g.units[g.IntN(len(g.units))]
		if to.typ && to.version == 4 {
			return 0, 0, nil
		}
		g.info(b, u, to.at+to.die(g.IntN(to.dies)))
	case 5, 6: // expressions
		at = []dwarf.Attr{dwarf.AttrLocation, dwarf.AttrFrameBase}[k-5]
		x := g.expression(u, 0)
		form = dies.FormExprloc
		if u.version < 4 {
			form = []uint64{dies.FormBlock, dies.FormBlock1, dies.FormBlock2, dies.FormBlock4}[g.IntN(4)]
		}
		switch form {
		case dies.FormBlock1:
			b.append(byte(len(x.bytes)))
		case dies.FormBlock2:
			b.bytes = appendUint(b.bytes, uint64(len(x.bytes)), 2)
		case dies.FormBlock4:
			b.bytes = appendUint(b.bytes, uint64(len(x.bytes)), 4)
		default:
			b.bytes = binary.AppendUvarint(b.bytes, uint64(len(x.bytes)))
		}
		b.join(x)
	case 7: // a block that is not an expression
		at, form = 0x1c, dies.FormBlock1
		b.append(4, 0x98, 1, 0xa8, 2)
	case 8:
		return g.bounds(b, u)
	case 9:
		return g.list(b, u)
	case 10:
		if u.version == 5 {
			return 0, 0, nil
		}
		at = dwarf.AttrRanges
		form = g.offset(b, u, ".debug_ranges", len(g.ranges.bytes))
		for range g.IntN(4) {
			g.ranges.fixup(8, g.label(), 0)
			g.ranges.fixup(8, g.label(), 0)
		}
		g.ranges.append(make([]byte, 16)...)
	case 11:
		at, form = dwarf.AttrStmtList, dies.FormData4
		if u.version >= 4 {
			form = dies.FormSecOffset
		}
		b.fixup(4, ".debug_line", 0)
	}
	return at, form, tail
}

func (b *testBytes) join(x testBytes) {
	for _, f := range x.fixups {
		f.Offset += int64(len(b.bytes))
		b.fixups = append(b.fixups, f)
	}
	b.append(x.bytes...)
}

// label returns a name that is kept, gone, or gone in favour of another function.
func (g *generator) label() string {
	g.labels++
	return []string{"l", "l", "l", "gone", "moved"}[g.IntN(5)] + fmt.Sprint(g.labels)
}

func (g *generator) offset(b *testBytes, u *testUnit, section string, at int) uint64 {
	if g.IntN(2) == 0 {
		b.fixup(4, section, int64(at))
	} else {
		b.bytes = appendUint(b.bytes, uint64(at), 4)
	}
	if u.version < 4 {
		return dies.FormData4
	}
	return dies.FormSecOffset
}

// info writes an offset into .debug_info.
func (g *generator) info(b *testBytes, u *testUnit, at int64) {
	width := 4
	if u.version == 2 {
		width = 8
	}
	if g.IntN(2) == 0 {
		b.fixup(width, ".debug_info", at)
	} else {
		b.bytes = appendUint(b.bytes, uint64(at), int64(width))
	}
}

func (g *generator) bounds(b *testBytes, _ *testUnit) (at dwarf.Attr, form uint64, tail []byte) {
	b.fixup(8, g.label(), 0)
	b.fixup(8, g.label(), 0)
	return dwarf.AttrLowpc, dies.FormAddr, []byte{byte(dwarf.AttrHighpc), dies.FormAddr}
}

func (g *generator) list(b *testBytes, u *testUnit) (at dwarf.Attr, form uint64, tail []byte) {
	if u.version == 5 {
		return 0, 0, nil
	}
	form = g.offset(b, u, ".debug_loc", len(g.loc.bytes))
	for range g.IntN(4) {
		g.loc.fixup(8, g.label(), 0)
		g.loc.fixup(8, g.label(), 0)
		x := g.expression(u, 0)
		g.loc.bytes = appendUint(g.loc.bytes, uint64(len(x.bytes)), 2)
		g.loc.join(x)
	}
	g.loc.append(make([]byte, 16)...)
	return dwarf.AttrUseLocation, form, nil
}

// expression returns a random expression of at most 60 bytes.
func (g *generator) expression(u *testUnit, depth int) (x testBytes) {
	target := func() uint64 { return uint64(u.die(g.IntN(u.dies))) }
	var starts []int
	var branches []int
	for range 1 + g.IntN(4) {
		starts = append(starts, len(x.bytes))
		switch g.IntN(16) {
		case 0:
			x.append(0x98)
			x.bytes = appendUint(x.bytes, target(), 2)
		case 1:
			x.append([]byte{0x99, 0xfa}[g.IntN(2)])
			x.bytes = appendUint(x.bytes, target(), 4)
		case 2, 3:
			to := g.units[g.IntN(len(g.units))]
			if to.typ && to.version == 4 {
				x.append(0x96)
				break
			}
			op := []byte{0x9a, 0xfd, 0xa0, 0xf2}[g.IntN(4)]
			x.append(op)
			g.info(&x, u, to.at+to.die(g.IntN(to.dies)))
			if op == 0xa0 || op == 0xf2 {
				x.bytes = appendSleb(x.bytes, int64(g.IntN(1000))-500)
			}
		case 4:
			if depth > 0 {
				break
			}
			x.append([]byte{0xa3, 0xf3}[g.IntN(2)])
			inner := g.expression(u, depth+1)
			x.bytes = binary.AppendUvarint(x.bytes, uint64(len(inner.bytes)))
			x.join(inner)
		case 5:
			x.append([]byte{0xa4, 0xf4}[g.IntN(2)])
			x.bytes = append(binary.AppendUvarint(x.bytes, target()), 2, 0x98, 0x98)
		case 6:
			x.append([]byte{0xa5, 0xf5}[g.IntN(2)])
			x.bytes = binary.AppendUvarint(binary.AppendUvarint(x.bytes, 200), target())
		case 7:
			x.append([]byte{0xa6, 0xf6, 0xa7}[g.IntN(3)], 4)
			x.bytes = binary.AppendUvarint(x.bytes, target())
		case 8:
			x.append([]byte{0xa8, 0xf7, 0xa9, 0xf9}[g.IntN(4)])
			x.bytes = binary.AppendUvarint(x.bytes, target())
		case 9:
			x.append([]byte{0xa9, 0xf9}[g.IntN(2)], 0)
		case 10, 11:
			x.append([]byte{0x28, 0x2f}[g.IntN(2)], 0, 0)
			branches = append(branches, len(x.bytes))
		case 12:
			x.append(0x03)
			x.fixup(8, g.label(), 0)
		case 13:
			x.append(0x9e, 3, 0x98, 0xa8, 0x2f)
		case 14:
			x.append(0x90)
			x.bytes = binary.AppendUvarint(x.bytes, 0x257231)
		case 15:
			x.append(0x35, 0x71, 0x7f, 0x92, 7, 8, 0x9c, 0x0a, 1, 2)
		}
	}
	for _, at := range branches {
		to := append(starts, len(x.bytes))[g.IntN(len(starts)+1)]
		binary.LittleEndian.PutUint16(x.bytes[at-2:], uint16(to-at))
	}
	return x
}
