package dwarftypes

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
	"strings"
	"sync"

	"ptxlink/internal/dies"
	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// debugInfo is the DWARF of one module as a tree, without the contents of functions. It
// has functions and variables only if they are asked for.
type debugInfo struct {
	file  *object.File
	dies  []die        // in order
	types []*debugType // those with a name that all modules share

	names    []string // per die: its shared name, once computed
	asked    []bool
	depth    int               // of sharedName
	aligns   []int64           // per die: alignOf, once computed; -1 if unknown
	exports  []export          // functions and variables
	whole    func() *debugInfo // with functions and variables; nil if they cannot be read
	typedefs map[int32]int32   // unnamed aggregates: the first typedef that names them
}

type die struct {
	off      int64
	tag      dwarf.Tag
	name     string
	attrs    []dies.Attr
	unit     *debugUnit
	parent   int32 // -1 for a unit
	children []int32
}

type debugUnit struct {
	*dies.Unit
	strings  []byte // .debug_str
	language language
	// saysAlignment is set for clang, because it writes DW_AT_alignment wherever the source
	// specifies an alignment; nvcc never does.
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
	types  []int64 // offsets of DIEs
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

// readDebug reads the types of a module, and its functions and variables if they are
// asked for. It returns nil if the DWARF cannot be read, because the code that merges or loads the
// sections reports the error.
func readDebug(f *object.File, functions bool) *debugInfo {
	d := &debugInfo{file: f}
	if !d.read(functions) {
		return nil
	}
	d.whole = sync.OnceValue(func() *debugInfo { return readDebug(f, true) })
	d.names, d.asked = make([]string, len(d.dies)), make([]bool, len(d.dies))
	d.aligns = make([]int64, len(d.dies))
	d.typedefs = map[int32]int32{}
	for i := range d.dies {
		if d.dies[i].tag == dwarf.TagTypedef {
			t := d.typeOf(int32(i))
			if _, ok := d.typedefs[t]; !ok && t >= 0 && aggregate(d.dies[t].tag) && d.dies[t].name == "" {
				d.typedefs[t] = int32(i)
			}
		}
	}
	for i := range d.dies {
		if t := d.newType(int32(i)); t != nil {
			d.types = append(d.types, t)
		}
		if functions && (d.dies[i].tag == dwarf.TagSubprogram || d.dies[i].tag == dwarf.TagVariable) {
			d.export(int32(i))
		}
	}
	return d
}

// read reads the units from the sections as if they were loaded at 0. Code addresses stay 0,
// because types contain none.
func (d *debugInfo) read(functions bool) bool {
	var sections [3][]byte
	for i, name := range []string{".debug_abbrev", ".debug_info", ".debug_str"} {
		data, err := d.file.LoadedSection(name, nil)
		if err != nil || i < 2 && len(data) == 0 {
			return false
		}
		sections[i] = data
	}
	tables := dies.NewTables(sections[0])
	for off := int64(0); off < int64(len(sections[1])); {
		u, err := dies.ReadUnit(".debug_info", sections[1], off)
		if err == nil {
			u.Abbrevs, err = tables.Table(u.AbbrevOffset())
		}
		if err != nil || !d.unit(&debugUnit{Unit: u, strings: sections[2]}, functions) {
			return false
		}
		off = u.End
	}
	return true
}

// unit reads the DIEs of a unit without the contents of functions, which are most of the
// DWARF: only their parameters, and nothing of functions outside classes unless functions
// are asked for.
func (d *debugInfo) unit(u *debugUnit, functions bool) bool {
	var open []int32 // the DIEs that enclose the next one
	e := u.Entries()
	for e.Next() {
		if e.Abbrev == nil {
			open = open[:max(0, len(open)-1)] // because nvcc ends more lists than it starts
			continue
		}
		if len(open) > maxDebugNesting {
			return false
		}
		x := die{off: e.Off, tag: e.Abbrev.Tag, unit: u, parent: -1}
		within := dwarf.TagCompileUnit
		if len(open) > 0 {
			x.parent = open[len(open)-1]
			within = d.dies[x.parent].tag
		}
		skipped := false
		switch within {
		case dwarf.TagCompileUnit, dwarf.TagNamespace:
			skipped = !functions && (x.tag == dwarf.TagSubprogram || x.tag == dwarf.TagVariable)
		case dwarf.TagSubprogram:
			skipped = !functions || x.tag != dwarf.TagFormalParameter
		}
		if skipped {
			e.SkipChildren()
			continue
		}
		x.attrs = slices.Clone(e.Attrs)
		x.name = x.text(dwarf.AttrName)
		if x.tag == dwarf.TagCompileUnit {
			u.describe(&x)
		}
		i := int32(len(d.dies))
		d.dies = append(d.dies, x)
		if x.parent >= 0 {
			d.dies[x.parent].children = append(d.dies[x.parent].children, i)
		}
		if e.Abbrev.Children != 0 {
			open = append(open, i)
		}
	}
	return e.Err == nil
}

// describe sets what the DIE of the unit says of all of it.
func (u *debugUnit) describe(x *die) {
	u.saysAlignment = strings.Contains(x.text(dwarf.AttrProducer), "clang")
	switch x.number(dwarf.AttrLanguage) {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e, 0x15: // C89, C, C99, C11, C17, C23, OpenCL
		u.language = langC
	case 0x04, 0x11, 0x1a, 0x21, 0x2b, 0x2e, 0x37, 0x3a: // C++ and its years, Objective-C++, C++ for OpenCL
		u.language = langCxx
	}
}

func (x *die) attr(at dwarf.Attr) *dies.Attr {
	for i := range x.attrs {
		if x.attrs[i].At == at {
			return &x.attrs[i]
		}
	}
	return nil
}

// number returns an integer attribute, or -1 if it is absent.
func (x *die) number(at dwarf.Attr) int64 {
	if a := x.attr(at); a != nil && a.IsConstant() {
		return int64(a.Value)
	}
	return -1
}

func (x *die) flag(at dwarf.Attr) bool {
	a := x.attr(at)
	return a != nil && (a.Form == dies.FormFlagPresent || a.Form == dies.FormFlag && a.Value != 0)
}

// text returns a string attribute, or "" if it is absent.
func (x *die) text(at dwarf.Attr) string {
	switch a := x.attr(at); {
	case a == nil:
	case a.Form == dies.FormString:
		return string(x.unit.Data[a.Off : a.End-1])
	case a.Form == dies.FormStrp && a.Value < uint64(len(x.unit.strings)):
		text, _, _ := bytes.Cut(x.unit.strings[a.Value:], []byte{0})
		return string(text)
	}
	return ""
}

// typeOffset returns the offset of the DIE that DW_AT_type refers to.
func (x *die) typeOffset() (off int64, ok bool) {
	switch a := x.attr(dwarf.AttrType); {
	case a == nil:
	case a.IsUnitRef():
		return x.unit.Off + int64(a.Value), true
	case a.Form == dies.FormRefAddr:
		return int64(a.Value), true
	}
	return 0, false
}

// at returns the DIE at an offset, or -1 if there is none outside functions.
func (d *debugInfo) at(off int64) int32 {
	i := sort.Search(len(d.dies), func(i int) bool { return d.dies[i].off >= off })
	if i < len(d.dies) && d.dies[i].off == off {
		return int32(i)
	}
	return -1
}

// typeOf returns the DIE of DW_AT_type, or -1 if there is none outside functions.
func (d *debugInfo) typeOf(i int32) int32 {
	if off, ok := d.dies[i].typeOffset(); ok {
		return d.at(off)
	}
	return -1
}

func aggregate(tag dwarf.Tag) bool {
	return tag == dwarf.TagStructType || tag == dwarf.TagUnionType || tag == dwarf.TagClassType
}

// incomplete reports whether an aggregate is only declared. A type without bytes and members counts
// as well, because nvcc does not mark it otherwise.
func (d *debugInfo) incomplete(i int32) bool {
	x := &d.dies[i]
	size := x.number(dwarf.AttrByteSize)
	return x.flag(dwarf.AttrDeclaration) || size < 0 || size == 0 && len(x.children) == 0
}

func (d *debugInfo) export(i int32) {
	x := &d.dies[i]
	if !x.flag(dwarf.AttrExternal) {
		return
	}
	e := export{symbol: cmp.Or(x.text(attrMIPSLinkageName), x.text(dwarf.AttrLinkageName), x.name)}
	for _, c := range append([]int32{i}, x.children...) {
		if offset, ok := d.dies[c].typeOffset(); ok {
			e.types = append(e.types, offset)
		}
	}
	d.exports = append(d.exports, e)
}

// reaches reports whether a value of the types leads to the aggregate: by value,
// through pointers, as a member or in the parameters of a function pointer.
func (d *debugInfo) reaches(types []int64, name string) bool {
	seen, found := map[int32]bool{}, false
	walk := sets.Walk[int32]{First: func(t int32) bool { return t >= 0 && sets.Add(&seen, t) }}
	for _, offset := range types {
		walk.Add(d.at(offset))
	}
	walk.Visit(func(t int32) {
		if found = found || aggregate(d.dies[t].tag) && d.sharedName(t) == name; found {
			return
		}
		walk.Add(d.typeOf(t))
		for _, c := range d.dies[t].children {
			walk.Add(d.typeOf(c))
		}
	})
	return found
}

// shares reports whether both modules name an external function or variable whose
// declaration here leads to the type.
func (d *debugInfo) shares(name string, other *object.File) bool {
	if d = d.whole(); d == nil {
		return false
	}
	return slices.ContainsFunc(d.exports, func(e export) bool {
		return exports(d.file, e.symbol) && exports(other, e.symbol) && d.reaches(e.types, name)
	})
}

func exports(f *object.File, symbol string) bool {
	id, ok := f.Lookup(symbol)
	return ok && f.Symbols[id].Linkage != ptx.Local
}
