package abicheck

import (
	"debug/dwarf"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// debugInfo is the DWARF of one module as a tree, without what stands inside
// functions.
type debugInfo struct {
	file  *object.File
	index int32 // of the file
	dies  []die // in order
	at    map[dwarf.Offset]int32
	types []*debugType // those with a name that all modules share

	names    []string // per die: its shared name once asked for
	asked    []bool
	depth    int     // of sharedName
	aligns   []int64 // per die: alignOf, once asked for; -1 if it cannot be told
	exports  []export
	typedefs map[int32]int32 // unnamed aggregates: the first typedef that names them
}

type die struct {
	*dwarf.Entry
	unit     *debugUnit
	parent   int32 // -1 for a unit
	children []int32
}

type debugUnit struct {
	language    language
	addressSize int64
	// saysAlignment is set for clang, which writes DW_AT_alignment wherever the
	// source asks for one; nvcc never does.
	saysAlignment bool
}

type language uint8

const (
	otherLanguage language = iota // Rust and others: one name may be many types
	langC
	langCxx
)

// export is an external function or variable with the types in its declaration.
type export struct {
	symbol string
	types  []dwarf.Offset
}

// DWARF constants that debug/dwarf does not name.
const (
	attrMIPSLinkageName   = dwarf.Attr(0x2007)
	attrGNUVector         = dwarf.Attr(0x2107)
	tagGNUPack            = dwarf.Tag(0x4107)
	encodingComplexFloat  = 3
	encodingFloat         = 4
	opPlusUconst          = 0x23
	maxDebugNesting       = 100
	anonymousNamespaceTag = "_GLOBAL__N_"
)

// readDebug reads the types of a module, nil if its DWARF cannot be read. That
// is no fault here: who merges or loads the sections says what is wrong.
func readDebug(f *object.File, index int32) (d *debugInfo) {
	defer func() {
		// debug/dwarf is not hardened against hostile input, as it says itself.
		if recover() != nil {
			d = nil
		}
	}()
	data, ok := loadDWARF(f)
	if !ok {
		return nil
	}
	d = &debugInfo{file: f, index: index, at: map[dwarf.Offset]int32{}}
	if !d.readTree(data) {
		return nil
	}
	d.names, d.asked = make([]string, len(d.dies)), make([]bool, len(d.dies))
	d.aligns = make([]int64, len(d.dies))
	d.typedefs = map[int32]int32{}
	for i := range d.dies {
		if d.dies[i].Tag == dwarf.TagTypedef {
			t := d.typeOf(int32(i))
			if _, ok := d.typedefs[t]; !ok && t >= 0 && aggregate(d.dies[t].Tag) && nameOf(d.dies[t].Entry) == "" {
				d.typedefs[t] = int32(i)
			}
		}
	}
	for i := range d.dies {
		if t := d.newType(int32(i)); t != nil {
			d.types = append(d.types, t)
		}
	}
	return d
}

// loadDWARF lays out the sections as if they were loaded at 0. Types hold no
// addresses of code, so those stay 0.
func loadDWARF(f *object.File) (*dwarf.Data, bool) {
	var sections [3][]byte
	for i, name := range []string{".debug_abbrev", ".debug_info", ".debug_str"} {
		s, err := f.SectionData(name)
		if err != nil || i < 2 && len(s.Bytes) == 0 {
			return nil, false
		}
		for _, fix := range s.Fixups {
			if fix.Section == "" {
				continue
			}
			for k := range fix.Width {
				s.Bytes[fix.Offset+int64(k)] = byte(fix.Addend >> (8 * k))
			}
		}
		sections[i] = s.Bytes
	}
	data, err := dwarf.New(sections[0], nil, nil, sections[1], nil, nil, nil, sections[2])
	return data, err == nil
}

func (d *debugInfo) readTree(data *dwarf.Data) bool {
	r := data.Reader()
	var unit *debugUnit
	var open []int32 // the DIEs around the next one
	for {
		e, err := r.Next()
		if err != nil {
			return false
		}
		if e == nil {
			return true
		}
		if e.Tag == 0 {
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			continue
		}
		if e.Tag == dwarf.TagCompileUnit {
			unit, open = newUnit(e, int64(r.AddressSize())), open[:0]
		}
		if unit == nil || len(open) > maxDebugNesting {
			return false
		}
		i, parent := int32(len(d.dies)), int32(-1)
		if len(open) > 0 {
			parent = open[len(open)-1]
			p := &d.dies[parent]
			if p.Tag == dwarf.TagSubprogram && e.Tag != dwarf.TagFormalParameter {
				if e.Children {
					r.SkipChildren()
				}
				continue
			}
			p.children = append(p.children, i)
		}
		d.at[e.Offset] = i
		d.dies = append(d.dies, die{Entry: e, unit: unit, parent: parent})
		if e.Children {
			open = append(open, i)
		}
	}
}

func newUnit(e *dwarf.Entry, addressSize int64) *debugUnit {
	u := &debugUnit{addressSize: addressSize}
	producer, _ := e.Val(dwarf.AttrProducer).(string)
	u.saysAlignment = strings.Contains(producer, "clang")
	switch dieNumber(e, dwarf.AttrLanguage) {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e, 0x15: // C89, C, C99, C11, C17, C23, OpenCL
		u.language = langC
	case 0x04, 0x11, 0x1a, 0x21, 0x2b, 0x2e, 0x37, 0x3a: // C++ and its years, Objective-C++, C++ for OpenCL
		u.language = langCxx
	}
	return u
}

// dieNumber is an integer attribute, -1 if it is absent.
func dieNumber(e *dwarf.Entry, a dwarf.Attr) int64 {
	if n, ok := e.Val(a).(int64); ok {
		return n
	}
	return -1
}

func dieFlag(e *dwarf.Entry, a dwarf.Attr) bool {
	set, _ := e.Val(a).(bool)
	return set
}

func nameOf(e *dwarf.Entry) string {
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
}

// typeOf is the DIE of DW_AT_type, -1 if there is none outside functions.
func (d *debugInfo) typeOf(i int32) int32 {
	offset, ok := d.dies[i].Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return -1
	}
	if t, ok := d.at[offset]; ok {
		return t
	}
	return -1
}

func aggregate(tag dwarf.Tag) bool {
	return tag == dwarf.TagStructType || tag == dwarf.TagUnionType || tag == dwarf.TagClassType
}

// incomplete says whether an aggregate is only declared. nvcc gives it no bytes
// and no members instead of saying so.
func (d *debugInfo) incomplete(i int32) bool {
	x := &d.dies[i]
	size := dieNumber(x.Entry, dwarf.AttrByteSize)
	return dieFlag(x.Entry, dwarf.AttrDeclaration) || size < 0 || size == 0 && len(x.children) == 0
}

// sharedName is the name under which an aggregate or enumeration is one type in
// every module, as C++ source spells it; empty if there is none: without a name,
// inside a function or unnamed namespace, made of such types, or made by the
// compiler. nvcc gives mangled names at the top, clang nests.
func (d *debugInfo) sharedName(i int32) string {
	if !d.asked[i] {
		d.asked[i] = true // also ends a circle
		if d.depth++; d.depth < 10*maxDebugNesting {
			d.names[i] = d.findName(i)
		}
		d.depth--
	}
	return d.names[i]
}

func (d *debugInfo) findName(i int32) string {
	name := nameOf(d.dies[i].Entry)
	if typedef, ok := d.typedefs[i]; ok { // typedef struct { ... } Shape
		i = typedef
		name = nameOf(d.dies[i].Entry)
	}
	if strings.HasPrefix(name, "_Z") {
		name = demangledType(name)
		if name == "" {
			return ""
		}
		return spelling(name)
	}
	if name == "" || compilerMade(name) || d.madeOfLocal(i, 0) || !strings.Contains(name, "<") && d.template(i) {
		return ""
	}
	for p := d.dies[i].parent; p >= 0; p = d.dies[p].parent {
		switch x := &d.dies[p]; {
		case x.Tag == dwarf.TagCompileUnit:
			return spelling(name)
		case aggregate(x.Tag):
			// Its own arguments count for what it holds.
			outer := d.sharedName(p)
			if outer == "" {
				return ""
			}
			return spelling(outer + "::" + name)
		case x.Tag == dwarf.TagNamespace && nameOf(x.Entry) != "":
			name = nameOf(x.Entry) + "::" + name
		default:
			return ""
		}
	}
	return ""
}

// template finds the instances of templates; clang -gsimple-template-names gives
// all of one template the same name.
func (d *debugInfo) template(i int32) bool {
	for _, c := range d.dies[i].children {
		switch d.dies[c].Tag {
		case dwarf.TagTemplateTypeParameter, dwarf.TagTemplateValueParameter, tagGNUPack:
			return true
		}
	}
	return false
}

// madeOfLocal says whether a template argument is a type that only one module
// knows; clang spells it W<Local> wherever Local is from.
func (d *debugInfo) madeOfLocal(i int32, depth int) bool {
	for _, c := range d.dies[i].children {
		switch x := &d.dies[c]; x.Tag {
		case dwarf.TagTemplateTypeParameter, dwarf.TagTemplateValueParameter:
			if _, ok := x.Val(dwarf.AttrType).(dwarf.Offset); !ok {
				continue // void
			}
			t := d.typeOf(c)
			for range maxDebugNesting {
				if t < 0 || aggregate(d.dies[t].Tag) || d.dies[t].Tag == dwarf.TagEnumerationType {
					break
				}
				if _, ok := d.dies[t].Val(dwarf.AttrType).(dwarf.Offset); !ok {
					break
				}
				t = d.typeOf(t)
			}
			if t < 0 {
				return true
			}
			if tag := d.dies[t].Tag; (aggregate(tag) || tag == dwarf.TagEnumerationType) && d.sharedName(t) == "" {
				return true
			}
		case tagGNUPack:
			if depth < maxDebugNesting && d.madeOfLocal(c, depth+1) {
				return true
			}
		}
	}
	return false
}

// compilerMade finds names that a compiler gave to what has none, and templates
// of something local: nvcc counts anonymous unions (__C10) and writes the part
// of a class that its subclasses begin with (__SO__4Base); clang writes lambdas
// and addresses of static functions.
func compilerMade(name string) bool {
	if rest, ok := strings.CutPrefix(name, "__"); ok {
		if strings.HasPrefix(rest, "SO__") || strings.HasPrefix(rest, "nv_") {
			return true
		}
		if len(rest) > 1 && strings.IndexByte("CTE", rest[0]) >= 0 && strings.Trim(rest[1:], "0123456789") == "" {
			return true
		}
	}
	for _, part := range []string{"(anonymous", "(unnamed", "(lambda", "'lambda", "<unnamed", anonymousNamespaceTag, "_INTERNAL_", "<&", ", &", "$_"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// demangledType is the source spelling of a mangled type name, empty if the type
// is local to a function or module.
func demangledType(mangled string) string {
	if strings.Contains(mangled, "_INTERNAL_") || strings.Contains(mangled, anonymousNamespaceTag) {
		return ""
	}
	ast, err := demangle.ToAST(mangled)
	if err != nil {
		return ""
	}
	local := false
	ast.Traverse(func(a demangle.AST) bool {
		switch x := a.(type) {
		case *demangle.Qualified:
			local = local || x.LocalName
		case *demangle.Closure, *demangle.UnnamedType:
			local = true
		}
		return !local
	})
	if local {
		return ""
	}
	name := demangle.ASTToString(ast)
	if compilerMade(name) {
		return ""
	}
	return name
}

// spelling makes the names of different compilers alike: no space that does not
// part two words, no difference between 3U and 3u.
func spelling(name string) string {
	var b strings.Builder
	word := func(c byte) bool {
		return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	digits := false // inside a number
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == ' ' && (i == 0 || i+1 == len(name) || !word(name[i-1]) || !word(name[i+1])) {
			continue
		}
		if digits = word(c) && (digits || c >= '0' && c <= '9' && (i == 0 || !word(name[i-1]))); digits && (c == 'U' || c == 'L') {
			c |= 0x20
		}
		b.WriteByte(c)
		if c == ',' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// debugType is a complete aggregate that every module means when it says its
// name.
type debugType struct {
	in      *debugInfo
	die     int32
	name    string
	size    int64
	members []debugMember // by position; those of anonymous unions among them
	line    sourceLine
}

// debugMember is a member or base class.
type debugMember struct {
	name  string
	base  bool
	bit   int64 // from the start of the outermost type; -1 if unknown
	width int64 // of a bit field, 0 of other members
	size  int64 // in bytes; -1 if unknown
	class byte  // 'i' integer, 'f' floating point, 0 others
	// loose is set where members overlap or a compiler may leave one out, so
	// that its absence says nothing: unions, empty classes, unknown sizes.
	loose bool
	line  sourceLine
}

// sourceLine is where the source declares something; file 0 is unknown.
type sourceLine struct{ file, line int64 }

func lineOf(e *dwarf.Entry) sourceLine {
	file, line := dieNumber(e, dwarf.AttrDeclFile), dieNumber(e, dwarf.AttrDeclLine)
	if file <= 0 || line <= 0 {
		return sourceLine{}
	}
	return sourceLine{file, line}
}

// text is "shapes.h:12", empty if unknown.
func (d *debugInfo) text(l sourceLine) string {
	if l.file == 0 {
		return ""
	}
	for i := range d.file.Files {
		if f := &d.file.Files[i]; f.Index == l.file && f.Path != "" {
			return f.Path + ":" + itoa(l.line)
		}
	}
	return ""
}

func (d *debugInfo) newType(i int32) *debugType {
	x := &d.dies[i]
	if x.Tag == dwarf.TagSubprogram || x.Tag == dwarf.TagVariable {
		d.export(i)
		return nil
	}
	if !aggregate(x.Tag) || x.unit.language == otherLanguage || d.incomplete(i) {
		return nil
	}
	name := d.sharedName(i)
	if name == "" {
		return nil
	}
	t := &debugType{in: d, die: i, name: name, size: dieNumber(x.Entry, dwarf.AttrByteSize), line: lineOf(x.Entry)}
	budget := maxDebugMembers
	if t.addMembers(i, 0, false, &budget); budget <= 0 {
		t.members = nil
	}
	return t
}

func (d *debugInfo) export(i int32) {
	x := &d.dies[i]
	if !dieFlag(x.Entry, dwarf.AttrExternal) {
		return
	}
	e := export{}
	for _, a := range []dwarf.Attr{attrMIPSLinkageName, dwarf.AttrLinkageName, dwarf.AttrName} {
		if e.symbol, _ = x.Val(a).(string); e.symbol != "" {
			break
		}
	}
	for _, c := range append([]int32{i}, x.children...) {
		if offset, ok := d.dies[c].Val(dwarf.AttrType).(dwarf.Offset); ok {
			e.types = append(e.types, offset)
		}
	}
	d.exports = append(d.exports, e)
}

// addMembers adds the members of an aggregate that lies at bit base of t.
func (t *debugType) addMembers(i int32, base int64, loose bool, budget *int) {
	d := t.in
	loose = loose || d.dies[i].Tag == dwarf.TagUnionType
	for _, c := range d.dies[i].children {
		x := &d.dies[c]
		if *budget--; *budget <= 0 {
			return
		}
		if x.Tag != dwarf.TagMember && x.Tag != dwarf.TagInheritance ||
			dieFlag(x.Entry, dwarf.AttrExternal) || dieFlag(x.Entry, dwarf.AttrDeclaration) || dieFlag(x.Entry, dwarf.AttrArtificial) {
			continue // static members have no place, tables of virtual functions no name
		}
		m := debugMember{name: nameOf(x.Entry), size: -1, line: lineOf(x.Entry), loose: loose}
		typ := d.typeOf(c)
		if x.Tag == dwarf.TagInheritance {
			if dieNumber(x.Entry, dwarf.AttrVirtuality) > 0 || typ < 0 {
				continue // the object says where a virtual base is
			}
			m.name, m.base = d.sharedName(typ), true
		} else if strings.HasPrefix(m.name, "__vptr") || strings.HasPrefix(m.name, "_vptr") || strings.HasPrefix(m.name, "__v_") {
			continue
		} else if base, ok := strings.CutPrefix(m.name, "__b_"); ok && m.line.file == 0 { // nvcc's way to write a base
			if m.name = demangledType("_Z" + base); m.name != "" {
				m.name, m.base = spelling(m.name), true
			}
		} else {
			m.size, m.class = d.sizeOf(typ), d.classOf(typ)
		}
		m.bit = memberBit(x, d.dies[i].Tag == dwarf.TagUnionType, m.size)
		m.width = max(0, dieNumber(x.Entry, dwarf.AttrBitSize))
		if m.bit >= 0 {
			m.bit += base
		}
		if m.name == "" {
			if typ >= 0 && aggregate(d.dies[typ].Tag) && m.bit >= 0 && typ != i && x.Tag == dwarf.TagMember {
				t.addMembers(typ, m.bit, loose, budget)
			}
			continue
		}
		m.loose = m.loose || m.base || m.bit < 0 || m.size <= 0 || typ >= 0 && aggregate(d.dies[typ].Tag) && len(d.dies[typ].children) == 0
		t.members = append(t.members, m)
	}
}

// maxDebugMembers bounds the members that are compared; of a type with more,
// and of anonymous ones that hold each other, only the size is.
const maxDebugMembers = 5000

// memberBit is the first bit of a member, counted as on every GPU and its hosts
// from the low end; -1 if it is not a constant.
func memberBit(x *die, union bool, size int64) int64 {
	if bit := dieNumber(x.Entry, dwarf.AttrDataBitOffset); bit >= 0 {
		return bit
	}
	at := int64(-1)
	switch v := x.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		at = v
	case []byte:
		if len(v) > 1 && v[0] == opPlusUconst {
			at = 0
			for i, c := range v[1:] {
				if i > 8 {
					return -1
				}
				at |= int64(c&0x7f) << (7 * i)
				if c < 0x80 && i+2 != len(v) {
					return -1 // more than one operation
				}
			}
		}
	case nil:
		if union {
			at = 0
		}
	}
	if at < 0 || at > 1<<40 {
		return -1
	}
	bits := dieNumber(x.Entry, dwarf.AttrBitSize)
	if bits < 0 {
		return at * 8
	}
	// DWARF 2 counts from the high end of a storage unit, below 0 if the field
	// reaches out of it (packed structures).
	from, ok := x.Val(dwarf.AttrBitOffset).(int64)
	if !ok {
		return -1
	}
	if storage := dieNumber(x.Entry, dwarf.AttrByteSize); storage > 0 {
		size = storage
	}
	if size <= 0 {
		return -1
	}
	return at*8 + size*8 - from - bits
}

// strip follows typedefs and qualifiers.
func (d *debugInfo) strip(t int32) int32 {
	for range maxDebugNesting {
		if t < 0 {
			return -1
		}
		switch d.dies[t].Tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagPackedType, dwarf.TagAtomicType:
			t = d.typeOf(t)
		default:
			return t
		}
	}
	return -1
}

// sizeOf is the size of a type in bytes, -1 if it is not known.
func (d *debugInfo) sizeOf(t int32) int64 {
	elements := int64(1)
	for range maxDebugNesting {
		if t = d.strip(t); t < 0 {
			return -1
		}
		x := &d.dies[t]
		if aggregate(x.Tag) && d.incomplete(t) {
			return -1
		}
		size := dieNumber(x.Entry, dwarf.AttrByteSize)
		switch x.Tag {
		case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
			if size < 0 {
				size = x.unit.addressSize
			}
		case dwarf.TagArrayType:
			if size < 0 {
				if dieFlag(x.Entry, attrGNUVector) {
					return -1 // padded in ways of its own
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

// elements multiplies n by the dimensions of an array; -1 if one is not known.
func (d *debugInfo) elements(t int32, n int64) int64 {
	for _, c := range d.dies[t].children {
		x := &d.dies[c]
		if x.Tag != dwarf.TagSubrangeType {
			continue
		}
		count := dieNumber(x.Entry, dwarf.AttrCount)
		if count < 0 {
			if count = dieNumber(x.Entry, dwarf.AttrUpperBound); count < 0 {
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
	if t = d.strip(t); t < 0 || d.dies[t].Tag != dwarf.TagBaseType {
		return 0
	}
	switch dieNumber(d.dies[t].Entry, dwarf.AttrEncoding) {
	case encodingFloat:
		return 'f'
	case 2, 5, 6, 7, 8, 0x10: // boolean, signed, signed char, unsigned, unsigned char, UTF
		return 'i'
	}
	return 0
}

// alignment is what a type is aligned to, 0 if the module does not tell.
func (t *debugType) alignment() int64 {
	x := &t.in.dies[t.die]
	if n := dieNumber(x.Entry, dwarf.AttrAlignment); n > 0 {
		return n
	}
	if !x.unit.saysAlignment {
		return 0
	}
	return t.in.alignOf(t.die, 0)
}

// alignOf is the alignment of a type of clang's, which writes down every one
// that is not natural; 0 if it cannot be told.
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
	if n := dieNumber(x.Entry, dwarf.AttrAlignment); n > 0 {
		return n
	}
	switch x.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType, dwarf.TagMember, dwarf.TagInheritance:
		return d.alignOf(d.typeOf(t), depth+1)
	case dwarf.TagArrayType:
		if dieFlag(x.Entry, attrGNUVector) {
			return 0
		}
		return d.alignOf(d.typeOf(t), depth+1)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		return x.unit.addressSize
	case dwarf.TagEnumerationType, dwarf.TagBaseType:
		n := dieNumber(x.Entry, dwarf.AttrByteSize)
		if dieNumber(x.Entry, dwarf.AttrEncoding) == encodingComplexFloat {
			n /= 2
		}
		if n <= 0 || n > 16 || n&(n-1) != 0 {
			return 0
		}
		return n
	}
	if !aggregate(x.Tag) || d.incomplete(t) {
		return 0
	}
	most := int64(1)
	for _, c := range x.children {
		m := &d.dies[c]
		if m.Tag != dwarf.TagMember && m.Tag != dwarf.TagInheritance || dieFlag(m.Entry, dwarf.AttrExternal) || dieFlag(m.Entry, dwarf.AttrDeclaration) {
			continue
		}
		n := d.alignOf(c, depth+1)
		if n == 0 || dieNumber(m.Entry, dwarf.AttrVirtuality) > 0 {
			return 0
		}
		if bit := memberBit(m, x.Tag == dwarf.TagUnionType, -1); bit%(8*n) != 0 && dieNumber(m.Entry, dwarf.AttrBitSize) < 0 {
			return 0 // packed
		}
		most = max(most, n)
	}
	return most
}

// reaches says whether a value of the types leads to the aggregate: by value,
// through pointers, as a member or in the parameters of a function pointer.
func (d *debugInfo) reaches(types []dwarf.Offset, name string) bool {
	seen := map[int32]bool{}
	var todo []int32
	push := func(t int32) {
		if t >= 0 && !seen[t] {
			seen[t] = true
			todo = append(todo, t)
		}
	}
	for _, offset := range types {
		if t, ok := d.at[offset]; ok {
			push(t)
		}
	}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if aggregate(d.dies[t].Tag) && d.sharedName(t) == name {
			return true
		}
		push(d.typeOf(t))
		for _, c := range d.dies[t].children {
			push(d.typeOf(c))
		}
	}
	return false
}

// shares says whether the module has an external function or variable that the
// other names too and whose declaration leads to the type.
func (d *debugInfo) shares(name string, other *object.File) bool {
	for _, e := range d.exports {
		if exports(d.file, e.symbol) && exports(other, e.symbol) && d.reaches(e.types, name) {
			return true
		}
	}
	return false
}

func exports(f *object.File, symbol string) bool {
	id, ok := f.Lookup(symbol)
	return ok && f.Symbols[id].Linkage != ptx.Local
}
