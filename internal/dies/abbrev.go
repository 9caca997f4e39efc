package dies

import (
	"debug/dwarf"
	"math"
)

// Abbrev is one abbreviation: the shape of a DIE.
type Abbrev struct {
	Tag      dwarf.Tag
	Children byte
	Specs    []Spec
}

// Abbrevs holds the abbreviations of a table by code.
type Abbrevs map[uint64]*Abbrev

// Tables reads the tables of .debug_abbrev, each once.
type Tables struct {
	data   []byte
	tables map[int64]Abbrevs // by offset
	read   int               // bytes read so far
}

// NewTables returns the tables of a section, which may be missing.
func NewTables(data []byte) *Tables {
	return &Tables{data: data, tables: map[int64]Abbrevs{}}
}

// Table returns the table at an offset.
func (t *Tables) Table(offset int64) (Abbrevs, *Error) {
	if table, ok := t.tables[offset]; ok {
		return table, nil
	}
	r := &Reader{Section: ".debug_abbrev", Data: t.data, At: offset}
	switch {
	case len(t.data) == 0:
		r.At = 0
		r.Fail("the module has no .debug_abbrev")
	case offset < 0 || offset >= int64(len(t.data)):
		r.At = 0
		r.Fail("they start behind their section")
	case t.read > len(t.data):
		// Tables must not overlap. A table that starts inside another would be read again
		// for every unit.
		r.Fail("they overlap with others")
	}
	table := Abbrevs{}
	for r.At < int64(len(t.data)) { // because the guide's example has no final 0
		code := r.Uleb()
		if code == 0 || r.Err != nil {
			break
		}
		table[code] = r.abbrev()
	}
	if r.Err != nil {
		return nil, r.Err
	}
	t.read += int(r.At - offset)
	t.tables[offset] = table
	return table, nil
}

// abbrev reads an abbreviation after its code.
func (r *Reader) abbrev() *Abbrev {
	tag := r.Uleb()
	if tag > math.MaxUint32 {
		r.Fail("tag 0x%x", tag)
	}
	a := &Abbrev{Tag: dwarf.Tag(tag), Children: byte(r.Uint(1))}
	for r.Err == nil {
		at, form := r.Uleb(), r.Uleb()
		s := Spec{At: dwarf.Attr(at), Form: form}
		if form == FormImplicit {
			s.Implicit = r.Sleb()
		}
		if at == 0 && form == 0 {
			break
		}
		if at == 0 || form == 0 || at > math.MaxUint32 { // because some readers end the list at 0, and others do not
			r.Fail("attribute 0x%x of form 0x%x", at, form)
		}
		a.Specs = append(a.Specs, s)
	}
	return a
}
