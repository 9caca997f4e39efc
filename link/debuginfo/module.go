package debuginfo

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// prepare finds the patches to the sections of the module, except for the codes of
// abbreviations, which the merger assigns. It returns an error for data it cannot
// move.
func (m *Module) prepare(ctx context.Context) *dwarfError {
	m.layouts = map[string]*layout{}
	m.shapes, m.shapeList = map[*abbrev]int64{}, nil
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
		return &dwarfError{".debug_loc", 0, "units share a list that refers to entries"}
	}
	for _, name := range []string{".debug_loc", ".debug_ranges"} {
		if l := m.layouts[name]; l != nil && !l.inOrder() {
			return &dwarfError{name, 0, "lists overlap"}
		}
	}
	for _, name := range []string{".debug_info", ".debug_types", ".debug_loc", ".debug_ranges"} {
		if l := m.layouts[name]; l != nil {
			if f := l.cutFixup(); f != nil {
				return &dwarfError{name, f.Offset, fmt.Sprintf("the merge would cut the address %s", f)}
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

// mergeable reports whether a section can be merged, that is, whether all offsets in
// it are known. ptxas omits sections whose name does not start with .debug_.
func (m *Module) mergeable(name string) bool {
	switch name {
	case ".debug_info", ".debug_types", ".debug_abbrev", ".debug_loc", ".debug_ranges", ".debug_str", ".debug_line_str",
		".debug_macinfo", ".debug_pubnames", ".debug_pubtypes", ".debug_aranges", ".debug_gdb_scripts":
		return true
	}
	return !strings.HasPrefix(name, ".debug_")
}

// unit adds the patches for one unit.
func (m *Module) unit(ctx context.Context, u *unit) *dwarfError {
	l := m.layouts[u.section]
	l.patches = append(l.patches,
		patch{off: u.off, end: u.off + 4, size: 4, kind: reference, in: l, value: u.end, from: u.off + 4},
		patch{off: u.abbrevAt, end: u.abbrevAt + 4, size: 4, kind: offset, in: abbrevTables})
	if u.typeAt > 0 {
		to := uint64(binary.LittleEndian.Uint32(l.data.Bytes[u.typeAt:]))
		if !u.hasDIE(to) {
			return &dwarfError{u.section, u.typeAt, "the type of the unit is no entry"}
		}
		l.patches = append(l.patches, patch{off: u.typeAt, end: u.typeAt + 4, size: 4, kind: reference, in: l, value: u.off + int64(to), from: u.off})
	}
	var specs []spec
	l.patches = slices.Grow(l.patches, u.changing)
	dies := u.dies()
	for n := 0; dies.next(); n++ {
		if isCancelled(ctx, n) {
			return nil // Merge gives up
		}
		d := &dies.die
		if d.abbrev == nil {
			continue
		}
		at := len(l.patches)
		l.patches = append(l.patches, patch{off: d.off, end: d.body, kind: code})
		low, high := m.bounds(l, u, d)
		specs = specs[:0]
		for k := range d.attrs {
			a := &d.attrs[k]
			var s spec
			var err *dwarfError
			switch {
			case a.at == atLowPC && low != nil:
				s = m.replace(l, a, low)
			case a.at == atHighPC && high != nil:
				s = m.replace(l, a, high)
			default:
				s, err = m.attribute(l, u, a)
			}
			if err != nil {
				return err
			}
			if s.at != 0 {
				specs = append(specs, s)
			}
		}
		l.patches[at].value = m.shape(d.abbrev, specs)
	}
	return nil
}

// shape returns the number of the abbreviation a with other attributes.
func (m *Module) shape(a *abbrev, specs []spec) int64 {
	last, known := m.shapes[a] // nearly always the same
	if !known || !slices.Equal(specs, m.shapeList[last].specs) {
		shape := a
		if !slices.Equal(specs, a.specs) {
			shape = &abbrev{tag: a.tag, children: a.children, specs: slices.Clone(specs)}
		}
		last = int64(len(m.shapeList))
		m.shapes[a] = last
		m.shapeList = append(m.shapeList, shape)
	}
	return last
}

// attribute adds the patch for one attribute, if it needs one, and returns its spec
// in the output abbreviation. The zero spec omits the attribute.
func (m *Module) attribute(l *layout, u *unit, a *attr) (spec, *dwarfError) {
	fail := func(text string) (spec, *dwarfError) { return spec{}, &dwarfError{u.section, a.off, text} }
	fixup := l.fixupOf(a)
	switch {
	case fixup != nil && fixup.Section != "" && fixup.Section != ".debug_line" && m.layouts[fixup.Section] == nil,
		fixup == nil && a.isOffset(u.version) && m.sections[sectionOf(a.at, u.version)] != nil && m.layouts[sectionOf(a.at, u.version)] == nil:
		switch a.at {
		case atMacros, atGNUMacros, atStrOffsets, atAddrBase, atRnglistsBase, atLoclistsBase: // of no use without the section
			l.put(a.start, a.end, nil)
			return spec{}, nil
		}
		return fail("an attribute needs a section that cannot be merged")
	case (a.at == atDeclFile || a.at == atCallFile) && a.isConstant() && fixup == nil:
		return l.file(a, uint64(m.Files[int64(a.value)])), nil // 0, no file, stays 0
	case isUnitRef(a.form) && fixup == nil:
		form, size := uint64(formRef4), int32(4) // the distance may outgrow a smaller one
		if a.form == formRef8 {
			form, size = formRef8, 8
		}
		l.patches = append(l.patches, patch{off: a.start, end: a.end, size: size, kind: reference, in: l, value: u.off + int64(a.value), from: u.off})
		return spec{at: a.at, form: form}, nil
	case a.isExpression():
		return m.block(l, u, a)
	}
	switch a.form {
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formLoclistx, formRnglistx:
		return fail("an attribute needs a table of DWARF 5, which cannot be merged")
	}
	var section string
	switch {
	case a.form == formStrp:
		section = ".debug_str"
	case a.form == formLineStrp:
		section = ".debug_line_str"
	case a.form == formRefAddr:
		section = ".debug_info"
	case a.isOffset(u.version):
		section = sectionOf(a.at, u.version)
		if section == "" && fixup == nil {
			return fail("the section of an offset is not known")
		}
	}
	if section == "" {
		l.direct(a)
		return spec{at: a.at, form: a.form, implicit: a.implicit}, nil
	}
	to := int64(a.value)
	switch in := m.layouts[section]; {
	case fixup != nil:
		l.direct(a)
		to, section = fixup.Addend, fixup.Section
	case section == ".debug_line":
		l.direct(a)
		l.patches = append(l.patches, patch{off: a.off, end: a.end, size: int32(a.end - a.off), kind: offset, in: lineTable})
	case in == nil:
		return fail("the module has no section " + section)
	case to < 0 || to > int64(len(in.data.Bytes)):
		return fail("an offset lies outside " + section)
	default:
		l.direct(a)
		l.putSection(a.off, a.end, in, a.value)
	}
	if a.isOffset(u.version) && a.at != atGNULocviews {
		switch section {
		case ".debug_loc":
			return spec{at: a.at, form: a.form}, m.locations(u, to)
		case ".debug_ranges":
			return spec{at: a.at, form: a.form}, m.ranges(u, to)
		}
	}
	return spec{at: a.at, form: a.form}, nil
}

// All units share the .debug_line that ptxas makes and one table of
// abbreviations, each at offset 0.
var (
	lineTable    = &layout{data: &ptx.Data{Name: ".debug_line"}}
	abbrevTables = &layout{data: &ptx.Data{Name: ".debug_abbrev"}}
)

// direct omits the form before a value of DW_FORM_indirect, because the merged table
// has the form itself.
func (l *layout) direct(a *attr) {
	if a.start < a.off {
		l.put(a.start, a.off, nil)
	}
}

// file writes a file number in the form of the attribute, or in a larger form if it
// does not fit.
func (l *layout) file(a *attr, n uint64) spec {
	var memory [10]byte
	b := memory[:0]
	form := a.form
	switch {
	case form == formImplicit:
		return spec{at: a.at, form: form, implicit: int64(n)}
	case form == formUdata:
		b = appendUleb(b, n)
	case form == formSdata:
		b = appendSleb(b, int64(n))
	case form == formData1 && n <= 0xff:
		b = appendUint(b, n, 1)
	case form == formData8:
		b = appendUint(b, n, 8)
	case (form == formData1 || form == formData2) && n <= 0xffff:
		form, b = formData2, appendUint(b, n, 2)
	default:
		form, b = formData4, appendUint(b, n, 4)
	}
	if string(b) != string(l.data.Bytes[a.start:a.end]) || l.hasFixup(a.start, a.end) {
		l.put(a.start, a.end, b)
	}
	return spec{at: a.at, form: form}
}

// block adds the patches for a block that holds an expression.
func (m *Module) block(l *layout, u *unit, a *attr) (spec, *dwarfError) {
	at := len(l.patches)
	l.patches = append(l.patches, patch{}) // the length comes first
	size, err := m.expression(l, u, a.end-int64(a.value), a.end, 0)
	if err != nil {
		return spec{}, err
	}
	form, n := a.form, uint64(size)
	var memory [10]byte
	b := memory[:0]
	switch {
	case form == formExprloc || form == formBlock:
		b = appendUleb(b, n)
	case form == formBlock1 && n <= 0xff:
		b = appendUint(b, n, 1)
	case form != formBlock4 && n <= 0xffff:
		form, b = formBlock2, appendUint(b, n, 2)
	default:
		form, b = formBlock4, appendUint(b, n, 4)
	}
	if before := a.end - int64(a.value); len(l.patches) == at+1 && string(b) == string(l.data.Bytes[a.start:before]) && !l.hasFixup(a.start, before) {
		l.patches = l.patches[:at] // nothing changes
		return spec{at: a.at, form: form}, nil
	}
	l.patches[at] = l.literal(a.start, a.end-int64(a.value), b)
	return spec{at: a.at, form: form}, nil
}

// bound is the replacement for an end of the code that a DIE describes: an output
// symbol, or nothing.
type bound struct{ symbol string }

// bounds returns the replacements for the ends of the code of a DIE if one of them
// was in a dropped body. nil leaves an end unchanged.
//
//  1. The DIE of a function or a scope loses both ends.
//  2. A unit starts at the function that was kept instead, as with nvlink, and ends
//     with the last of its functions that was kept. If there is none, the unit
//     loses both ends.
func (m *Module) bounds(l *layout, u *unit, d *die) (low, high *bound) {
	var lowFate, highFate = Kept, Kept
	var lowSymbol string
	hasLow := false
	for i := range d.attrs {
		a := &d.attrs[i]
		if a.at != atLowPC && a.at != atHighPC {
			continue
		}
		symbol, fate := "", Kept
		if f := l.fixupOf(a); f != nil && f.Section == "" {
			symbol, fate = m.Name(f.Name)
		}
		if a.at == atLowPC {
			hasLow, lowSymbol, lowFate = true, symbol, fate
		} else {
			highFate = fate
		}
	}
	if lowFate == Kept && highFate == Kept {
		return nil, nil
	}
	none := &bound{}
	if d.abbrev.tag != tagCompileUnit && d.abbrev.tag != tagPartialUnit || !hasLow {
		return none, none
	}
	if lowFate != Kept {
		if lowSymbol == "" {
			return none, none
		}
		low = &bound{lowSymbol}
	}
	if highFate != Kept {
		symbol := m.lastEnd(l, u)
		if symbol == "" {
			return none, none
		}
		high = &bound{symbol}
	}
	return low, high
}

// fixupOf returns the fixup that is the value of an attribute; nil if the value has
// no bytes.
func (l *layout) fixupOf(a *attr) *ptx.Fixup {
	if a.off == a.end {
		return nil
	}
	return l.fixupAt(a.off)
}

// lastEnd returns the end of the last function of the unit that was kept.
func (m *Module) lastEnd(l *layout, u *unit) (last string) {
	for d := u.dies(); d.next(); {
		if d.abbrev == nil || d.abbrev.tag != tagSubprogram {
			continue
		}
		for k := range d.attrs {
			if a := &d.attrs[k]; a.at == atHighPC {
				if f := l.fixupOf(a); f != nil && f.Section == "" {
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

// replace writes an end of the code: a symbol, or 0. It omits the attribute if its
// form can hold neither.
func (m *Module) replace(l *layout, a *attr, to *bound) spec {
	s := spec{at: a.at, form: a.form}
	size := int32(a.end - a.off)
	switch {
	case a.form == formImplicit: // and its value, 0, in the abbreviation
	case a.form != formAddr && !a.isConstant():
		l.put(a.start, a.end, nil)
		return spec{}
	case to.symbol != "" && size >= 4 && a.form != formUdata && a.form != formSdata:
		l.direct(a)
		l.patches = append(l.patches, patch{off: a.off, end: a.end, size: size, kind: address, from: l.text(to.symbol)})
	case a.form == formUdata || a.form == formSdata:
		l.put(a.start, a.end, []byte{0})
	default:
		l.put(a.start, a.end, make([]byte, size))
	}
	return s
}

// macinfo renumbers the files of .debug_macinfo.
func (m *Module) macinfo() {
	const define, undef, startFile, endFile, vendor = 1, 2, 3, 4, 0xff
	l := m.layouts[".debug_macinfo"]
	if l == nil {
		return
	}
	r := &reader{section: l.data.Name, data: l.data.Bytes}
	for r.at < int64(len(r.data)) && r.err == nil {
		switch kind := r.uint(1); kind {
		case define, undef, vendor:
			r.uleb()
			r.cstring()
		case startFile:
			r.uleb()
			at := r.at
			if file := r.uleb(); r.err == nil {
				l.put(at, r.at, appendUleb(nil, uint64(m.Files[int64(file)])))
			}
		case 0, endFile:
		default:
			r.fail("macro entry %d", kind)
		}
	}
	if r.err != nil || l.cutFixup() != nil { // the contents are invalid: leave them unchanged
		l.patches = nil
	}
}
