package debuginfo

import (
	"context"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/dies"
	"ptxlink/object/ptx"
)

// reading lists the contents of debug sections, without offsets. With a module, it
// lists the contents expected after the merge.
type reading struct {
	t        *testing.T
	sections map[string]*ptx.Data
	module   *Module
	places   map[int64]string // of DIEs in .debug_info
	count    map[string]int
	symbols  map[string]map[int64]ptx.Fixup
}

type readUnitAt struct {
	section  string
	off, end int64
	version  int
	dies     map[int64]string
}

func (r *reading) file(n int64) int64 {
	if r.module != nil {
		return r.module.Files[n]
	}
	return n
}

// address returns the meaning of an address at an offset of a section.
func (r *reading) address(section string, at int64) (name string, fate Fate) {
	if r.symbols == nil {
		r.symbols = map[string]map[int64]ptx.Fixup{}
		for name, data := range r.sections {
			r.symbols[name] = map[int64]ptx.Fixup{}
			for _, f := range data.Fixups {
				r.symbols[name][f.Offset] = f
				switch {
				case f.Width == 8:
					binary.LittleEndian.PutUint64(data.Bytes[f.Offset:], uint64(f.Addend))
				default:
					binary.LittleEndian.PutUint32(data.Bytes[f.Offset:], uint32(f.Addend))
				}
			}
		}
	}
	f, ok := r.symbols[section][at]
	switch {
	case !ok || f.Name < 0:
		return fmt.Sprint(binary.LittleEndian.Uint64(r.sections[section].Bytes[at:])), Kept
	case r.module == nil:
		return f.Target, Kept
	}
	return r.module.Name(f.Name)
}

// pair returns the expected form of two addresses: neither if one of them is gone.
func (r *reading) pair(section string, at int64, none string) (string, string) {
	low, lowFate := r.address(section, at)
	high, highFate := r.address(section, at+8)
	if lowFate == Gone || highFate == Gone {
		r.count["tombstone"]++
		return none, none
	}
	return low, high
}

func (r *reading) all() (lines []string) {
	data := func(name string) []byte {
		if s := r.sections[name]; s != nil {
			return s.Bytes
		}
		return nil
	}
	r.address(".debug_info", 0) // writes the addends
	d, err := dwarf.New(data(".debug_abbrev"), nil, nil, data(".debug_info"), nil, nil, nil, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.places = map[int64]string{}
	// The DIEs come first, because references lead to them. Go's reader does not
	// report offsets in .debug_types; our reader lists those units.
	abbrevs := dies.NewTables(data(".debug_abbrev"))
	for _, section := range []string{".debug_info", ".debug_types"} {
		units, fault := readUnits(context.Background(), r.sections[section], abbrevs)
		if fault != nil {
			r.t.Fatal(fault)
		}
		for _, u := range units {
			at := readUnitAt{section: section, off: u.Off, end: u.End, version: u.Version, dies: map[int64]string{}}
			for i, d := range allDies(u) {
				at.dies[d.Off] = fmt.Sprintf("die %d", i)
				if section == ".debug_info" {
					r.places[d.Off] = fmt.Sprintf("die %d of a unit of %d", i, len(allDies(u)))
				}
			}
			if u.TypeAt > 0 {
				r.count["type unit"]++
				lines = append(lines, "type unit of "+at.dies[u.Off+int64(u.uint32(r.sections[section], u.TypeAt))])
			}
			lines = append(lines, r.unit(&at, u, d)...)
		}
	}
	return append(lines, r.pubnames()...)
}

func (u *unit) uint32(data *ptx.Data, at int64) uint32 {
	return binary.LittleEndian.Uint32(data.Bytes[at:])
}

// unit lists the DIEs of a unit as Go's reader returns them. It does not return the
// offsets of values; those come from our reader.
func (r *reading) unit(at *readUnitAt, u *unit, d *dwarf.Data) (lines []string) {
	reader := d.Reader()
	for i, die := range allDies(u) {
		if die.Abbrev == nil {
			continue
		}
		line := fmt.Sprintf("die %d tag %x:", i, uint32(die.Abbrev.Tag))
		var values map[dwarf.Attr]any
		if at.section == ".debug_info" {
			reader.Seek(dwarf.Offset(die.Off))
			e, err := reader.Next()
			if err != nil || e == nil {
				r.t.Fatalf("no entry at %d: %v", die.Off, err)
			}
			values = map[dwarf.Attr]any{}
			for _, f := range e.Field {
				values[f.Attr] = f.Val
			}
		}
		for k, a := range die.Attrs {
			line += fmt.Sprintf(" %x=", uint32(a.At))
			switch {
			case a.At == dwarf.AttrDeclFile || a.At == dwarf.AttrCallFile:
				n := int64(a.Value)
				if values != nil {
					n = values[a.At].(int64)
				}
				r.count[map[dwarf.Attr]string{dwarf.AttrDeclFile: "decl_file", dwarf.AttrCallFile: "call_file"}[a.At]]++
				line += fmt.Sprint(r.file(n))
			case a.Form == dies.FormRefAddr:
				line += r.places[int64(a.Value)]
			case a.IsUnitRef():
				r.count["reference"]++
				to := at.off + int64(a.Value)
				if values != nil {
					to = int64(values[a.At].(dwarf.Offset))
				}
				line += at.dies[to]
			case a.At == dwarf.AttrLocation || a.At == dwarf.AttrFrameBase:
				line += r.expression(at, a.End-int64(a.Value), a.End, at.section)
			case a.At == dwarf.AttrLowpc:
				low, fate := r.address(at.section, a.Off)
				high, highFate := r.address(at.section, a.Off+8)
				switch {
				case fate == Kept && highFate == Kept:
				case die.Abbrev.Tag != dwarf.TagCompileUnit:
					r.count["tombstone"]++
					low, high = "0", "0"
				default:
					if highFate == Gone {
						high = r.lastEnd(at.section, u)
					}
					if low == "" || high == "" {
						low, high = "0", "0"
					}
					r.count["unit at kept"]++
				}
				line += low + " to " + high
			case a.At == dwarf.AttrHighpc: // shown above
			case a.At == dwarf.AttrUseLocation:
				line += r.locations(at, int64(a.Value), at.section, a.Off)
			case a.At == dwarf.AttrRanges:
				line += r.ranges(int64(a.Value), at.section, a.Off)
			case a.Form == dies.FormString, a.At == 0x1c:
				line += string(r.sections[at.section].Bytes[a.Off:a.End])
			case a.At == dwarf.AttrStmtList:
				line += r.symbols[at.section][a.Off].Target
			default:
				r.t.Fatalf("attribute %x in form %x (%d)", a.At, a.Form, k)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *reading) lastEnd(section string, u *unit) (last string) {
	for _, d := range allDies(u) {
		if d.Abbrev == nil || d.Abbrev.Tag != dwarf.TagSubprogram {
			continue
		}
		for _, a := range d.Attrs {
			if a.At == dwarf.AttrHighpc {
				if name, fate := r.address(section, a.Off); fate == Kept {
					last = name
				}
			}
		}
	}
	return last
}

// sectionOffset returns the value of an attribute that is a section offset.
func (r *reading) sectionOffset(value int64, section string, at int64) int64 {
	if f, ok := r.symbols[section][at]; ok {
		return f.Addend
	}
	if r.module == nil {
		r.t.Errorf("%s+%d is a plain number", section, at)
	}
	return value
}

func (r *reading) ranges(value int64, section string, at int64) (line string) {
	data := r.sections[".debug_ranges"].Bytes
	for p := r.sectionOffset(value, section, at); ; p += 16 {
		if _, ok := r.symbols[".debug_ranges"][p]; !ok && strings.Trim(string(data[p:p+16]), "\x00") == "" {
			return line
		}
		low, high := r.pair(".debug_ranges", p, "1")
		line += fmt.Sprintf("[%s to %s]", low, high)
		r.count["range"]++
	}
}

func (r *reading) locations(u *readUnitAt, value int64, section string, at int64) (line string) {
	data := r.sections[".debug_loc"].Bytes
	for p := r.sectionOffset(value, section, at); ; {
		if _, ok := r.symbols[".debug_loc"][p]; !ok && strings.Trim(string(data[p:p+16]), "\x00") == "" {
			return line
		}
		low, high := r.pair(".debug_loc", p, "1")
		end := p + 18 + int64(binary.LittleEndian.Uint16(data[p+16:]))
		line += fmt.Sprintf("[%s to %s: %s]", low, high, r.expression(u, p+18, end, ".debug_loc"))
		p = end
		r.count["list entry"]++
	}
}

// expression disassembles an expression of the generator.
func (r *reading) expression(u *readUnitAt, from, end int64, section string) string {
	data := r.sections[section].Bytes
	type op struct {
		at, branch int64
		text       string
	}
	var ops []op
	rd := &dies.Reader{Section: section, Data: data[:end], At: from}
	die := func(off uint64) string { return u.dies[u.off+int64(off)] }
	width := int64(4)
	if u.version == 2 {
		width = 8
	}
	for rd.At < end {
		o := op{at: rd.At, branch: -1}
		code := rd.Uint(1)
		r.count[fmt.Sprintf("DW_OP %x", code)]++
		switch code {
		case 0x98:
			code = 0x99
			o.text = die(rd.Uint(2))
		case 0x99, 0xfa:
			o.text = die(rd.Uint(4))
		case 0x9a, 0xfd, 0xa0, 0xf2:
			o.text = r.places[int64(rd.Uint(width))]
			if code == 0xa0 || code == 0xf2 {
				o.text += fmt.Sprint(rd.Sleb())
			}
		case 0xa3, 0xf3:
			length := int64(rd.Uleb())
			o.text = "(" + r.expression(u, rd.At, rd.At+length, section) + ")"
			rd.Skip(uint64(length))
		case 0xa4, 0xf4:
			o.text = fmt.Sprint(die(rd.Uleb()), rd.Uint(3))
		case 0xa5, 0xf5:
			o.text = fmt.Sprint(rd.Uleb(), die(rd.Uleb()))
		case 0xa6, 0xf6, 0xa7:
			o.text = fmt.Sprint(rd.Uint(1), die(rd.Uleb()))
		case 0xa8, 0xf7, 0xa9, 0xf9: // nothing for the generic type
			o.text = die(rd.Uleb())
		case 0x28, 0x2f:
			distance := int64(int16(rd.Uint(2)))
			o.branch = rd.At + distance
		case 0x03:
			name, fate := r.address(section, rd.At)
			if fate == Gone {
				name = "0"
			}
			o.text = name
			rd.Skip(8)
		case 0x9e:
			o.text = fmt.Sprintf("%x", data[rd.At:rd.At+4])
			rd.Skip(4)
		case 0x90:
			o.text = fmt.Sprint(rd.Uleb())
		case 0x35:
			o.text = fmt.Sprintf("%x", data[rd.At:rd.At+9])
			rd.Skip(9)
		}
		o.text = fmt.Sprintf("%x %s", code, o.text)
		ops = append(ops, o)
	}
	if rd.Err != nil {
		r.t.Fatal(rd.Err)
	}
	var text []string
	for _, o := range ops {
		if o.branch >= 0 {
			i := slices.IndexFunc(ops, func(p op) bool { return p.at == o.branch })
			if i < 0 && o.branch == end {
				i = len(ops)
			}
			o.text += fmt.Sprint("to operation ", i)
		}
		text = append(text, o.text)
	}
	return strings.Join(text, ", ")
}

func (r *reading) pubnames() (lines []string) {
	s := r.sections[".debug_pubnames"]
	if s == nil {
		return nil
	}
	rd := &dies.Reader{Data: s.Bytes}
	for rd.At < int64(len(s.Bytes)) && rd.Err == nil {
		rd.Uint(6)
		unit := int64(rd.Uint(4))
		if f, ok := r.symbols[".debug_pubnames"][rd.At-4]; ok {
			unit = f.Addend
		}
		size := int64(rd.Uint(4))
		line := fmt.Sprint("names of a unit that ends: ", r.places[unit+size-1])
		for off := rd.Uint(4); off != 0 && rd.Err == nil; off = rd.Uint(4) {
			from := rd.At
			rd.CString()
			line += fmt.Sprintf(" %s=%s", s.Bytes[from:rd.At], r.places[unit+int64(off)])
			r.count["pubname"]++
		}
		lines = append(lines, line)
	}
	return lines
}
