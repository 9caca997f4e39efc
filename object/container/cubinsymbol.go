package container

import (
	"debug/elf"
	"errors"
	"strings"
)

// CubinSymbol is a name that other modules see, or that the cubin needs of them.
type CubinSymbol struct {
	Name     string
	Defined  bool
	Weak     bool
	Common   bool  // and Weak: several may define it, with different sizes
	Dynamic  bool  // shared memory whose size the launch sets: nothing needs to define it
	Function bool  // or a kernel; else a variable
	Entry    bool  // a kernel
	Size     int64 // of a variable, or of the code, in bytes
	// Prototype is what nvlink compares of a function, such as "#iilb16" (.nv.prototype): after
	// # the result and the parameters, b, h, i, l and x for integers and untyped of 8 to 128
	// bits, f and d for floats, v for no result; a number is that of the elements of an
	// array. Empty for kernels and for functions whose address is taken.
	Prototype string
	// Registers of a thread that runs a function that the cubin defines: bits 24 to 31 of
	// the sh_info of its section.
	Registers int
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
	case s.Common:
		return "common"
	case s.Weak:
		return "weak"
	}
	return "visible"
}

// Types of symbols in cubins, and of st_other.
const (
	sttTexture elf.SymType = 10 // STT_CUDA_TEXTURE, then those of samplers and surfaces
	sttObject  elf.SymType = 13 // STT_CUDA_OBJECT
	spaces                 = 0xe0
	shared                 = 0x40
	kernel                 = 0x10 // STO_CUDA_ENTRY
)

// Symbols returns the global and weak symbols of the cubin, in the order of its table.
func (c Cubin) Symbols() (list []CubinSymbol, err error) {
	f, err := OpenCubin(c.Data)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	prototypes := prototypesOf(f)
	for i, s := range symbols {
		bind, kind := elf.ST_BIND(s.Info), elf.ST_TYPE(s.Info)
		reference := kind >= sttTexture && kind < sttObject
		if bind == elf.STB_LOCAL || s.Name == "" || kind != elf.STT_FUNC && kind != elf.STT_OBJECT && kind != sttObject && kind != elf.STT_NOTYPE && !reference {
			continue
		}
		c := CubinSymbol{Name: s.Name, Defined: s.Section != elf.SHN_UNDEF, Weak: bind == elf.STB_WEAK, Function: kind == elf.STT_FUNC, Size: int64(s.Size)}
		c.Common = s.Section == elf.SHN_COMMON
		// Texture, sampler and surface references are undefined where they are defined, too.
		c.Defined, c.Weak = c.Defined || reference, c.Weak || reference || c.Common
		c.Entry = c.Function && s.Other&kernel != 0
		if i := int(s.Section); c.Function && c.Defined && i < len(f.Sections) {
			c.Registers = int(f.Sections[i].Info >> 24)
		}
		c.Prototype = prototypes[uint32(i+1)] // Symbols leaves out the first
		c.Dynamic = !c.Defined && s.Size == 0 && s.Other&spaces == shared
		list = append(list, c)
	}
	return list, nil
}

// prototypesOf returns the prototypes of functions, by the index of their symbols.
func prototypesOf(f *elf.File) map[uint32]string {
	section := f.Section(".nv.prototype")
	if section == nil || int(section.Link) >= len(f.Sections) || int(f.Sections[section.Link].Link) >= len(f.Sections) {
		return nil
	}
	pairs, err := section.Data()
	names, namesErr := f.Sections[f.Sections[section.Link].Link].Data()
	if err != nil || namesErr != nil {
		return nil
	}
	found := make(map[uint32]string, len(pairs)/8)
	for ; len(pairs) >= 8; pairs = pairs[8:] {
		if text := cString(names, le.Uint32(pairs[4:])); strings.HasPrefix(text, "#") {
			found[le.Uint32(pairs)] = text
		}
	}
	return found
}
