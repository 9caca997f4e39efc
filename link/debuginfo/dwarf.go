package debuginfo

import (
	"context"
	"encoding/binary"
	"fmt"

	"ptxlink/object/ptx"
)

// dwarfError is an error at an offset of a section.
type dwarfError struct {
	section string
	offset  int64
	text    string
}

func (e *dwarfError) Error() string {
	return fmt.Sprintf("%s at byte %d of %s", e.text, e.offset, e.section)
}

// unit is one unit of .debug_info or .debug_types.
type unit struct {
	section  string
	off, end int64 // in the section of the module
	header   int64 // bytes before the first DIE
	version  int
	addrSize int
	abbrevAt int64 // position of the offset of its abbreviations
	typeAt   int64 // position of the offset of the type in a type unit; 0 in others
	data     []byte
	abbrevs  *abbrevCodes
	starts   []uint64 // a bit for each byte of the unit: a DIE starts there
	changing int      // codes and references
}

// die is one debugging information entry; code 0 ends a list of children.
type die struct {
	off    int64
	body   int64 // after the code
	abbrev *abbrev
	attrs  []attr
}

// dieReader reads the DIEs of a unit, one at a time.
type dieReader struct {
	reader
	u *unit
	die
}

// dies starts to read the DIEs of the unit.
func (u *unit) dies() dieReader {
	return dieReader{reader: reader{section: u.section, data: u.data, at: u.off + u.header}, u: u}
}

// next reads the next DIE. It returns false behind the last one and after an error.
func (r *dieReader) next() bool {
	if r.err != nil || r.at >= r.u.end {
		return false
	}
	r.off = r.at
	code := r.uleb()
	r.body, r.abbrev, r.attrs = r.at, nil, r.attrs[:0]
	if code == 0 {
		return r.err == nil
	}
	if r.abbrev = r.u.abbrevs.of(code); r.abbrev == nil {
		r.fail("abbreviation %d is not defined", code)
		return false
	}
	for i := range r.abbrev.specs {
		r.attrs = append(r.attrs, attr{})
		r.attribute(r.u, &r.abbrev.specs[i], &r.attrs[i])
	}
	return r.err == nil
}

// attr is an attribute. Its value is at bytes off to end.
type attr struct {
	spec
	start    int64 // of the form, if DW_FORM_indirect puts it here; else off
	off, end int64
	value    uint64 // of constants, references and offsets; of blocks, the length
}

// abbrev is one abbreviation: the shape of a DIE.
type abbrev struct {
	tag      uint64
	children byte
	specs    []spec
}

type spec struct {
	at, form uint64
	implicit int64 // of DW_FORM_implicit_const
}

// Attributes and forms that the merger knows by name.
const (
	atSibling       = 0x01
	atLocation      = 0x02
	atByteSize      = 0x0b
	atBitSize       = 0x0d
	atStmtList      = 0x10
	atLowPC         = 0x11
	atHighPC        = 0x12
	atStringLength  = 0x19
	atLowerBound    = 0x22
	atReturnAddr    = 0x2a
	atStartScope    = 0x2c
	atBitStride     = 0x2e
	atUpperBound    = 0x2f
	atDataMember    = 0x38
	atDeclFile      = 0x3a
	atFrameBase     = 0x40
	atMacroInfo     = 0x43
	atSegment       = 0x46
	atStaticLink    = 0x48
	atUseLocation   = 0x4a
	atVtableElem    = 0x4d
	atAllocated     = 0x4e
	atAssociated    = 0x4f
	atDataLocation  = 0x50
	atByteStride    = 0x51
	atRanges        = 0x55
	atCallFile      = 0x58
	atRank          = 0x71
	atStrOffsets    = 0x72
	atAddrBase      = 0x73
	atRnglistsBase  = 0x74
	atMacros        = 0x79
	atCallValue     = 0x7e
	atCallDataValue = 0x86
	atLoclistsBase  = 0x8c
	atGNUCallValue  = 0x2111
	atGNUCallClob   = 0x2114
	atGNUMacros     = 0x2119
	atGNULocviews   = 0x2137
	tagCompileUnit  = 0x11
	tagSubprogram   = 0x2e
	tagPartialUnit  = 0x3c
	formAddr        = 0x01
	formBlock2      = 0x03
	formBlock4      = 0x04
	formData2       = 0x05
	formData4       = 0x06
	formData8       = 0x07
	formString      = 0x08
	formBlock       = 0x09
	formBlock1      = 0x0a
	formData1       = 0x0b
	formFlag        = 0x0c
	formSdata       = 0x0d
	formStrp        = 0x0e
	formUdata       = 0x0f
	formRefAddr     = 0x10
	formRef1        = 0x11
	formRef2        = 0x12
	formRef4        = 0x13
	formRef8        = 0x14
	formRefUdata    = 0x15
	formIndirect    = 0x16
	formSecOffset   = 0x17
	formExprloc     = 0x18
	formFlagPresent = 0x19
	formStrx        = 0x1a
	formAddrx       = 0x1b
	formRefSup4     = 0x1c
	formStrpSup     = 0x1d
	formData16      = 0x1e
	formLineStrp    = 0x1f
	formRefSig8     = 0x20
	formImplicit    = 0x21
	formLoclistx    = 0x22
	formRnglistx    = 0x23
	formRefSup8     = 0x24
	formStrx1       = 0x25
	formStrx2       = 0x26
	formStrx3       = 0x27
	formStrx4       = 0x28
	formAddrx1      = 0x29
	formAddrx2      = 0x2a
	formAddrx3      = 0x2b
	formAddrx4      = 0x2c
)

// sectionOf returns the section that a section offset of the attribute points into.
func sectionOf(at uint64, version int) string {
	switch at {
	case atStmtList:
		return ".debug_line"
	case atLocation, atStringLength, atReturnAddr, atFrameBase, atSegment, atStaticLink, atUseLocation, atVtableElem, atDataMember, atGNULocviews:
		if version >= 5 {
			return ".debug_loclists"
		}
		return ".debug_loc"
	case atLoclistsBase:
		return ".debug_loclists"
	case atRanges, atStartScope:
		if version >= 5 {
			return ".debug_rnglists"
		}
		return ".debug_ranges"
	case atRnglistsBase:
		return ".debug_rnglists"
	case atMacroInfo:
		return ".debug_macinfo"
	case atMacros, atGNUMacros:
		return ".debug_macro"
	case atStrOffsets:
		return ".debug_str_offsets"
	case atAddrBase:
		return ".debug_addr"
	}
	return ""
}

// isOffset reports whether the value is an offset into the section of sectionOf.
// Before DWARF 4 it is a constant with the size of an address or an offset, if the
// attribute cannot be a number.
func (a *attr) isOffset(version int) bool {
	return a.form == formSecOffset ||
		version < 4 && (a.form == formData4 || a.form == formData8) && a.at != atStartScope && a.at != atDataMember && sectionOf(a.at, version) != ""
}

// isExpression reports whether the value is a DWARF expression. A block is an
// expression only in attributes that describe a location or a computed size.
func (a *attr) isExpression() bool {
	switch a.form {
	case formExprloc:
		return true
	case formBlock, formBlock1, formBlock2, formBlock4:
	default:
		return false
	}
	switch a.at {
	case atLocation, atByteSize, atBitSize, atStringLength, atLowerBound, atReturnAddr, atBitStride, atUpperBound, atDataMember, atFrameBase,
		atSegment, atStaticLink, atUseLocation, atVtableElem, atAllocated, atAssociated, atDataLocation, atByteStride, atRank:
		return true
	}
	return a.at >= atCallValue && a.at <= atCallDataValue || a.at >= atGNUCallValue && a.at <= atGNUCallClob
}

// isConstant reports whether the value is a number.
func (a *attr) isConstant() bool {
	switch a.form {
	case formData1, formData2, formData4, formData8, formSdata, formUdata, formImplicit:
		return true
	}
	return false
}

// reader reads DWARF. It keeps the first error.
type reader struct {
	section string
	data    []byte
	at      int64
	err     *dwarfError
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &dwarfError{r.section, r.at, fmt.Sprintf(format, args...)}
	}
	r.at = int64(len(r.data))
}

func (r *reader) skip(n uint64) {
	if n > uint64(int64(len(r.data))-r.at) {
		r.fail("a value runs past the end")
		return
	}
	r.at += int64(n)
}

func (r *reader) uint(n int64) uint64 {
	from := r.at
	if r.skip(uint64(n)); r.err != nil {
		return 0
	}
	var b [8]byte
	copy(b[:], r.data[from:r.at])
	return binary.LittleEndian.Uint64(b[:])
}

func (r *reader) uleb() (n uint64) {
	for shift := 0; ; shift += 7 {
		if r.at >= int64(len(r.data)) || shift > 63 {
			r.fail("a number does not end")
			return 0
		}
		b := r.data[r.at]
		r.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
}

func (r *reader) sleb() int64 {
	var n int64
	for shift := 0; ; shift += 7 {
		if r.at >= int64(len(r.data)) || shift > 63 {
			r.fail("a number does not end")
			return 0
		}
		b := r.data[r.at]
		r.at++
		n |= int64(b&0x7f) << shift
		if b < 0x80 {
			if b&0x40 != 0 && shift < 57 {
				n |= -1 << (shift + 7)
			}
			return n
		}
	}
}

func (r *reader) cstring() {
	for r.at < int64(len(r.data)) {
		r.at++
		if r.data[r.at-1] == 0 {
			return
		}
	}
	r.fail("a string does not end")
}

// readUnits reads all units of .debug_info or .debug_types. Only 32-bit DWARF,
// versions 2 to 5.
func readUnits(ctx context.Context, info *ptx.Data, abbrevs *abbrevReader) ([]*unit, *dwarfError) {
	if info == nil {
		return nil, nil
	}
	fixups := fixups{list: info.Fixups}
	var units []*unit
	for off := int64(0); off < int64(len(info.Bytes)); {
		u, err := readUnit(ctx, info, abbrevs, &fixups, off)
		if err != nil {
			return nil, err
		}
		units = append(units, u)
		off = u.end
	}
	return units, nil
}

func readUnit(ctx context.Context, info *ptx.Data, abbrevs *abbrevReader, fixups *fixups, off int64) (*unit, *dwarfError) {
	const compile, typ, partial = 1, 2, 3 // unit types
	r := &reader{section: info.Name, data: info.Bytes, at: off}
	u := &unit{section: info.Name, off: off}
	length := r.uint(4)
	if length >= 0xfffffff0 {
		r.fail("64-bit DWARF")
	}
	u.end = off + 4 + int64(length)
	if u.end > int64(len(info.Bytes)) {
		r.fail("the unit is longer than its section")
	}
	if r.err != nil {
		return nil, r.err
	}
	r.data = info.Bytes[:u.end]
	u.version = int(r.uint(2))
	unitType := uint64(compile)
	if info.Name == ".debug_types" {
		unitType = typ
	}
	if u.version >= 5 {
		unitType = r.uint(1)
		u.addrSize = int(r.uint(1))
		u.abbrevAt = r.at
		r.uint(4)
	} else {
		u.abbrevAt = r.at
		r.uint(4)
		u.addrSize = int(r.uint(1))
	}
	if r.err == nil && (u.version < 2 || u.version > 5 || unitType != compile && unitType != typ && unitType != partial) {
		r.fail("DWARF version %d, unit type %d", u.version, unitType)
	}
	if r.err == nil && u.addrSize != 4 && u.addrSize != 8 {
		r.fail("addresses of %d bytes", u.addrSize)
	}
	if r.err != nil {
		return nil, r.err
	}
	if unitType == typ {
		r.skip(8) // the signature
		u.typeAt = r.at
		r.uint(4)
		if r.err != nil {
			return nil, r.err
		}
	}
	u.header = r.at - off
	offset := int64(binary.LittleEndian.Uint32(info.Bytes[u.abbrevAt:]))
	if f := fixups.find(u.abbrevAt); f != nil {
		if f.Section != ".debug_abbrev" {
			r.fail("the unit takes its abbreviations from %s", f)
		}
		offset = f.Addend
	}
	if r.err != nil {
		return nil, r.err
	}
	var err *dwarfError
	if u.abbrevs, err = abbrevs.table(offset); err != nil {
		return nil, &dwarfError{info.Name, off, "its abbreviations: " + err.text}
	}
	u.data = info.Bytes[:u.end]
	u.starts = make([]uint64, (u.end-u.off+63)/64)
	references := abbrevs.references[:0]
	d := u.dies()
	depth := 0
	for n := 0; d.next(); n++ {
		if isCancelled(ctx, n) {
			d.fail("interrupted")
			break
		}
		u.starts[(d.off-u.off)/64] |= 1 << ((d.off - u.off) % 64)
		if d.abbrev == nil {
			depth--
			if depth < -64 { // padding after the last DIE
				d.fail("the unit has too many ends of lists")
			}
			continue
		}
		if u.changing++; d.abbrev.children != 0 {
			depth++
		}
		for i := range d.attrs {
			if a := &d.attrs[i]; isUnitRef(a.form) {
				u.changing++
				if fixups.find(a.off) == nil {
					references = append(references, unitReference{a.off, a.value})
				}
			}
		}
	}
	abbrevs.references = references
	if d.err != nil {
		return nil, d.err
	}
	for _, to := range references {
		if !u.hasDIE(to.value) {
			return nil, &dwarfError{u.section, to.at, "a reference leads to no entry"}
		}
	}
	return u, nil
}

// unitReference is a reference within a unit and its place.
type unitReference struct {
	at    int64
	value uint64
}

// isCancelled reports whether the context has ended. It asks only for some n.
func isCancelled(ctx context.Context, n int) bool { return n%4096 == 0 && ctx.Err() != nil }

// hasDIE reports whether a DIE starts at an offset from the start of the unit.
func (u *unit) hasDIE(off uint64) bool {
	if off >= uint64(u.end-u.off) {
		return false
	}
	return u.starts[off/64]&(1<<(off%64)) != 0
}

func isUnitRef(form uint64) bool { return form >= formRef1 && form <= formRefUdata }

// attribute reads an attribute into a.
func (r *reader) attribute(u *unit, s *spec, a *attr) {
	a.spec, a.start, a.off = *s, r.at, r.at
	if s.form == formIndirect {
		a.form = r.uleb()
		if a.form == formIndirect || a.form == formImplicit {
			r.fail("form 0x%x behind DW_FORM_indirect", a.form)
		}
		a.off = r.at // the merged table names the form itself
	}
	switch a.form {
	case formAddr:
		r.skip(uint64(u.addrSize))
	case formBlock1:
		a.value = r.uint(1)
		r.skip(a.value)
	case formBlock2:
		a.value = r.uint(2)
		r.skip(a.value)
	case formBlock4:
		a.value = r.uint(4)
		r.skip(a.value)
	case formBlock, formExprloc:
		a.value = r.uleb()
		r.skip(a.value)
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		a.value = r.uint(1)
	case formData2, formRef2, formStrx2, formAddrx2:
		a.value = r.uint(2)
	case formStrx3, formAddrx3:
		a.value = r.uint(3)
	case formData4, formRef4, formStrp, formSecOffset, formLineStrp, formStrx4, formAddrx4, formRefSup4, formStrpSup:
		a.value = r.uint(4)
	case formData8, formRef8, formRefSig8, formRefSup8:
		a.value = r.uint(8)
	case formData16:
		r.skip(16)
	case formString:
		r.cstring()
	case formSdata:
		a.value = uint64(r.sleb())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx:
		a.value = r.uleb()
	case formRefAddr:
		a.value = r.uint(u.refAddrSize())
	case formImplicit:
		a.value = uint64(s.implicit)
	case formFlagPresent:
	default:
		r.fail("form 0x%x is not known", a.form)
	}
	a.end = r.at
}

// refAddrSize returns the size of DW_FORM_ref_addr: an address in DWARF 2, an offset
// in later versions.
func (u *unit) refAddrSize() int64 {
	if u.version == 2 {
		return int64(u.addrSize)
	}
	return 4
}

// abbrevReader reads the tables of .debug_abbrev, each once.
type abbrevReader struct {
	data   []byte
	tables map[int64]*abbrevCodes // by offset
	read   int                    // bytes read so far

	references []unitReference // memory for those of a unit
}

// abbrevCodes holds the abbreviations of a table by code. Compilers number them from 1.
type abbrevCodes struct {
	numbered []*abbrev
	others   map[uint64]*abbrev
}

func (t *abbrevCodes) set(code uint64, a *abbrev) {
	switch n := uint64(len(t.numbered)); {
	case code < n:
		t.numbered[code] = a
	case code == n && t.others[code] == nil:
		t.numbered = append(t.numbered, a)
	default:
		t.others[code] = a
	}
}

// of returns the abbreviation with a code, or nil.
func (t *abbrevCodes) of(code uint64) *abbrev {
	if code < uint64(len(t.numbered)) {
		return t.numbered[code]
	}
	return t.others[code]
}

func newAbbrevReader(abbrevs *ptx.Data) *abbrevReader {
	r := &abbrevReader{tables: map[int64]*abbrevCodes{}}
	if abbrevs != nil {
		r.data = abbrevs.Bytes
	}
	return r
}

func (t *abbrevReader) table(offset int64) (*abbrevCodes, *dwarfError) {
	if table, ok := t.tables[offset]; ok {
		return table, nil
	}
	if t.data == nil {
		return nil, &dwarfError{".debug_abbrev", 0, "the module has no .debug_abbrev"}
	}
	r := &reader{section: ".debug_abbrev", data: t.data, at: offset}
	if offset < 0 || offset >= int64(len(t.data)) {
		r.at = 0
		r.fail("they start behind their section")
		return nil, r.err
	}
	// Tables must not overlap. A table that starts inside another would be read again
	// for every unit.
	if t.read > len(t.data) {
		r.fail("they overlap with others")
		return nil, r.err
	}
	table := &abbrevCodes{numbered: []*abbrev{nil}, others: map[uint64]*abbrev{}}
	for {
		code := r.uleb()
		if code == 0 || r.err != nil {
			break
		}
		a := &abbrev{tag: r.uleb(), children: byte(r.uint(1))}
		for r.err == nil {
			s := spec{at: r.uleb(), form: r.uleb()}
			if s.form == formImplicit {
				s.implicit = r.sleb()
			}
			if s.at == 0 && s.form == 0 {
				break
			}
			if s.at == 0 || s.form == 0 { // some readers end the list here, others do not
				r.fail("attribute 0x%x of form 0x%x", s.at, s.form)
			}
			a.specs = append(a.specs, s)
		}
		table.set(code, a)
		if r.at >= int64(len(t.data)) { // the guide's example has no final 0
			break
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	t.read += int(r.at - offset)
	t.tables[offset] = table
	return table, nil
}
