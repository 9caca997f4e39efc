package dwarftypes

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
)

// skipper passes the contents of functions, most of the DWARF, without making entries of
// them. It reads 32-bit DWARF of versions 2 to 5 in order, and gives up where it meets
// anything that debug/dwarf may refuse.
type skipper struct {
	info, abbrev, str []byte
	unit              skippedUnit
	tables            map[uint32]*skippedTable // by offset

	at int
	ok bool
}

// skippedUnit is a unit of .debug_info; end is where it ends.
type skippedUnit struct {
	end         int
	version     uint16
	addressSize int
	abbrevs     *skippedTable
}

// skippedTable holds abbreviations by code. Compilers number them from 1.
type skippedTable struct {
	numbered []skippedAbbrev
	others   map[uint64]*skippedAbbrev
}

func (t *skippedTable) of(code uint64) *skippedAbbrev {
	if code-1 < uint64(len(t.numbered)) {
		return &t.numbered[code-1]
	}
	return t.others[code]
}

// skippedAbbrev is the shape of a DIE.
type skippedAbbrev struct {
	tag      dwarf.Tag
	children bool
	forms    []uint64
}

// function returns the offsets of the parameters of the subprogram at an offset, which
// has children, and the end of these.
func (s *skipper) function(at dwarf.Offset) (parameters []dwarf.Offset, end dwarf.Offset, ok bool) {
	s.at, s.ok = int(at), true
	for s.ok && s.at >= s.unit.end {
		s.enter()
	}
	s.at = int(at)
	for depth := 0; s.ok; {
		at := s.at
		a := s.die()
		if a == nil {
			if depth--; depth <= 0 {
				break
			}
			continue
		}
		if depth == 1 && a.tag == dwarf.TagFormalParameter {
			parameters = append(parameters, dwarf.Offset(at))
			s.ok = s.ok && !a.children
		}
		s.values(a)
		if a.children {
			depth++
		}
	}
	// No DIE can be sought behind the unit.
	return parameters, dwarf.Offset(s.at), s.ok && s.at < s.unit.end
}

// die passes the code of a DIE. It returns nil at the end of a list of children.
func (s *skipper) die() *skippedAbbrev {
	code := s.uleb()
	if code == 0 {
		return nil
	}
	a := s.unit.abbrevs.of(code)
	s.ok = s.ok && a != nil
	return a
}

func (s *skipper) values(a *skippedAbbrev) {
	for _, form := range a.forms {
		s.value(form)
	}
}

// rest passes the rest of a DIE behind its code: its values and children.
func (s *skipper) rest(a *skippedAbbrev) {
	for depth := 0; s.ok; a = s.die() {
		if a == nil {
			depth--
		} else {
			if s.values(a); a.children {
				depth++
			}
		}
		if depth <= 0 {
			return
		}
	}
}

// enter reads the header of the next unit.
func (s *skipper) enter() {
	s.at = s.unit.end
	length := int(s.uint(4))
	s.unit = skippedUnit{end: s.at + length}
	if length >= 0xfffffff0 || s.unit.end > len(s.info) {
		s.ok = false
	}
	u := &s.unit
	u.version = uint16(s.uint(2))
	var table uint32
	switch {
	case u.version >= 2 && u.version <= 4:
		table = uint32(s.uint(4))
		u.addressSize = int(s.uint(1))
	case u.version == 5:
		s.ok = s.uint(1) == 1 // a compile unit
		u.addressSize = int(s.uint(1))
		table = uint32(s.uint(4))
	default:
		s.ok = false
	}
	if s.ok {
		u.abbrevs = s.table(table)
	}
}

// table reads the abbreviations at an offset.
func (s *skipper) table(off uint32) *skippedTable {
	if table, ok := s.tables[off]; ok {
		return table
	}
	table := &skippedTable{}
	r := skipper{info: s.abbrev, at: int(off), ok: int(off) < len(s.abbrev)}
	var forms []uint64
	for r.ok {
		code := r.uleb()
		if code == 0 {
			break
		}
		a := skippedAbbrev{tag: dwarf.Tag(r.uleb()), children: r.uint(1) != 0}
		first := len(forms)
		for r.ok {
			attr, form := r.uleb(), r.uleb()
			if attr == 0 && form == 0 {
				break
			}
			if form == 0x21 { // DW_FORM_implicit_const
				r.uleb()
			}
			forms = append(forms, form)
		}
		a.forms = forms[first:len(forms):len(forms)]
		if code == uint64(len(table.numbered))+1 && table.others[code] == nil {
			table.numbered = append(table.numbered, a)
			continue
		}
		if table.others == nil {
			table.others = map[uint64]*skippedAbbrev{}
		}
		table.others[code] = &a
	}
	s.ok = s.ok && r.ok
	s.tables[off] = table
	return table
}

// value passes a value of a form.
func (s *skipper) value(form uint64) {
	switch form {
	case 0x01: // addr
		s.skip(uint64(s.unit.addressSize))
	case 0x0a: // block1
		s.skip(s.uint(1))
	case 0x03: // block2
		s.skip(s.uint(2))
	case 0x04: // block4
		s.skip(s.uint(4))
	case 0x09, 0x18: // block, exprloc
		s.skip(s.uleb())
	case 0x0b, 0x0c, 0x11: // data1, flag, ref1
		s.skip(1)
	case 0x05, 0x12: // data2, ref2
		s.skip(2)
	case 0x06, 0x13, 0x17: // data4, ref4, sec_offset
		s.skip(4)
	case 0x07, 0x14, 0x20: // data8, ref8, ref_sig8
		s.skip(8)
	case 0x0d, 0x0f, 0x15: // sdata, udata, ref_udata
		for s.ok && s.uint(1) >= 0x80 { // nvcc writes 64 bits of -1
		}
	case 0x08: // string
		if n := bytes.IndexByte(s.info[min(s.at, len(s.info)):], 0); n >= 0 {
			s.skip(uint64(n) + 1)
		} else {
			s.ok = false
		}
	case 0x0e: // strp
		off, n := s.uint(4), len(s.str)
		s.ok = s.ok && off < uint64(n) && s.str[n-1] == 0
	case 0x19, 0x21: // flag_present, implicit_const
	default:
		s.ok = false
	}
}

func (s *skipper) skip(n uint64) {
	if s.ok = s.ok && n <= uint64(len(s.info)-s.at); s.ok {
		s.at += int(n)
	}
}

func (s *skipper) uint(n int) uint64 {
	from := s.at
	if s.skip(uint64(n)); !s.ok {
		return 0
	}
	var b [8]byte
	copy(b[:], s.info[from:s.at])
	return binary.LittleEndian.Uint64(b[:])
}

func (s *skipper) uleb() (n uint64) {
	for shift := 0; s.ok && s.at < len(s.info) && shift < 63; shift += 7 {
		b := s.info[s.at]
		s.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	s.ok = false
	return 0
}
