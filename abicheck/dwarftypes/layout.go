package dwarftypes

import (
	"debug/dwarf"
	"strings"

	"ptxlink/internal/dies"
)

// debugType is a complete aggregate whose name means the same type in every module.
type debugType struct {
	in      *debugInfo
	die     int32
	name    string
	size    int64
	members []debugMember // by position, including the members of anonymous unions
	line    sourceLine
}

type debugMember struct {
	name  string
	base  bool
	bit   int64 // from the start of the outermost type; -1 if unknown
	width int64 // of a bit field, 0 of other members
	size  int64 // in bytes; -1 if unknown
	class byte  // 'i' integer, 'f' floating point, 0 others
	// loose is set where members overlap or a compiler may omit one, so that a
	// missing member is not a difference: unions, empty classes, unknown sizes.
	loose bool
	line  sourceLine
}

// sourceLine is the line of a declaration in the source; file 0 is unknown.
type sourceLine struct{ file, line int64 }

func lineOf(x *die) sourceLine {
	file, line := x.number(dwarf.AttrDeclFile), x.number(dwarf.AttrDeclLine)
	if file <= 0 || line <= 0 {
		return sourceLine{}
	}
	return sourceLine{file, line}
}

func (d *debugInfo) path(l sourceLine) string {
	if l.file == 0 {
		return ""
	}
	for i := range d.file.Files {
		if f := &d.file.Files[i]; f.Index == l.file && f.Path != "" {
			return f.Path
		}
	}
	return ""
}

func (d *debugInfo) newType(i int32) *debugType {
	x := &d.dies[i]
	if !aggregate(x.tag) || x.unit.language == otherLanguage || d.incomplete(i) {
		return nil
	}
	name := d.sharedName(i)
	if name == "" {
		return nil
	}
	t := &debugType{in: d, die: i, name: name, size: x.number(dwarf.AttrByteSize), line: lineOf(x)}
	budget := maxDebugMembers
	if t.addMembers(i, 0, false, &budget); budget <= 0 {
		t.members = nil
	}
	return t
}

// addMembers adds the members of an aggregate at bit base of t.
func (t *debugType) addMembers(i int32, base int64, loose bool, budget *int) {
	d := t.in
	loose = loose || d.dies[i].tag == dwarf.TagUnionType
	for _, c := range d.dies[i].children {
		if *budget--; *budget <= 0 {
			return
		}
		m, ok := d.member(i, c)
		if !ok {
			continue
		}
		if m.bit >= 0 {
			m.bit += base
		}
		typ := d.typeOf(c)
		ofAggregate := typ >= 0 && aggregate(d.dies[typ].tag)
		if m.name == "" {
			if ofAggregate && m.bit >= 0 && typ != i && d.dies[c].tag == dwarf.TagMember {
				t.addMembers(typ, m.bit, loose, budget)
			}
			continue
		}
		m.loose = loose || m.base || m.bit < 0 || m.size <= 0 || ofAggregate && len(d.dies[typ].children) == 0
		t.members = append(t.members, m)
	}
}

// member returns the member or base that a child of an aggregate describes. Static members
// have no place, and tables of virtual functions no name.
func (d *debugInfo) member(i, c int32) (m debugMember, ok bool) {
	x, typ := &d.dies[c], d.typeOf(c)
	inherited := x.tag == dwarf.TagInheritance
	if x.tag != dwarf.TagMember && !inherited ||
		x.flag(dwarf.AttrExternal) || x.flag(dwarf.AttrDeclaration) || x.flag(dwarf.AttrArtificial) {
		return m, false
	}
	m = debugMember{name: x.name, size: -1, line: lineOf(x)}
	base, isBase := strings.CutPrefix(m.name, "__b_") // how nvcc writes a base
	switch {
	case inherited:
		if x.number(dwarf.AttrVirtuality) > 0 || typ < 0 {
			return m, false // because the place of a virtual base is stored in the object
		}
		m.name, m.base = d.sharedName(typ), true
	case strings.HasPrefix(m.name, "__vptr") || strings.HasPrefix(m.name, "_vptr") || strings.HasPrefix(m.name, "__v_"):
		return m, false
	case isBase && m.line.file == 0:
		m.name = demangledType("_Z" + base)
		m.base = m.name != ""
	default:
		m.size, m.class = d.sizeOf(typ), d.classOf(typ)
	}
	m.bit = memberBit(x, d.dies[i].tag == dwarf.TagUnionType, m.size)
	m.width = max(0, x.number(dwarf.AttrBitSize))
	return m, true
}

// maxDebugMembers limits the members that are compared. For a type with more, and
// for anonymous types that contain each other, only the size is compared.
const maxDebugMembers = 5000

// memberBit returns the first bit of a member, counted from the low end, as on
// every GPU and its hosts; -1 if it is not a constant.
func memberBit(x *die, union bool, size int64) int64 {
	if bit := x.number(dwarf.AttrDataBitOffset); bit >= 0 {
		return bit
	}
	at := int64(-1)
	switch a := x.attr(dwarf.AttrDataMemberLoc); {
	case a == nil && union:
		at = 0
	case a == nil:
	case a.IsConstant():
		at = int64(a.Value)
	case a.IsBlock():
		r := dies.Reader{Data: x.unit.Data[:a.End], At: a.End - int64(a.Value)}
		op, n := r.Uint(1), r.Uleb()
		if op == opPlusUconst && r.Err == nil && r.At == a.End {
			at = int64(n)
		}
	}
	if at < 0 || at > 1<<40 {
		return -1
	}
	bits := x.number(dwarf.AttrBitSize)
	if bits < 0 {
		return at * 8
	}
	// DWARF 2 counts from the high end of a storage unit; the offset is negative if
	// the field extends beyond it (packed structures).
	from := x.attr(dwarf.AttrBitOffset)
	if from == nil || !from.IsConstant() {
		return -1
	}
	if storage := x.number(dwarf.AttrByteSize); storage > 0 {
		size = storage
	}
	if size <= 0 {
		return -1
	}
	return at*8 + size*8 - int64(from.Value) - bits
}

// strip follows typedefs and qualifiers.
func (d *debugInfo) strip(t int32) int32 {
	for range maxDebugNesting {
		if t < 0 {
			return -1
		}
		switch d.dies[t].tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagPackedType, dwarf.TagAtomicType:
			t = d.typeOf(t)
		default:
			return t
		}
	}
	return -1
}

// sizeOf returns the size of a type in bytes, or -1 if unknown.
func (d *debugInfo) sizeOf(t int32) int64 {
	elements := int64(1)
	for range maxDebugNesting {
		if t = d.strip(t); t < 0 {
			return -1
		}
		x := &d.dies[t]
		if aggregate(x.tag) && d.incomplete(t) {
			return -1
		}
		size := x.number(dwarf.AttrByteSize)
		switch x.tag {
		case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
			if size < 0 {
				size = int64(x.unit.AddrSize)
			}
		case dwarf.TagArrayType:
			if size < 0 {
				if x.flag(attrGNUVector) {
					return -1 // because its padding follows other rules
				}
				if elements = d.elements(t, elements); elements < 0 {
					return -1
				}
				t = d.typeOf(t)
				continue
			}
		}
		if size < 0 || size > 1<<40 {
			return -1
		}
		return elements * size
	}
	return -1
}

// elements multiplies n by the dimensions of an array; -1 if one is unknown.
func (d *debugInfo) elements(t int32, n int64) int64 {
	for _, c := range d.dies[t].children {
		x := &d.dies[c]
		if x.tag != dwarf.TagSubrangeType {
			continue
		}
		count := x.number(dwarf.AttrCount)
		if count < 0 {
			if count = x.number(dwarf.AttrUpperBound); count < 0 {
				return -1 // char c[]
			}
			count++
		}
		if n *= count; count > 1<<30 || n > 1<<30 {
			return -1
		}
	}
	return n
}

func (d *debugInfo) classOf(t int32) byte {
	if t = d.strip(t); t < 0 || d.dies[t].tag != dwarf.TagBaseType {
		return 0
	}
	switch d.dies[t].number(dwarf.AttrEncoding) {
	case encodingFloat:
		return 'f'
	case 2, 5, 6, 7, 8, 0x10: // boolean, signed, signed char, unsigned, unsigned char, UTF
		return 'i'
	}
	return 0
}

// alignment returns the alignment of a type, or 0 if the module does not record it.
func (t *debugType) alignment() int64 {
	x := &t.in.dies[t.die]
	if n := x.number(dwarf.AttrAlignment); n > 0 {
		return n
	}
	if !x.unit.saysAlignment {
		return 0
	}
	return t.in.alignOf(t.die, 0)
}

// alignOf returns the alignment of a type from clang, which records every one that
// is not natural; 0 if unknown.
func (d *debugInfo) alignOf(t int32, depth int) int64 {
	if t < 0 || depth > maxDebugNesting {
		return 0
	}
	if d.aligns[t] == 0 {
		d.aligns[t] = -1
		if n := d.findAlign(t, depth); n > 0 {
			d.aligns[t] = n
		}
	}
	return max(0, d.aligns[t])
}

func (d *debugInfo) findAlign(t int32, depth int) int64 {
	x := &d.dies[t]
	if n := x.number(dwarf.AttrAlignment); n > 0 {
		return n
	}
	switch x.tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType, dwarf.TagMember, dwarf.TagInheritance:
		return d.alignOf(d.typeOf(t), depth+1)
	case dwarf.TagArrayType:
		if x.flag(attrGNUVector) {
			return 0
		}
		return d.alignOf(d.typeOf(t), depth+1)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		return int64(x.unit.AddrSize)
	case dwarf.TagEnumerationType, dwarf.TagBaseType:
		n := x.number(dwarf.AttrByteSize)
		if x.number(dwarf.AttrEncoding) == encodingComplexFloat {
			n /= 2
		}
		if n <= 0 || n > 16 || n&(n-1) != 0 {
			return 0
		}
		return n
	}
	if !aggregate(x.tag) || d.incomplete(t) {
		return 0
	}
	most := int64(1)
	for _, c := range x.children {
		m := &d.dies[c]
		if m.tag != dwarf.TagMember && m.tag != dwarf.TagInheritance || m.flag(dwarf.AttrExternal) || m.flag(dwarf.AttrDeclaration) {
			continue
		}
		n := d.alignOf(c, depth+1)
		if n == 0 || m.number(dwarf.AttrVirtuality) > 0 {
			return 0
		}
		if bit := memberBit(m, x.tag == dwarf.TagUnionType, -1); bit%(8*n) != 0 && m.number(dwarf.AttrBitSize) < 0 {
			return 0 // packed
		}
		most = max(most, n)
	}
	return most
}
