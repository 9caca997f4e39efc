package debuginfo

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ptxlink/object/ptx"
)

// merger writes the merged sections.
type merger struct {
	modules []*Module
	table   *abbrevTable
	out     []*Section
	index   map[string]*Section
}

func (w *merger) merge() []Section {
	w.index = map[string]*Section{}
	// Order: .debug_abbrev and .debug_info first, the others as they come.
	names := []string{}
	for _, m := range w.modules {
		m.bases = map[string]int64{}
		for i := range m.File.Sections {
			name := m.File.Sections[i].Name
			if m.sections[name] != nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		s := &Section{Name: name}
		w.out = append(w.out, s)
		w.index[name] = s
	}
	w.place()
	for _, m := range w.modules {
		w.units(m)
	}
	for _, name := range names {
		for _, m := range w.modules {
			if data := m.sections[name]; data != nil {
				w.section(m, name, data)
			}
		}
	}
	if abbrev := w.index[".debug_abbrev"]; abbrev != nil {
		abbrev.Bytes = w.table.bytes()
	}
	sections := make([]Section, len(w.out))
	for i, s := range w.out {
		sections[i] = *s
	}
	return sections
}

// place finds out where everything goes: codes and sizes of all entries, and
// with them the offsets that others refer to.
func (w *merger) place() {
	size := map[string]int64{}
	for _, m := range w.modules {
		m.start, m.macro = map[int64]int64{}, map[int64]int64{}
		for name, data := range m.sections {
			m.bases[name] = size[name]
			if name != ".debug_info" && name != ".debug_macinfo" {
				size[name] += int64(len(data.Bytes))
			}
		}
		at := size[".debug_info"]
		for _, u := range m.units {
			m.start[u.off] = at
			at += u.header
			for i := range u.dies {
				d := &u.dies[i]
				m.start[d.off] = at
				at += w.size(m, u, d)
			}
			m.start[u.end] = at
		}
		size[".debug_info"] = at
		if data := m.sections[".debug_macinfo"]; data != nil {
			size[".debug_macinfo"] += w.macinfo(m, data.Bytes, size[".debug_macinfo"], nil)
		}
	}
}

// size is that of an entry in the output.
func (w *merger) size(m *Module, u *unit, d *die) int64 {
	if d.abbrev == nil {
		return 1
	}
	n := int64(ulebSize(w.code(m, d)))
	for _, a := range d.attrs {
		n += w.attrSize(m, a)
	}
	return n
}

func (w *merger) attrSize(m *Module, a attr) int64 {
	switch form, value := w.form(m, a); {
	case form == formUdata && (a.at == atDeclFile || a.at == atCallFile):
		return int64(ulebSize(value))
	case form == a.form:
		return a.end - a.off
	case form == formData2:
		return 2
	}
	return 4
}

// form is the form and, of a file number, the value that an attribute has in
// the output. References within a unit become 4 bytes wide, as the distance may
// grow.
func (w *merger) form(m *Module, a attr) (uint64, uint64) {
	switch {
	case a.at == atDeclFile || a.at == atCallFile:
		n := uint64(m.Files[int64(a.value)]) // 0, no file, stays 0
		switch {
		case a.form == formImplicit:
			n = uint64(m.Files[a.implicit])
			return formImplicit, n
		case a.form == formData1 && n > 0xff:
			return formData2, n
		}
		return a.form, n
	case a.form == formRef1 || a.form == formRef2 || a.form == formRefUdata:
		return formRef4, a.value
	}
	return a.form, a.value
}

// code is the number of the entry's abbreviation in the merged table.
func (w *merger) code(m *Module, d *die) uint64 {
	a := abbrev{tag: d.abbrev.tag, children: d.abbrev.children, specs: make([]spec, len(d.attrs))}
	for i, x := range d.attrs {
		form, value := w.form(m, x)
		a.specs[i] = spec{at: x.at, form: form}
		if form == formImplicit {
			a.specs[i].implicit = x.implicit
			if x.at == atDeclFile || x.at == atCallFile {
				a.specs[i].implicit = int64(value)
			}
		}
	}
	return w.table.add(a)
}

// abbrevTable is the one table of all units, in order of first use.
type abbrevTable struct {
	list  []abbrev
	codes map[string]uint64
}

func newAbbrevTable() *abbrevTable { return &abbrevTable{codes: map[string]uint64{}} }

func (t *abbrevTable) add(a abbrev) uint64 {
	key := string(a.append(nil))
	code, ok := t.codes[key]
	if !ok {
		t.list = append(t.list, a)
		code = uint64(len(t.list))
		t.codes[key] = code
	}
	return code
}

func (a *abbrev) append(b []byte) []byte {
	b = appendUleb(b, a.tag)
	b = append(b, a.children)
	for _, s := range a.specs {
		b = appendUleb(b, s.at)
		b = appendUleb(b, s.form)
		if s.form == formImplicit {
			b = appendSleb(b, s.implicit)
		}
	}
	return append(b, 0, 0)
}

func (t *abbrevTable) bytes() (b []byte) {
	for i := range t.list {
		b = appendUleb(b, uint64(i+1))
		b = t.list[i].append(b)
	}
	return append(b, 0)
}

func appendUleb(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func appendSleb(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func ulebSize(n uint64) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// units writes the units of a module into .debug_info.
func (w *merger) units(m *Module) {
	if len(m.units) == 0 {
		return
	}
	out := w.index[".debug_info"]
	c := &copier{m: m, data: m.sections[".debug_info"], out: out}
	for _, u := range m.units {
		start := len(out.Bytes)
		c.copy(u.off, u.abbrevAt)
		binary.LittleEndian.PutUint32(out.Bytes[start:], uint32(m.start[u.end]-m.start[u.off]-4))
		out.Fixups = append(out.Fixups, ptx.Fixup{Offset: int64(len(out.Bytes)), Width: 4, Section: ".debug_abbrev"})
		out.Bytes = append(out.Bytes, 0, 0, 0, 0)
		c.skip(u.abbrevAt + 4)
		c.copy(u.abbrevAt+4, u.off+u.header)
		for i := range u.dies {
			d := &u.dies[i]
			if d.abbrev == nil {
				out.Bytes = append(out.Bytes, 0)
				continue
			}
			out.Bytes = appendUleb(out.Bytes, w.code(m, d))
			for _, a := range d.attrs {
				w.attribute(c, u, a)
			}
		}
	}
}

func (w *merger) attribute(c *copier, u *unit, a attr) {
	out := c.out
	form, value := w.form(c.m, a)
	number := func(n uint64, size int) {
		for range size {
			out.Bytes = append(out.Bytes, byte(n))
			n >>= 8
		}
	}
	switch {
	case a.at == atDeclFile || a.at == atCallFile:
		switch form {
		case formImplicit:
		case formUdata:
			out.Bytes = appendUleb(out.Bytes, value)
		case formData1:
			number(value, 1)
		case formData2:
			number(value, 2)
		case formData4:
			number(value, 4)
		default:
			c.copy(a.off, a.end)
		}
	case isUnitRef(a.form) && !c.fixupAt(a.off):
		target := uint64(c.m.start[u.off+int64(a.value)] - c.m.start[u.off])
		if form == formRef8 {
			number(target, 8)
		} else {
			number(target, 4)
		}
	case c.fixupAt(a.off):
		c.copy(a.off, a.end)
	case a.form == formStrp:
		w.offset(c, a, ".debug_str")
	case a.form == formLineStrp:
		w.offset(c, a, ".debug_line_str")
	case a.form == formRefAddr:
		w.offset(c, a, ".debug_info")
	case a.form == formSecOffset, u.version < 4 && (a.form == formData4 || a.form == formData8):
		if section := sectionOf(a.at, u.version); section != "" {
			w.offset(c, a, section)
			return
		}
		c.copy(a.off, a.end)
	default:
		c.copy(a.off, a.end)
	}
}

// offset writes a section offset that stands as a plain number as what it is.
func (w *merger) offset(c *copier, a attr, section string) {
	if section != ".debug_line" && c.m.sections[section] == nil {
		c.copy(a.off, a.end)
		return
	}
	width := int(a.end - a.off)
	if width != 8 {
		width = 4
	}
	f := c.m.translate(ptx.Fixup{Width: width, Section: section, Addend: int64(a.value)})
	f.Offset = int64(len(c.out.Bytes))
	c.out.Fixups = append(c.out.Fixups, f)
	c.out.Bytes = append(c.out.Bytes, make([]byte, width)...)
}

// copier copies a section of a module with the fixups in it, front to back.
type copier struct {
	m    *Module
	data *ptx.Data
	out  *Section
	next int  // fixup
	list bool // pairs of addresses: a tombstone is 1
}

func (c *copier) skip(to int64) {
	for c.next < len(c.data.Fixups) && c.data.Fixups[c.next].Offset < to {
		c.next++
	}
}

func (c *copier) fixupAt(off int64) bool {
	c.skip(off)
	return c.next < len(c.data.Fixups) && c.data.Fixups[c.next].Offset == off
}

func (c *copier) copy(from, to int64) {
	c.skip(from)
	base := int64(len(c.out.Bytes)) - from
	c.out.Bytes = append(c.out.Bytes, c.data.Bytes[from:to]...)
	for ; c.next < len(c.data.Fixups) && c.data.Fixups[c.next].Offset < to; c.next++ {
		f := c.m.translate(c.data.Fixups[c.next])
		f.Offset += base
		if f.Section == "" && f.Symbol == "" {
			if c.list {
				c.out.Bytes[f.Offset] = 1
			}
			continue
		}
		c.out.Fixups = append(c.out.Fixups, f)
	}
}

// translate makes a fixup of the module one of the output. Neither section nor
// symbol means that what it named is gone.
func (m *Module) translate(f ptx.Fixup) ptx.Fixup {
	switch f.Section {
	case "":
		name, fate := m.Name(f.Symbol)
		if fate != Kept {
			name, f.Addend = "", 0
		}
		f.Symbol = name
	case ".debug_abbrev", ".debug_line":
		f.Addend = 0
	case ".debug_info":
		f.Addend = m.infoOffset(f.Addend)
	case ".debug_macinfo":
		if at, ok := m.macro[f.Addend]; ok {
			f.Addend = at
		}
	default:
		f.Addend += m.bases[f.Section]
	}
	return f
}

// infoOffset is where something of .debug_info stands in the output: a unit, a
// DIE, or a byte at the same distance from one.
func (m *Module) infoOffset(off int64) int64 {
	if at, ok := m.start[off]; ok {
		return at
	}
	for _, u := range m.units {
		if off < u.off || off >= u.end {
			continue
		}
		last := u.off
		for _, d := range u.dies {
			if d.off > off {
				break
			}
			last = d.off
		}
		return m.start[last] + off - last
	}
	return off
}

// section appends a section other than .debug_info and .debug_abbrev.
func (w *merger) section(m *Module, name string, data *ptx.Data) {
	out := w.index[name]
	c := &copier{m: m, data: data, out: out}
	switch name {
	case ".debug_info":
		if len(m.units) == 0 { // nothing that describes units
			c.copy(0, int64(len(data.Bytes)))
		}
	case ".debug_abbrev":
	case ".debug_macinfo":
		w.macinfo(m, data.Bytes, int64(len(out.Bytes)), out)
	case ".debug_pubnames", ".debug_pubtypes", ".debug_aranges":
		from, first := len(out.Bytes), len(out.Fixups)
		c.copy(0, int64(len(data.Bytes)))
		m.index(out, from, first, data)
	default:
		c.list = name == ".debug_loc" || name == ".debug_ranges"
		c.copy(0, int64(len(data.Bytes)))
	}
}

// macinfo copies .debug_macinfo with its file numbers and returns its new size;
// without out it only notes where the entries go.
func (w *merger) macinfo(m *Module, data []byte, base int64, out *Section) int64 {
	const define, undef, startFile, endFile, vendor = 1, 2, 3, 4, 0xff
	r := &reader{data: data}
	var b []byte
	for r.at < int64(len(data)) && r.err == nil {
		from := r.at
		m.macro[from] = base + int64(len(b))
		kind := r.uint(1)
		switch kind {
		case define, undef, vendor:
			r.uleb()
			r.cstring()
		case startFile:
			r.uleb()
			line := r.at
			if file := r.uleb(); r.err == nil {
				b = append(b, data[from:line]...)
				b = appendUleb(b, uint64(m.Files[int64(file)]))
				continue
			}
		case 0, endFile:
		default:
			r.fail("macro entry %d", kind)
		}
		if r.err == nil {
			b = append(b, data[from:r.at]...)
		}
	}
	if r.err != nil { // not what the section should hold: as it is
		b = data
		for at := range data {
			m.macro[int64(at)] = base + int64(at)
		}
	}
	if out != nil {
		out.Bytes = append(out.Bytes, b...)
	}
	return int64(len(b))
}

// index moves the offsets in the part of .debug_pubnames, .debug_pubtypes or
// .debug_aranges that starts at byte from and fixup first: those of the units,
// and, relative to them, those of the names.
//
// The offset of a unit other than the first is a plain number. ptxas makes the
// name of an undefined symbol of .debug_info+N here, of a label too, and the
// number is right in the cubin of a whole program
// (TestDebugPubnames in package link).
func (m *Module) index(out *Section, from, first int, data *ptx.Data) {
	le := binary.LittleEndian
	plain := slices.Clone(out.Fixups[:first])
	for _, f := range out.Fixups[first:] {
		if f.Section == ".debug_info" && f.Addend != 0 && f.Width == 4 {
			le.PutUint32(out.Bytes[f.Offset:], uint32(f.Addend))
			continue
		}
		plain = append(plain, f)
	}
	out.Fixups = plain
	inputFixup := map[int64]ptx.Fixup{}
	for _, f := range data.Fixups {
		inputFixup[f.Offset] = f
	}
	b := out.Bytes[from:]
	for at := 0; at+14 <= len(b); {
		length := int(le.Uint32(b[at:]))
		end := at + 4 + length
		if length < 10 || end > len(b) {
			return
		}
		f, isFixup := inputFixup[int64(at+6)]
		unitAt := f.Addend
		if !isFixup {
			unitAt = int64(le.Uint32(data.Bytes[at+6:]))
			le.PutUint32(b[at+6:], uint32(m.infoOffset(unitAt)))
		}
		if out.Name == ".debug_aranges" {
			at = end
			continue
		}
		for _, u := range m.units {
			if u.off != unitAt {
				continue
			}
			le.PutUint32(b[at+10:], uint32(m.start[u.end]-m.start[u.off]-lengthField(data.Bytes[at+10:], u)))
			for p := at + 14; p+4 <= end; {
				off := le.Uint32(b[p:])
				if off == 0 {
					break
				}
				le.PutUint32(b[p:], uint32(m.infoOffset(u.off+int64(off))-m.start[u.off]))
				for p += 4; p < end && b[p] != 0; p++ {
				}
				p++
			}
		}
		at = end
	}
}

// lengthField is what producers leave out of the size of a unit in pubnames:
// nothing, or the 4 bytes of the length itself.
func lengthField(field []byte, u *unit) int64 {
	return max(0, min(4, u.end-u.off-int64(binary.LittleEndian.Uint32(field))))
}

// Text prints a section as PTX: bytes in lists, each fixup on a line of its own,
// which is all that ptxas takes.
func (s *Section) Text() []byte {
	b := []byte(".section " + s.Name + "\n{\n")
	next := 0
	for at := int64(0); at < int64(len(s.Bytes)); {
		if next < len(s.Fixups) && s.Fixups[next].Offset == at {
			f := s.Fixups[next]
			b = fmt.Appendf(b, "\t.b%d %s\n", 8*f.Width, f)
			at += int64(f.Width)
			next++
			continue
		}
		end := min(int64(len(s.Bytes)), at+16)
		if next < len(s.Fixups) {
			end = min(end, s.Fixups[next].Offset)
		}
		for i, c := range s.Bytes[at:end] {
			if i == 0 {
				b = append(b, "\t.b8 "...)
			} else {
				b = append(b, ", "...)
			}
			b = fmt.Append(b, c)
		}
		b = append(b, '\n')
		at = end
	}
	return append(b, "}\n"...)
}
