package dies

import "encoding/binary"

// Unit is one unit of .debug_info or .debug_types. Places are offsets in the section.
type Unit struct {
	Section  string
	Off, End int64
	Header   int64 // bytes before the first DIE
	Version  int
	AddrSize int
	AbbrevAt int64 // the place of the offset of its abbreviations
	TypeAt   int64 // the place of the offset of the type in a type unit; 0 in others
	Data     []byte
	Abbrevs  Abbrevs // set by the caller of ReadUnit
}

// ReadUnit reads the header of the unit at an offset of a section.
func ReadUnit(section string, data []byte, off int64) (*Unit, *Error) {
	const compile, typ, partial = 1, 2, 3 // unit types
	r := &Reader{Section: section, Data: data, At: off}
	u := &Unit{Section: section, Off: off}
	length := r.Uint(4)
	if length >= 0xfffffff0 {
		r.Fail("64-bit DWARF")
	}
	u.End = off + 4 + int64(length)
	if u.End > int64(len(data)) {
		r.Fail("the unit is longer than its section")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	u.Data = data[:u.End]
	r.Data = u.Data
	u.Version = int(r.Uint(2))
	unitType := uint64(compile)
	if section == ".debug_types" {
		unitType = typ
	}
	if u.Version >= 5 {
		unitType = r.Uint(1)
		u.AddrSize = int(r.Uint(1))
		u.AbbrevAt = r.At
		r.Uint(4)
	} else {
		u.AbbrevAt = r.At
		r.Uint(4)
		u.AddrSize = int(r.Uint(1))
	}
	if r.Err == nil && (u.Version < 2 || u.Version > 5 || unitType != compile && unitType != typ && unitType != partial) {
		r.Fail("DWARF version %d, unit type %d", u.Version, unitType)
	}
	if r.Err == nil && u.AddrSize != 4 && u.AddrSize != 8 {
		r.Fail("addresses of %d bytes", u.AddrSize)
	}
	if unitType == typ {
		r.Skip(8) // the signature
		u.TypeAt = r.At
		r.Uint(4)
	}
	u.Header = r.At - off
	return u, r.Err
}

// AbbrevOffset returns the offset of the abbreviations of the unit, which may be at a fixup.
func (u *Unit) AbbrevOffset() int64 {
	return int64(binary.LittleEndian.Uint32(u.Data[u.AbbrevAt:]))
}

// RefAddrSize returns the size of DW_FORM_ref_addr: an address in DWARF 2, an offset
// in later versions.
func (u *Unit) RefAddrSize() int64 {
	if u.Version == 2 {
		return int64(u.AddrSize)
	}
	return 4
}

// DIE is one debugging information entry. Its Abbrev is nil if it ends a list of children.
type DIE struct {
	Off    int64
	Body   int64 // after the code
	Abbrev *Abbrev
	Attrs  []Attr
}

// Entries reads the DIEs of a unit, one at a time.
type Entries struct {
	Reader
	DIE  // the one that was read; the next one uses the memory of its attributes
	unit *Unit
}

// Entries starts to read the DIEs of the unit.
func (u *Unit) Entries() Entries {
	return Entries{Reader: Reader{Section: u.Section, Data: u.Data, At: u.Off + u.Header}, unit: u}
}

// Next reads the next DIE. It returns false after the last one and after an error.
func (e *Entries) Next() bool {
	if !e.code() {
		return false
	}
	e.Attrs = e.Attrs[:0]
	if e.Abbrev == nil {
		return true
	}
	for i := range e.Abbrev.Specs {
		e.Attrs = append(e.Attrs, Attr{})
		e.attribute(e.unit, &e.Abbrev.Specs[i], &e.Attrs[i])
	}
	return e.Err == nil
}

func (e *Entries) code() bool {
	if e.Err != nil || e.At >= e.unit.End {
		return false
	}
	e.Off = e.At
	code := e.Uleb()
	if e.Body, e.Abbrev = e.At, nil; code == 0 {
		return e.Err == nil
	}
	if e.Abbrev = e.unit.Abbrevs[code]; e.Abbrev == nil {
		e.Fail("abbreviation %d is not defined", code)
	}
	return e.Err == nil
}

// SkipChildren passes the children of the DIE that was read, at any depth.
func (e *Entries) SkipChildren() {
	var a Attr
	for depth := 0; ; {
		if e.Abbrev == nil {
			depth--
		} else if e.Abbrev.Children != 0 {
			depth++
		}
		if depth <= 0 || !e.code() {
			return
		}
		if e.Abbrev == nil {
			continue
		}
		for i := range e.Abbrev.Specs {
			e.attribute(e.unit, &e.Abbrev.Specs[i], &a)
		}
	}
}
