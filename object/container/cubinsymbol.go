package container

import (
	"cmp"
	"debug/elf"
	"iter"
	"math"
	"slices"
	"strings"
)

// CubinSymbol is a name that other modules see, or that the cubin needs of them, or one of its
// own.
type CubinSymbol struct {
	Name     string
	Defined  bool
	Local    bool // no other module sees it; only AllSymbols returns it
	Weak     bool
	Common   bool  // and Weak: several may define it, with different sizes
	Dynamic  bool  // shared memory whose size the launch sets: nothing needs to define it
	Function bool  // or a kernel; else a variable
	Entry    bool  // a kernel
	Bound    bool  // kernels or data of the cubin refer to it, perhaps through local functions
	Size     int64 // of a variable, or of the code, in bytes
	// Space is the state space of a variable: global, const or shared; empty if the cubin does not
	// record it.
	Space   string
	Initial bool // a variable with an initialiser in .global
	// Prototype is the type that nvlink compares, such as "#iilb16" (.nv.prototype): after # the
	// result and the parameters, b, h, i, l and x for integers and untyped of 8 to 128 bits, f and
	// d for floats, v for no result; a number counts the elements of an array. Empty for kernels
	// and for functions whose address is taken. After a |, ptxas 13.5 describes the registers of
	// system calls and of .abi_preserve.
	Prototype string
	// Registers of a thread that runs a function that the cubin defines, the bytes of stack that
	// the function itself takes, and those that it takes with all that it calls, -1 if they are
	// not known.
	Registers, Frame int
	Stack            int64
	// Params are the parameters of a kernel that the cubin defines. Shared and Constant are its own
	// bytes of .shared, and of parameters and the like.
	Params           []CubinParam
	Shared, Constant int64
	Alias            bool // the code of a function has another name, too
	// Uses are the names that the code of a function refers to. It is not set for kernels.
	Uses []string
}

// CubinParam is a parameter of a kernel: offset and size are in bytes.
type CubinParam struct {
	Offset int `json:"offset"`
	Size   int `json:"size"`
}

// Kind returns entry, func or object.
func (s CubinSymbol) Kind() string {
	switch {
	case s.Entry:
		return "entry"
	case s.Function:
		return "func"
	}
	return "object"
}

// Linkage returns visible, weak, common or extern, as for symbols of PTX.
func (s CubinSymbol) Linkage() string {
	switch {
	case !s.Defined:
		return "extern"
	case s.Local:
		return "local"
	case s.Common:
		return "common"
	case s.Weak:
		return "weak"
	}
	return "visible"
}

// Types of symbols and sections in cubins, and values of st_other.
const (
	sttTexture elf.SymType = 10 // STT_CUDA_TEXTURE; the types of samplers and surfaces follow
	sttObject  elf.SymType = 13 // STT_CUDA_OBJECT
	shtInfo                = elf.SHT_LOPROC
	spaces                 = 0xe0
	shared                 = 0x40
	kernel                 = 0x10 // STO_CUDA_ENTRY
)

// AllSymbols returns the symbols of the cubin, local ones too, in the order of its table. The
// copies of functions in the code of a kernel, which ptxas names $KERNEL$FUNCTION, are left out.
func (c Cubin) AllSymbols() (list []CubinSymbol, err error) {
	f, err := openCubin(c.Data)
	if err != nil {
		return nil, err
	}
	r := symbolReader{symbolFile: f, sizes: map[string]int64{}, prototypes: f.prototypes(), params: f.params(), needs: f.needs(), refs: f.references()}
	r.bound = r.refs.bound()
	for _, s := range f.list {
		r.sizes[s.name] = int64(s.size)
	}
	list = make([]CubinSymbol, 0, len(f.symbols))
	for i, s := range f.symbols {
		if c, ok := r.symbol(uint32(i+1), s); ok { // symbols leaves out the first
			list = append(list, c)
		}
	}
	return list, nil
}

type symbolReader struct {
	*symbolFile
	sizes      map[string]int64 // of sections
	prototypes map[uint32]string
	params     map[uint32][]CubinParam // by section
	needs      map[uint32]functionNeeds
	refs       references
	bound      map[string]bool
}

// symbol returns the symbol with an index; ok is false if it is none of the program.
func (r *symbolReader) symbol(index uint32, s elfSymbol) (c CubinSymbol, ok bool) {
	bind, kind := elf.ST_BIND(s.info), elf.ST_TYPE(s.info)
	reference := kind >= sttTexture && kind < sttObject
	if s.name == "" || kind != elf.STT_FUNC && kind != elf.STT_OBJECT && kind != sttObject && kind != elf.STT_NOTYPE && !reference {
		return c, false
	}
	c = CubinSymbol{Name: s.name, Local: bind == elf.STB_LOCAL, Function: kind == elf.STT_FUNC, Common: s.section == elf.SHN_COMMON, Size: int64(s.size)}
	// Texture, sampler and surface references are undefined where they are defined, too.
	c.Defined, c.Weak = s.section != elf.SHN_UNDEF || reference, bind == elf.STB_WEAK || reference || c.Common
	var section elfSection
	if i := int(s.section); i < len(r.list) {
		section = r.list[i]
	}
	space := spaceOf(section.name)
	if c.Function && s.value != 0 || c.Local && (!c.Defined || !c.Function && space == "") {
		return c, false // a copy in a kernel, or a name of ptxas's own
	}
	c.Bound, c.Prototype = r.bound[s.name], r.prototypes[index]
	c.Dynamic = !c.Defined && s.size == 0 && s.other&spaces == shared
	switch {
	case c.Function:
		if c.Entry = s.other&kernel != 0; c.Entry {
			c.Shared, c.Constant = r.sizes[".nv.shared."+s.name], r.sizes[".nv.constant0."+s.name]
		}
		if c.Defined {
			r.function(&c, index, uint32(s.section), section.info)
		}
	case c.Common || reference:
		c.Space = "global"
	case c.Defined:
		c.Space = space
	default:
		c.Space = map[byte]string{0x20: "global", shared: "shared", 0x80: "const"}[s.other&spaces]
	}
	c.Initial = !c.Function && section.name == ".nv.global.init"
	return c, true
}

// function fills in the fields of a function that a section defines.
func (r *symbolReader) function(c *CubinSymbol, index, section, info uint32) {
	if c.Entry {
		c.Params = r.params[section]
		delete(r.params, section) // several names of one kernel would repeat them
	} else {
		c.Uses = r.refs.names[c.Name]
	}
	n, known := r.needs[index]
	c.Registers, c.Frame, c.Stack = cmp.Or(n.registers, int(info>>24)), n.frame, n.stack // sh_info has them up to sm_89
	if !known {
		c.Stack = -1
	}
	_, own := r.sizes[".text."+c.Name]
	c.Alias = !own
}

// references holds the names that relocations of each function's code refer to. The key "" has the
// names that kernels and data refer to.
type references struct {
	names map[string][]string
	local map[string]bool // functions
}

// bound returns the names that kernels and data refer to, or local functions for them.
func (r references) bound() map[string]bool {
	bound := map[string]bool{}
	for left := slices.Clone(r.names[""]); len(left) > 0; {
		name := left[len(left)-1]
		if left = left[:len(left)-1]; !bound[name] {
			if bound[name] = true; r.local[name] {
				left = append(left, r.names[name]...)
			}
		}
	}
	return bound
}

// references reads the relocations.
func (f *symbolFile) references() references {
	refs := references{map[string][]string{}, map[string]bool{}}
	functions := map[string]bool{} // that are no kernels
	for _, s := range f.symbols {
		if elf.ST_TYPE(s.info) == elf.STT_FUNC && s.other&kernel == 0 {
			functions[s.name] = true
			refs.local[s.name] = refs.local[s.name] || elf.ST_BIND(s.info) == elf.STB_LOCAL
		}
	}
	for _, s := range f.relocs() {
		_, from, inText := strings.Cut(s.name, ".text.")
		if !inText || !functions[from] {
			from = ""
		}
		used := map[int]bool{} // a large cubin has millions of relocations, which refer to few symbols
		for r := range s.all() {
			if 0 <= r.symbol && r.symbol < len(f.symbols) {
				used[r.symbol] = true
			}
		}
		for at := range used {
			if name := f.symbols[at].name; name != from {
				refs.names[from] = append(refs.names[from], name)
			}
		}
	}
	for from, names := range refs.names {
		slices.Sort(names)
		refs.names[from] = slices.Compact(names)
	}
	return refs
}

type relocs struct {
	name    string // of the section that they apply to
	section elf.SectionIndex
	size    int // of an entry of data
	data    []byte
}

// reloc is a place in a section, and the number of the symbol in symbolFile.symbols that it refers to.
type reloc struct {
	offset uint64
	symbol int
}

func (s relocs) all() iter.Seq[reloc] {
	return func(yield func(reloc) bool) {
		for data := s.data; len(data) >= s.size; data = data[s.size:] {
			if !yield(reloc{le.Uint64(data), int(le.Uint32(data[12:])) - 1}) { // symbols leaves out the first
				return
			}
		}
	}
}

// relocs returns the relocations of all sections but debug information.
func (f *symbolFile) relocs() (list []relocs) {
	for _, s := range f.list {
		size := 16
		if s.kind == elf.SHT_RELA {
			size = 24
		} else if s.kind != elf.SHT_REL {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(s.name, ".rela"), ".rel")
		if strings.HasPrefix(name, ".debug") || strings.HasPrefix(name, ".nv_debug") {
			continue
		}
		list = append(list, relocs{name, elf.SectionIndex(s.info), size, f.contents(s)})
	}
	return list
}

// spaceOf returns the state space of the variables in a section, or "". Bank 3 is .const; the
// other banks are ptxas's own.
func spaceOf(section string) string {
	switch {
	case section == ".nv.global" || section == ".nv.global.init":
		return "global"
	case section == ".nv.constant3":
		return "const"
	case section == ".nv_debug.shared" || strings.HasPrefix(section, ".nv.shared.") && !strings.HasPrefix(section, ".nv.shared.reserved."):
		return "shared"
	}
	return ""
}

// Memory returns the bytes of each state space that the sections of the cubin take on the GPU:
// .shared per block of threads. It counts sections, because nvlink keeps no symbols of .shared.
func (c Cubin) Memory() map[string]int64 {
	f, err := openCubin(c.Data)
	if err != nil {
		return nil
	}
	sizes := map[string]int64{}
	for _, s := range f.list {
		if space := spaceOf(s.name); space != "" {
			sizes[space] += int64(min(s.size, 1<<40))
		}
	}
	return sizes
}

// params returns the parameters of the kernels, by the index of the section of their code.
func (f *symbolFile) params() map[uint32][]CubinParam {
	found, total := map[uint32][]CubinParam{}, uint64(0)
	for _, s := range f.list {
		if s.kind != shtInfo || s.info == 0 {
			continue
		}
		data := f.contents(s)
		if total += uint64(len(data)); total > uint64(len(f.data)) {
			return nil // sections that overlap would make much of little
		}
		found[s.info] = parseParams(data)
	}
	return found
}

type functionNeeds struct {
	registers, frame int
	stack            int64
}

// needs returns what functions need, by the index of their symbols.
func (f *symbolFile) needs() map[uint32]functionNeeds {
	section := f.named(".nv.info")
	if section == nil {
		return nil
	}
	found := map[uint32]functionNeeds{}
	for attribute, value := range attributes(f.contents(*section)) {
		if len(value) < 8 {
			continue
		}
		index, n := le.Uint32(value), int(min(le.Uint32(value[4:]), 1<<30))
		needs, known := found[index]
		if !known {
			needs.stack = -1
		}
		switch attribute {
		case regCount:
			needs.registers = n
		case frameSize:
			needs.frame = n
		case minStack:
			needs.stack = int64(int32(le.Uint32(value[4:])))
		default:
			continue
		}
		found[index] = needs
	}
	return found
}

// Attributes of .nv.info, of a function: its symbol, and a number; and of .nv.info.KERNEL: a
// parameter. Large kernels have parameters in the second form.
const (
	regCount    = 0x2f
	frameSize   = 0x11
	minStack    = 0x12
	kparamInfo  = 0x17
	kparamInfo2 = 0x45
)

// attributes yields the attributes of .nv.info with a value that has a size: format 4. The
// values of other formats are in the place of the size.
func attributes(data []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for len(data) >= 4 {
			format, attribute, size := data[0], data[1], int(le.Uint16(data[2:]))
			if data = data[4:]; format != 4 {
				continue
			}
			if size > len(data) || !yield(attribute, data[:size]) {
				return
			}
			data = data[size:]
		}
	}
}

// parseParams reads the parameters in the attributes of a kernel. Each has its number at byte 4 of
// the value, its offset at 6 and its size at 8: in bits 18 to 31, or as 16 bits in the second form.
func parseParams(data []byte) []CubinParam {
	found := map[int]CubinParam{}
	for attribute, value := range attributes(data) {
		if len(value) < 12 || attribute != kparamInfo && attribute != kparamInfo2 {
			continue
		}
		p := CubinParam{Offset: int(le.Uint16(value[6:])), Size: int(le.Uint32(value[8:]) >> 18)}
		if attribute == kparamInfo2 {
			p.Size = int(le.Uint16(value[8:]))
		}
		found[int(le.Uint16(value[4:]))] = p
	}
	list := make([]CubinParam, len(found))
	for i, p := range found {
		if i >= len(list) {
			return nil // one is missing
		}
		list[i] = p
	}
	return list
}

// prototypes returns the prototypes of functions, by the index of their symbols.
func (f *symbolFile) prototypes() map[uint32]string {
	section := f.named(".nv.prototype")
	if section == nil || int(section.link) >= len(f.list) || int(f.list[section.link].link) >= len(f.list) {
		return nil
	}
	pairs, names := f.contents(*section), f.contents(f.list[f.list[section.link].link])
	found := make(map[uint32]string, len(pairs)/8)
	for ; len(pairs) >= 8; pairs = pairs[8:] {
		if text := cString(names, uint64(le.Uint32(pairs[4:])), math.MaxUint64); strings.HasPrefix(text, "#") {
			found[le.Uint32(pairs)] = text
		}
	}
	return found
}
