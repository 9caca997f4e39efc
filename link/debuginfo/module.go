package debuginfo

import (
	"context"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/dies"
	"ptxlink/object/ptx"
)

// prepare finds the patches to the sections of the module. Only the merger can assign the codes of
// abbreviations, because all modules share one table. prepare returns an error for data that it
// cannot move.
func (m *Module) prepare(ctx context.Context) *dies.Error {
	m.layouts = map[string]*layout{}
	m.shapes, m.shapeList = map[*dies.Abbrev]int64{}, nil
	m.shared, m.moving = false, false
	for name, data := range m.sections {
		if m.mergeable(name) {
			m.layouts[name] = &layout{data: data, fixups: fixups{list: data.Fixups}, pairs: name == ".debug_loc" || name == ".debug_ranges"}
		}
	}
	m.macinfo()
	for _, units := range [][]*unit{m.units, m.types} {
		for _, u := range units {
			if err := m.unit(ctx, u); err != nil {
				return err
			}
		}
	}
	if m.shared && m.moving {
		return &dies.Error{Section: ".debug_loc", Offset: 0, Text: "units share a list that refers to entries"}
	}
	for _, name := range []string{".debug_loc", ".debug_ranges"} {
		if l := m.layouts[name]; l != nil && !l.inOrder() {
			return &dies.Error{Section: name, Offset: 0, Text: "lists overlap"}
		}
	}
	for _, name := range []string{".debug_info", ".debug_types", ".debug_loc", ".debug_ranges"} {
		if l := m.layouts[name]; l != nil {
			if f := l.cutFixup(); f != nil {
				return &dies.Error{Section: name, Offset: f.Offset, Text: fmt.Sprintf("the merge would cut the address %s", f)}
			}
		}
	}
	for _, name := range []string{".debug_pubnames", ".debug_pubtypes", ".debug_aranges"} {
		if l := m.layouts[name]; l != nil && (!m.index(l) || l.cutFixup() != nil) {
			delete(m.layouts, name)
		}
	}
	return nil
}

// mergeable reports whether a section can be merged: all offsets in it must be known. ptxas omits
// sections whose name does not start with .debug_, so these may hold anything.
func (m *Module) mergeable(name string) bool {
	switch name {
	case ".debug_info", ".debug_types", ".debug_abbrev", ".debug_loc", ".debug_ranges", ".debug_str", ".debug_line_str",
		".debug_macinfo", ".debug_pubnames", ".debug_pubtypes", ".debug_aranges", ".debug_gdb_scripts":
		return true
	}
	return !strings.HasPrefix(name, ".debug_")
}

func (m *Module) unit(ctx context.Context, u *unit) *dies.Error {
	l := m.layouts[u.Section]
	l.patches = append(l.patches,
		patch{off: u.Off, end: u.Off + 4, size: 4, kind: reference, in: l, value: u.End, from: u.Off + 4},
		patch{off: u.AbbrevAt, end: u.AbbrevAt + 4, size: 4, kind: offset, in: abbrevTables})
	if u.TypeAt > 0 {
		to := uint64(binary.LittleEndian.Uint32(l.data.Bytes[u.TypeAt:]))
		if !u.hasDIE(to) {
			return &dies.Error{Section: u.Section, Offset: u.TypeAt, Text: "the type of the unit is no entry"}
		}
		l.patches = append(l.patches, patch{off: u.TypeAt, end: u.TypeAt + 4, size: 4, kind: reference, in: l, value: u.Off + int64(to), from: u.Off})
	}
	var specs []dies.Spec
	l.patches = slices.Grow(l.patches, u.changing)
	entries := u.Entries()
	for n := 0; entries.Next(); n++ {
		if isCancelled(ctx, n) {
			return nil // Merge checks the context itself
		}
		d := &entries.DIE
		if d.Abbrev == nil {
			continue
		}
		at := len(l.patches)
		l.patches = append(l.patches, patch{off: d.Off, end: d.Body, kind: code})
		low, high := m.bounds(l, u, d)
		specs = specs[:0]
		for k := range d.Attrs {
			a := &d.Attrs[k]
			var s dies.Spec
			var err *dies.Error
			switch {
			case a.At == dwarf.AttrLowpc && low != nil:
				s = m.replace(l, a, low)
			case a.At == dwarf.AttrHighpc && high != nil:
				s = m.replace(l, a, high)
			default:
				s, err = m.attribute(l, u, a)
			}
			if err != nil {
				return err
			}
			if s.At != 0 {
				specs = append(specs, s)
			}
		}
		l.patches[at].value = m.shape(d.Abbrev, specs)
	}
	return nil
}

func (m *Module) shape(a *dies.Abbrev, specs []dies.Spec) int64 {
	last, known := m.shapes[a] // the same abbreviation nearly always gets the same specs
	if !known || !slices.Equal(specs, m.shapeList[last].Specs) {
		shape := a
		if !slices.Equal(specs, a.Specs) {
			shape = &dies.Abbrev{Tag: a.Tag, Children: a.Children, Specs: slices.Clone(specs)}
		}
		last = int64(len(m.shapeList))
		m.shapes[a] = last
		m.shapeList = append(m.shapeList, shape)
	}
	return last
}

// attribute adds the patch for one attribute, if it needs one, and returns its spec
// in the output abbreviation. The zero spec omits the attribute.
func (m *Module) attribute(l *layout, u *unit, a *dies.Attr) (dies.Spec, *dies.Error) {
	fail := func(text string) (dies.Spec, *dies.Error) {
		return dies.Spec{}, &dies.Error{Section: u.Section, Offset: a.Off, Text: text}
	}
	fixup := l.fixupOf(a)
	switch {
	case fixup != nil && fixup.Name < 0 && fixup.Target != ".debug_line" && m.layouts[fixup.Target] == nil,
		fixup == nil && isOffset(a, u.Version) && m.sections[sectionOf(a.At, u.Version)] != nil && m.layouts[sectionOf(a.At, u.Version)] == nil:
		switch a.At {
		case dwarf.AttrMacros, attrGNUMacros, dwarf.AttrStrOffsetsBase, dwarf.AttrAddrBase, dwarf.AttrRnglistsBase, dwarf.AttrLoclistsBase: // of no use without the section
			l.put(a.Start, a.End, nil)
			return dies.Spec{}, nil
		}
		return fail("an attribute needs a section that cannot be merged")
	case (a.At == dwarf.AttrDeclFile || a.At == dwarf.AttrCallFile) && a.IsConstant() && fixup == nil:
		return l.file(a, uint64(m.Files[int64(a.Value)])), nil // 0, which means no file, stays 0
	case a.IsUnitRef() && fixup == nil:
		form, size := uint64(dies.FormRef4), int32(4) // the distance may outgrow a smaller one
		if a.Form == dies.FormRef8 {
			form, size = dies.FormRef8, 8
		}
		l.patches = append(l.patches, patch{off: a.Start, end: a.End, size: size, kind: reference, in: l, value: u.Off + int64(a.Value), from: u.Off})
		return dies.Spec{At: a.At, Form: form}, nil
	case isExpression(a):
		return m.block(l, u, a)
	}
	switch a.Form {
	case dies.FormStrx, dies.FormStrx1, dies.FormStrx2, dies.FormStrx3, dies.FormStrx4, dies.FormAddrx, dies.FormAddrx1, dies.FormAddrx2, dies.FormAddrx3, dies.FormAddrx4, dies.FormLoclistx, dies.FormRnglistx:
		return fail("an attribute needs a table of DWARF 5, which cannot be merged")
	}
	var section string
	switch {
	case a.Form == dies.FormStrp:
		section = ".debug_str"
	case a.Form == dies.FormLineStrp:
		section = ".debug_line_str"
	case a.Form == dies.FormRefAddr:
		section = ".debug_info"
	case isOffset(a, u.Version):
		section = sectionOf(a.At, u.Version)
		if section == "" && fixup == nil {
			return fail("the section of an offset is not known")
		}
	}
	l.direct(a)
	if section == "" {
		return dies.Spec{At: a.At, Form: a.Form, Implicit: a.Implicit}, nil
	}
	to := int64(a.Value)
	switch in := m.layouts[section]; {
	case fixup != nil:
		to, section = fixup.Addend, fixup.Section()
	case section == ".debug_line":
		l.patches = append(l.patches, patch{off: a.Off, end: a.End, size: int32(a.End - a.Off), kind: offset, in: lineTable})
	case in == nil:
		return fail("the module has no section " + section)
	case to < 0 || to > int64(len(in.data.Bytes)):
		return fail("an offset lies outside " + section)
	default:
		l.putSection(a.Off, a.End, in, a.Value)
	}
	if isOffset(a, u.Version) && a.At != attrGNULocviews {
		switch section {
		case ".debug_loc":
			return dies.Spec{At: a.At, Form: a.Form}, m.locations(u, to)
		case ".debug_ranges":
			return dies.Spec{At: a.At, Form: a.Form}, m.list(section, u, to, func(_ *layout, at int64) (int64, *dies.Error) { return at, nil })
		}
	}
	return dies.Spec{At: a.At, Form: a.Form}, nil
}

// All units share the .debug_line that ptxas makes and one table of abbreviations, so both start at
// offset 0.
var (
	lineTable    = &layout{data: &ptx.Data{Name: ".debug_line"}}
	abbrevTables = &layout{data: &ptx.Data{Name: ".debug_abbrev"}}
)

// direct omits the form before a value of DW_FORM_indirect, because the merged table
// has the form itself.
func (l *layout) direct(a *dies.Attr) {
	if a.Start < a.Off {
		l.put(a.Start, a.Off, nil)
	}
}

// file writes a file number in the form of the attribute, or in a larger form if it
// does not fit.
func (l *layout) file(a *dies.Attr, n uint64) dies.Spec {
	var memory [10]byte
	b := memory[:0]
	form := a.Form
	switch {
	case form == dies.FormImplicit:
		return dies.Spec{At: a.At, Form: form, Implicit: int64(n)}
	case form == dies.FormUdata:
		b = binary.AppendUvarint(b, n)
	case form == dies.FormSdata:
		b = appendSleb(b, int64(n))
	case form == dies.FormData1 && n <= 0xff:
		b = appendUint(b, n, 1)
	case form == dies.FormData8:
		b = appendUint(b, n, 8)
	case (form == dies.FormData1 || form == dies.FormData2) && n <= 0xffff:
		form, b = dies.FormData2, appendUint(b, n, 2)
	default:
		form, b = dies.FormData4, appendUint(b, n, 4)
	}
	if string(b) != string(l.data.Bytes[a.Start:a.End]) || l.hasFixup(a.Start, a.End) {
		l.put(a.Start, a.End, b)
	}
	return dies.Spec{At: a.At, Form: form}
}

func (m *Module) block(l *layout, u *unit, a *dies.Attr) (dies.Spec, *dies.Error) {
	at := len(l.patches)
	l.patches = append(l.patches, patch{}) // for the length, whose patch must come first
	size, err := m.expression(l, u, a.End-int64(a.Value), a.End, 0)
	if err != nil {
		return dies.Spec{}, err
	}
	form, n := a.Form, uint64(size)
	var memory [10]byte
	b := memory[:0]
	switch {
	case form == dies.FormExprloc || form == dies.FormBlock:
		b = binary.AppendUvarint(b, n)
	case form == dies.FormBlock1 && n <= 0xff:
		b = appendUint(b, n, 1)
	case form != dies.FormBlock4 && n <= 0xffff:
		form, b = dies.FormBlock2, appendUint(b, n, 2)
	default:
		form, b = dies.FormBlock4, appendUint(b, n, 4)
	}
	if before := a.End - int64(a.Value); len(l.patches) == at+1 && string(b) == string(l.data.Bytes[a.Start:before]) && !l.hasFixup(a.Start, before) {
		l.patches = l.patches[:at] // nothing changes
		return dies.Spec{At: a.At, Form: form}, nil
	}
	l.patches[at] = l.literal(a.Start, a.End-int64(a.Value), b)
	return dies.Spec{At: a.At, Form: form}, nil
}

// bounds returns the replacements for the ends of the code of a DIE if one of them was in a dropped
// body: output symbols, or "" for nothing. nil leaves an end unchanged.
//
//  1. The DIE of a function or a scope loses both ends.
//  2. A unit starts at the function that was kept instead, as with nvlink, and ends
//     with the last of its functions that was kept. Otherwise, if none was kept, the unit
//     loses both ends.
func (m *Module) bounds(l *layout, u *unit, d *dies.DIE) (low, high *string) {
	var lowFate, highFate = Kept, Kept
	var lowSymbol string
	hasLow := false
	for i := range d.Attrs {
		a := &d.Attrs[i]
		if a.At != dwarf.AttrLowpc && a.At != dwarf.AttrHighpc {
			continue
		}
		symbol, fate := "", Kept
		if f := l.fixupOf(a); f != nil && f.Name >= 0 {
			symbol, fate = m.Name(f.Name)
		}
		if a.At == dwarf.AttrLowpc {
			hasLow, lowSymbol, lowFate = true, symbol, fate
		} else {
			highFate = fate
		}
	}
	if lowFate == Kept && highFate == Kept {
		return nil, nil
	}
	none := new(string)
	if d.Abbrev.Tag != dwarf.TagCompileUnit && d.Abbrev.Tag != dwarf.TagPartialUnit || !hasLow {
		return none, none
	}
	if lowFate != Kept {
		if lowSymbol == "" {
			return none, none
		}
		low = &lowSymbol
	}
	if highFate != Kept {
		symbol := m.lastEnd(l, u)
		if symbol == "" {
			return none, none
		}
		high = &symbol
	}
	return low, high
}

// fixupOf returns the fixup that is the value of an attribute; nil if the value has no bytes, since
// it is then in the abbreviation.
func (l *layout) fixupOf(a *dies.Attr) *ptx.Fixup {
	if a.Off == a.End {
		return nil
	}
	return l.fixupAt(a.Off)
}

func (m *Module) lastEnd(l *layout, u *unit) (last string) {
	for d := u.Entries(); d.Next(); {
		if d.Abbrev == nil || d.Abbrev.Tag != dwarf.TagSubprogram {
			continue
		}
		for k := range d.Attrs {
			if a := &d.Attrs[k]; a.At == dwarf.AttrHighpc {
				if f := l.fixupOf(a); f != nil && f.Name >= 0 {
					if symbol, fate := m.Name(f.Name); fate == Kept {
						last = symbol
						break
					}
				}
			}
		}
	}
	return last
}

// replace writes an end of the code: a symbol, or 0. It must omit the attribute if its form can
// hold neither.
func (m *Module) replace(l *layout, a *dies.Attr, to *string) dies.Spec {
	s := dies.Spec{At: a.At, Form: a.Form}
	size := int32(a.End - a.Off)
	switch {
	case a.Form == dies.FormImplicit: // the abbreviation has the value, 0
	case a.Form != dies.FormAddr && !a.IsConstant():
		l.put(a.Start, a.End, nil)
		return dies.Spec{}
	case *to != "" && size >= 4 && a.Form != dies.FormUdata && a.Form != dies.FormSdata:
		l.direct(a)
		l.patches = append(l.patches, patch{off: a.Off, end: a.End, size: size, kind: address, from: l.text(*to)})
	case a.Form == dies.FormUdata || a.Form == dies.FormSdata:
		l.put(a.Start, a.End, []byte{0})
	default:
		l.put(a.Start, a.End, make([]byte, size))
	}
	return s
}

// macinfo renumbers the files of .debug_macinfo, since all modules share one table of files.
func (m *Module) macinfo() {
	const define, undef, startFile, endFile, vendor = 1, 2, 3, 4, 0xff
	l := m.layouts[".debug_macinfo"]
	if l == nil {
		return
	}
	r := &dies.Reader{Section: l.data.Name, Data: l.data.Bytes}
	for r.At < int64(len(r.Data)) && r.Err == nil {
		switch kind := r.Uint(1); kind {
		case define, undef, vendor:
			r.Uleb()
			r.CString()
		case startFile:
			r.Uleb()
			at := r.At
			if file := r.Uleb(); r.Err == nil {
				l.put(at, r.At, binary.AppendUvarint(nil, uint64(m.Files[int64(file)])))
			}
		case 0, endFile:
		default:
			r.Fail("macro entry %d", kind)
		}
	}
	if r.Err != nil || l.cutFixup() != nil { // invalid contents stay unchanged
		l.patches = nil
	}
}
