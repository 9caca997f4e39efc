package debuginfo

import (
	"context"
	"debug/dwarf"

	"ptxlink/internal/dies"
	"ptxlink/object/ptx"
)

type unit struct {
	*dies.Unit
	starts   []uint64 // a bit for each byte of the unit: a DIE starts there
	changing int      // codes and references
}

// debug/dwarf does not name these attributes.
const (
	attrGNUCallValue dwarf.Attr = 0x2111
	attrGNUCallClob  dwarf.Attr = 0x2114
	attrGNUMacros    dwarf.Attr = 0x2119
	attrGNULocviews  dwarf.Attr = 0x2137
)

// sectionOf returns the section that a section offset of the attribute points into.
func sectionOf(at dwarf.Attr, version int) string {
	switch at {
	case dwarf.AttrStmtList:
		return ".debug_line"
	case dwarf.AttrLocation, dwarf.AttrStringLength, dwarf.AttrReturnAddr, dwarf.AttrFrameBase, dwarf.AttrSegment, dwarf.AttrStaticLink,
		dwarf.AttrUseLocation, dwarf.AttrVtableElemLoc, dwarf.AttrDataMemberLoc, attrGNULocviews:
		if version >= 5 {
			return ".debug_loclists"
		}
		return ".debug_loc"
	case dwarf.AttrLoclistsBase:
		return ".debug_loclists"
	case dwarf.AttrRanges, dwarf.AttrStartScope:
		if version >= 5 {
			return ".debug_rnglists"
		}
		return ".debug_ranges"
	case dwarf.AttrRnglistsBase:
		return ".debug_rnglists"
	case dwarf.AttrMacroInfo:
		return ".debug_macinfo"
	case dwarf.AttrMacros, attrGNUMacros:
		return ".debug_macro"
	case dwarf.AttrStrOffsetsBase:
		return ".debug_str_offsets"
	case dwarf.AttrAddrBase:
		return ".debug_addr"
	}
	return ""
}

// isOffset reports whether the value is an offset into the section of sectionOf.
// Before DWARF 4 it is a constant with the size of an address or an offset, if the
// attribute cannot be a number.
func isOffset(a *dies.Attr, version int) bool {
	return a.Form == dies.FormSecOffset ||
		version < 4 && (a.Form == dies.FormData4 || a.Form == dies.FormData8) && a.At != dwarf.AttrStartScope && a.At != dwarf.AttrDataMemberLoc && sectionOf(a.At, version) != ""
}

// isExpression reports whether the value is a DWARF expression. A block is an
// expression only in attributes that describe a location or a computed size.
func isExpression(a *dies.Attr) bool {
	if !a.IsBlock() || a.Form == dies.FormExprloc {
		return a.IsBlock()
	}
	switch a.At {
	case dwarf.AttrLocation, dwarf.AttrByteSize, dwarf.AttrBitSize, dwarf.AttrStringLength, dwarf.AttrLowerBound, dwarf.AttrReturnAddr, dwarf.AttrStrideSize,
		dwarf.AttrUpperBound, dwarf.AttrDataMemberLoc, dwarf.AttrFrameBase, dwarf.AttrSegment, dwarf.AttrStaticLink, dwarf.AttrUseLocation, dwarf.AttrVtableElemLoc,
		dwarf.AttrAllocated, dwarf.AttrAssociated, dwarf.AttrDataLocation, dwarf.AttrStride, dwarf.AttrRank:
		return true
	}
	return a.At >= dwarf.AttrCallValue && a.At <= dwarf.AttrCallDataValue || a.At >= attrGNUCallValue && a.At <= attrGNUCallClob
}

type unitReader struct {
	ctx        context.Context
	info       *ptx.Data
	tables     *dies.Tables
	fixups     fixups
	references []unitReference // to later entries; units share the memory
}

func readUnits(ctx context.Context, info *ptx.Data, tables *dies.Tables) ([]*unit, *dies.Error) {
	if info == nil {
		return nil, nil
	}
	r := unitReader{ctx: ctx, info: info, tables: tables, fixups: fixups{list: info.Fixups}}
	var units []*unit
	for off := int64(0); off < int64(len(info.Bytes)); {
		u, err := r.unit(off)
		if err != nil {
			return nil, err
		}
		units = append(units, u)
		off = u.End
	}
	return units, nil
}

func (r *unitReader) unit(off int64) (*unit, *dies.Error) {
	header, err := dies.ReadUnit(r.info.Name, r.info.Bytes, off)
	if err != nil {
		return nil, err
	}
	u := &unit{Unit: header, starts: make([]uint64, (header.End-off+63)/64)}
	d := u.Entries()
	offset := u.AbbrevOffset()
	if f := r.fixups.fixupAt(u.AbbrevAt); f != nil {
		if offset = f.Addend; f.Section() != ".debug_abbrev" {
			d.Fail("the unit takes its abbreviations from %s", f)
			return nil, d.Err
		}
	}
	if u.Abbrevs, err = r.tables.Table(offset); err != nil {
		return nil, &dies.Error{Section: u.Section, Offset: off, Text: "its abbreviations: " + err.Text}
	}
	r.references = r.references[:0]
	depth := 0
	for n := 0; d.Next(); n++ {
		if isCancelled(r.ctx, n) {
			d.Fail("interrupted")
			break
		}
		u.starts[(d.Off-u.Off)/64] |= 1 << ((d.Off - u.Off) % 64)
		if d.Abbrev == nil {
			depth--
			if depth < -64 { // padding after the last DIE
				d.Fail("the unit has too many ends of lists")
			}
			continue
		}
		if u.changing++; d.Abbrev.Children != 0 {
			depth++
		}
		for i := range d.Attrs {
			if a := &d.Attrs[i]; a.IsUnitRef() {
				u.changing++
				if r.fixups.fixupAt(a.Off) == nil && !u.hasDIE(a.Value) { // the DIE may come later
					r.references = append(r.references, unitReference{a.Off, a.Value})
				}
			}
		}
	}
	if d.Err != nil {
		return nil, d.Err
	}
	for _, to := range r.references {
		if !u.hasDIE(to.value) {
			return nil, &dies.Error{Section: u.Section, Offset: to.at, Text: "a reference leads to no entry"}
		}
	}
	return u, nil
}

// unitReference is a reference within a unit and its place.
type unitReference struct {
	at    int64
	value uint64
}

// isCancelled reports whether the context has ended. It asks the context only for every 4096th n,
// so that loops can call it for each entry.
func isCancelled(ctx context.Context, n int) bool { return n%4096 == 0 && ctx.Err() != nil }

// hasDIE reports whether one of the DIEs read so far starts at an offset from the start of the
// unit.
func (u *unit) hasDIE(off uint64) bool {
	return off < uint64(u.End-u.Off) && u.starts[off/64]&(1<<(off%64)) != 0
}
