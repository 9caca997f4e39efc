package dwarftypes

import (
	"debug/dwarf"
	"strings"
	"sync"

	"ptxlink/internal/graph"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// debugInfo is the DWARF of one module as a tree, without the contents of functions. It
// has functions and variables only if they are asked for.
type debugInfo struct {
	file  *object.File
	dies  []die // in order
	at    map[dwarf.Offset]int32
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
	*dwarf.Entry
	unit     *debugUnit
	parent   int32 // -1 for a unit
	children []int32
}

type debugUnit struct {
	language    language
	addressSize int64
	// saysAlignment is set for clang, which writes DW_AT_alignment wherever the
	// source specifies an alignment; nvcc never does.
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

// readDebug reads the types of a module, and its functions and variables if they are
// asked for. It returns nil if the DWARF cannot be read: tools that merge or load the
// sections report the error.
func readDebug(f *object.File, functions bool) (d *debugInfo) {
	defer func() {
		// debug/dwarf is not hardened against hostile input, according to its
		// documentation.
		if recover() != nil {
			d = nil
		}
	}()
	data, skip, ok := loadDWARF(f)
	if !ok {
		return nil
	}
	d = newDebugInfo(f)
	if functions || !d.readTypes(data.Reader(), skip) {
		if d = newDebugInfo(f); !d.readTree(data.Reader(), skip) {
			return nil
		}
	}
	d.whole = sync.OnceValue(func() *debugInfo { return readDebug(f, true) })
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
		if functions && (d.dies[i].Tag == dwarf.TagSubprogram || d.dies[i].Tag == dwarf.TagVariable) {
			d.export(int32(i))
		}
	}
	return d
}

func newDebugInfo(f *object.File) *debugInfo {
	return &debugInfo{file: f, at: map[dwarf.Offset]int32{}}
}

// loadDWARF lays out the sections as if loaded at 0. Types contain no code
// addresses, so those stay 0.
func loadDWARF(f *object.File) (*dwarf.Data, *skipper, bool) {
	var sections [3][]byte
	for i, name := range []string{".debug_abbrev", ".debug_info", ".debug_str"} {
		data, err := f.LoadedSection(name, nil)
		if err != nil || i < 2 && len(data) == 0 {
			return nil, nil, false
		}
		sections[i] = data
	}
	data, err := dwarf.New(sections[0], nil, nil, sections[1], nil, nil, nil, sections[2])
	skip := &skipper{abbrev: sections[0], info: sections[1], str: sections[2], tables: map[uint32]*skippedTable{}}
	return data, skip, err == nil
}

// readTypes reads the units without their functions and variables, which are most of
// the DWARF. It returns false if skip cannot read everything.
func (d *debugInfo) readTypes(r *dwarf.Reader, skip *skipper) bool {
	var unit *debugUnit
	var open []int32 // the DIEs that enclose the next one
	for skip.ok = true; skip.unit.end < len(skip.info); {
		for skip.enter(); skip.ok && skip.at < skip.unit.end; {
			at := dwarf.Offset(skip.at)
			a := skip.die()
			if a == nil {
				open = open[:max(0, len(open)-1)] // nvcc ends more lists than it starts
				continue
			}
			parent, outside := int32(-1), true
			if len(open) > 0 {
				parent = open[len(open)-1]
				outside = d.dies[parent].Tag == dwarf.TagCompileUnit || d.dies[parent].Tag == dwarf.TagNamespace
			}
			if outside && (a.tag == dwarf.TagSubprogram || a.tag == dwarf.TagVariable) {
				skip.rest(a)
				continue
			}
			r.Seek(at)
			e, err := r.Next()
			if err != nil || e == nil || e.Tag != a.tag || len(open) > maxDebugNesting {
				return false
			}
			if e.Tag == dwarf.TagCompileUnit {
				unit = newUnit(e, int64(r.AddressSize()))
			}
			if unit == nil || e.Tag == dwarf.TagCompileUnit && parent >= 0 {
				return false
			}
			i := int32(len(d.dies))
			if parent >= 0 {
				d.dies[parent].children = append(d.dies[parent].children, i)
			}
			d.at[at] = i
			d.dies = append(d.dies, die{Entry: e, unit: unit, parent: parent})
			switch {
			case a.tag == dwarf.TagSubprogram:
				skip.rest(a)
				continue
			case a.children:
				open = append(open, i)
			}
			skip.values(a)
		}
		if !skip.ok {
			return false
		}
		open = open[:0]
	}
	return true
}

func (d *debugInfo) readTree(r *dwarf.Reader, skip *skipper) bool {
	var unit *debugUnit
	var open []int32 // the DIEs that enclose the next one
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
		if !e.Children {
			continue
		}
		if e.Tag == dwarf.TagSubprogram && len(open) < maxDebugNesting {
			if parameters, end, ok := skip.function(e.Offset); ok {
				if !d.readParameters(r, i, parameters) {
					return false
				}
				r.Seek(end)
				continue
			}
		}
		open = append(open, i)
	}
}

// readParameters reads the parameters of a function.
func (d *debugInfo) readParameters(r *dwarf.Reader, function int32, parameters []dwarf.Offset) bool {
	for _, at := range parameters {
		r.Seek(at)
		e, err := r.Next()
		if err != nil {
			return false
		}
		i := int32(len(d.dies))
		d.dies[function].children = append(d.dies[function].children, i)
		d.at[at] = i
		d.dies = append(d.dies, die{Entry: e, unit: d.dies[function].unit, parent: function})
	}
	return true
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

// dieNumber returns an integer attribute, or -1 if it is absent.
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

// typeOf returns the DIE of DW_AT_type, or -1 if there is none outside functions.
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

// incomplete reports whether an aggregate is only declared. nvcc does not mark such
// a type but gives it no bytes and no members.
func (d *debugInfo) incomplete(i int32) bool {
	x := &d.dies[i]
	size := dieNumber(x.Entry, dwarf.AttrByteSize)
	return dieFlag(x.Entry, dwarf.AttrDeclaration) || size < 0 || size == 0 && len(x.children) == 0
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

// reaches reports whether a value of the types leads to the aggregate: by value,
// through pointers, as a member or in the parameters of a function pointer.
func (d *debugInfo) reaches(types []dwarf.Offset, name string) bool {
	seen, found := map[int32]bool{}, false
	walk := graph.Walk[int32]{First: func(t int32) bool {
		first := t >= 0 && !seen[t]
		seen[t] = true
		return first
	}}
	for _, offset := range types {
		if t, ok := d.at[offset]; ok {
			walk.Add(t)
		}
	}
	walk.Visit(func(t int32) {
		if found = found || aggregate(d.dies[t].Tag) && d.sharedName(t) == name; found {
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
