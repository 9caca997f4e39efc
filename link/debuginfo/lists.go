package debuginfo

import (
	"cmp"
	"encoding/binary"
	"slices"

	"ptxlink/internal/dies"
)

// entry is a pair of addresses in .debug_loc or .debug_ranges.
type entry struct {
	end  bool // of the list
	base bool // the second address is a base, which the following entries are relative to
	gone bool // an address lies in a body that was dropped
	next int64
	fits bool
}

func (m *Module) entry(l *layout, u *unit, at int64) (e entry) {
	size := int64(u.AddrSize)
	if e.next = at + 2*size; e.next > int64(len(l.data.Bytes)) {
		return e
	}
	e.fits = true
	value := func(at int64) (n uint64, fixup bool) {
		if f := l.fixupAt(at); f != nil {
			e.gone = e.gone || m.isGone(f)
			return 0, true
		}
		for i := size - 1; i >= 0; i-- {
			n = n<<8 | uint64(l.data.Bytes[at+i])
		}
		return n, false
	}
	first, firstFixup := value(at)
	second, secondFixup := value(at + size)
	e.end = first == 0 && second == 0 && !firstFixup && !secondFixup
	e.base = !firstFixup && first == ^uint64(0)>>(64-8*size)
	return e
}

// tombstone sets both addresses of an entry to 1, which makes an empty range, because two zeros
// would end the list.
func (l *layout) tombstone(u *unit, at int64) {
	b := make([]byte, 2*u.AddrSize)
	b[0], b[u.AddrSize] = 1, 1
	l.put(at, at+int64(len(b)), b)
}

// list walks the list of a unit at an offset of .debug_loc or .debug_ranges, which lies in the
// section or at its end. It empties entries with an address that is gone, and stops at an entry
// that it has walked before.
func (m *Module) list(name string, u *unit, at int64, visit func(l *layout, at int64) (int64, *dies.Error)) *dies.Error {
	l := m.layouts[name]
	gone := false // the base is
	for {
		if again, shared := l.seen(u, at); again {
			m.shared = m.shared || shared
			return nil
		}
		e := m.entry(l, u, at)
		switch {
		case !e.fits:
			return &dies.Error{Section: name, Offset: at, Text: "a list does not end"}
		case e.end:
			return nil
		case e.base:
			gone = e.gone
			at = e.next
			continue
		case e.gone || gone:
			l.tombstone(u, at)
		}
		next, err := visit(l, e.next)
		if err != nil {
			return err
		}
		at = next
	}
}

// seenEntries holds the entries of lists that were walked: a bit for each byte of the
// section.
type seenEntries struct {
	all, own []uint64 // bits for the entries of all units, and of the current unit
	unit     *unit
	places   []int64 // in own
}

// seen reports whether the entry at a place was walked before and, if so, whether another unit
// refers to it too.
func (l *layout) seen(u *unit, at int64) (again, shared bool) {
	s := &l.walked
	if s.all == nil {
		words := len(l.data.Bytes)/64 + 1
		both := make([]uint64, 2*words)
		clear(both) // see sets.Slots
		s.all, s.own = both[:words], both[words:]
	}
	if s.unit != u {
		for _, at := range s.places {
			s.own[at/64] = 0
		}
		s.unit, s.places = u, s.places[:0]
	}
	word, bit := at/64, uint64(1)<<(at%64)
	if s.all[word]&bit != 0 {
		return true, s.own[word]&bit == 0
	}
	s.all[word] |= bit
	s.own[word] |= bit
	s.places = append(s.places, at)
	return false, false
}

// locations walks a list of .debug_loc, whose entries hold expressions.
func (m *Module) locations(u *unit, at int64) *dies.Error {
	return m.list(".debug_loc", u, at, func(l *layout, at int64) (int64, *dies.Error) {
		end := at + 2
		if end <= int64(len(l.data.Bytes)) {
			end += int64(binary.LittleEndian.Uint16(l.data.Bytes[at:]))
		}
		if end > int64(len(l.data.Bytes)) {
			return 0, &dies.Error{Section: ".debug_loc", Offset: at, Text: "a list does not end"}
		}
		before := len(l.patches)
		size, err := m.expression(l, u, at+2, end, 0)
		if err != nil {
			return 0, err
		}
		if size > 0xffff {
			return 0, &dies.Error{Section: ".debug_loc", Offset: at, Text: "an expression becomes too long"}
		}
		if len(l.patches) > before {
			m.moving = true
			l.put(at, at+2, appendUint(nil, uint64(size), 2))
		}
		return end, nil
	})
}

// index moves the offsets in .debug_pubnames, .debug_pubtypes or .debug_aranges: the
// offsets of units, and the offsets of names, which are relative to their unit. It reports
// whether the section is valid.
//
// The offset of a unit other than the first must be a plain number, because ptxas would turn
// .debug_info+N, or a label, into the name of an undefined symbol here. The number is
// correct in the cubin of a whole program (TestDebugPubnames in package link).
func (m *Module) index(l *layout) bool {
	le := binary.LittleEndian
	info := m.layouts[".debug_info"]
	b := l.data.Bytes
	least := int64(14)
	if l.data.Name == ".debug_aranges" {
		least = 12
	}
	for at := int64(0); at+4 <= int64(len(b)); {
		length := int64(le.Uint32(b[at:]))
		if length == 0 { // padding
			return true
		}
		end := at + 4 + length
		if end < at+least || end > int64(len(b)) || info == nil {
			return false
		}
		unitAt, kind := int64(le.Uint32(b[at+6:])), number
		if f := l.fixupAt(at + 6); f != nil {
			if f.Section() != ".debug_info" || f.Width != 4 {
				return false
			}
			unitAt, kind = f.Addend, unitOffset
		}
		u := m.unitAt(unitAt)
		if u == nil {
			return false
		}
		l.patches = append(l.patches, patch{off: at + 6, end: at + 10, size: 4, kind: kind, in: info, value: unitAt})
		if l.data.Name == ".debug_aranges" {
			m.aranges(l, at, end)
			at = end
			continue
		}
		left := max(0, min(4, u.End-u.Off-int64(le.Uint32(b[at+10:])))) // the producer leaves out nothing, or the length of the unit
		l.patches = append(l.patches, patch{off: at + 10, end: at + 14, size: 4, kind: reference, in: info, value: u.End, from: u.Off + left})
		for p := at + 14; p+4 <= end; {
			off := int64(le.Uint32(b[p:]))
			if off == 0 {
				break
			}
			if off > u.End-u.Off {
				return false
			}
			l.patches = append(l.patches, patch{off: p, end: p + 4, size: 4, kind: reference, in: info, value: u.Off + off, from: u.Off})
			for p += 4; p < end && b[p] != 0; p++ {
			}
			p++
		}
		at = end
	}
	return true
}

// aranges empties the ranges whose addresses are gone.
func (m *Module) aranges(l *layout, at, end int64) {
	size := int64(l.data.Bytes[at+10])
	if size != 4 && size != 8 || l.data.Bytes[at+11] != 0 { // sets with segments are not read
		return
	}
	for p := at + (12+2*size-1)/(2*size)*(2*size); p+2*size <= end; p += 2 * size {
		if m.isGone(l.fixupAt(p)) {
			b := make([]byte, 2*size)
			b[0] = 1 // otherwise two zeros would end the set
			l.put(p, p+2*size, b)
		}
	}
}

func (m *Module) unitAt(off int64) *unit {
	i, ok := slices.BinarySearchFunc(m.units, off, func(u *unit, off int64) int { return cmp.Compare(u.Off, off) })
	if !ok {
		return nil
	}
	return m.units[i]
}
