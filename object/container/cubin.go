package container

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// holdsBytes reports whether a section of this type takes up room in the file. In a
// relocatable cubin, .nv.global, .nv.local and .nv.shared have types of their own;
// nvlink makes them NOBITS (testdata/script/cubin_zeroed.txtar).
func holdsBytes(kind elf.SectionType) bool {
	switch kind {
	case elf.SHT_NULL, elf.SHT_NOBITS,
		elf.SHT_LOPROC + 0x7,  // CUDA_GLOBAL
		elf.SHT_LOPROC + 0x9,  // CUDA_LOCAL
		elf.SHT_LOPROC + 0xa,  // CUDA_SHARED
		elf.SHT_LOPROC + 0x15: // CUDA_SHARED_RESERVED
		return false
	}
	return true
}

// CheckCubin returns an error if data is not a complete cubin: an ELF file for CUDA
// with sections, all of which lie within the file, like its segments. It does not
// check their contents. It cannot use debug/elf, which does not accept cubins.
func CheckCubin(data []byte) error {
	if len(data) < 16 || string(data[:4]) != elf.ELFMAG {
		return errors.New("it is not an ELF file")
	}
	// h is the header of a 64-bit file; the header of a 32-bit file is converted.
	var h elf.Header64
	wide := elf.Class(data[elf.EI_CLASS]) == elf.ELFCLASS64
	if wide {
		if !decode(data, 0, &h) {
			return errors.New("it ends in its header")
		}
	} else {
		var s elf.Header32
		if !decode(data, 0, &s) {
			return errors.New("it ends in its header")
		}
		h = elf.Header64{Machine: s.Machine, Phoff: uint64(s.Phoff), Phnum: s.Phnum, Shoff: uint64(s.Shoff), Shnum: s.Shnum}
	}
	if machine := elf.Machine(h.Machine); machine != machineCUDA {
		return fmt.Errorf("it is an ELF file for %v, not for CUDA", machine)
	}
	section := func(i uint64) (kind elf.SectionType, off, size uint64, ok bool) {
		if wide {
			var s elf.Section64
			ok = decode(data, h.Shoff+i*64, &s)
			return elf.SectionType(s.Type), s.Off, s.Size, ok
		}
		var s elf.Section32
		ok = decode(data, h.Shoff+i*40, &s)
		return elf.SectionType(s.Type), uint64(s.Off), uint64(s.Size), ok
	}
	count := uint64(h.Shnum)
	if count == 0 && h.Shoff != 0 { // there are 65,280 sections or more
		_, _, count, _ = section(0)
	}
	if count == 0 {
		return errors.New("it has no sections")
	}
	for i := range count {
		kind, off, size, ok := section(i)
		if !ok || holdsBytes(kind) && !within(data, off, size) {
			return fmt.Errorf("it is cut short: section %d of %d is not in its %d bytes", i, count, len(data))
		}
	}
	for i := range uint64(h.Phnum) {
		var p elf.Prog64
		ok := wide && decode(data, h.Phoff+i*56, &p)
		if !wide {
			var s elf.Prog32
			ok = decode(data, h.Phoff+i*32, &s)
			p.Off, p.Filesz = uint64(s.Off), uint64(s.Filesz)
		}
		if !ok || !within(data, p.Off, p.Filesz) {
			return fmt.Errorf("it is cut short: segment %d of %d is not in its %d bytes", i, h.Phnum, len(data))
		}
	}
	return nil
}

// Localise makes symbols local that had no linkage before a module was cut into parts,
// as nvlink leaves those of one cubin, so that the host does not find them. The symbols
// keep their places, because relocations and attributes refer to them by index: local
// ones may follow global ones, as in the cubins of whole-program ptxas. The cubin has
// passed CheckCubin.
func Localise(cubin []byte, names []string) {
	var h elf.Header64
	if len(names) == 0 || !decode(cubin, 0, &h) || cubin[elf.EI_CLASS] != byte(elf.ELFCLASS64) {
		return
	}
	section := func(i uint64) (s elf.Section64, data []byte) {
		if !decode(cubin, h.Shoff+i*64, &s) || !within(cubin, s.Off, s.Size) {
			return s, nil
		}
		return s, cubin[s.Off : s.Off+s.Size]
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	for i := range uint64(h.Shnum) {
		s, table := section(i)
		if elf.SectionType(s.Type) != elf.SHT_SYMTAB {
			continue
		}
		_, pool := section(uint64(s.Link))
		locals := s.Info
		for k := range uint32(len(table) / elf.Sym64Size) {
			symbol := table[k*elf.Sym64Size:][:elf.Sym64Size]
			name := binary.LittleEndian.Uint32(symbol)
			if binary.LittleEndian.Uint16(symbol[6:]) != uint16(elf.SHN_UNDEF) && elf.ST_BIND(symbol[4]) == elf.STB_GLOBAL && wanted[cString(pool, name)] {
				symbol[4] = elf.ST_INFO(elf.STB_LOCAL, elf.ST_TYPE(symbol[4]))
			}
			if k == locals && elf.ST_BIND(symbol[4]) == elf.STB_LOCAL {
				locals++
			}
		}
		binary.LittleEndian.PutUint32(cubin[h.Shoff+i*64+44:], locals) // sh_info: the first global symbol
	}
}

// OpenCubin opens a cubin with debug/elf, which does not accept the versions and ABIs of
// CUDA in the header.
func OpenCubin(cubin []byte) (*elf.File, error) {
	if err := CheckCubin(cubin); err != nil {
		return nil, err
	}
	cubin = bytes.Clone(cubin)
	if len(cubin) < 64 {
		return nil, errors.New("it ends in its header")
	}
	cubin[elf.EI_VERSION], cubin[elf.EI_OSABI], cubin[elf.EI_ABIVERSION] = 1, 0, 0
	copy(cubin[20:24], []byte{1, 0, 0, 0})
	return elf.NewFile(bytes.NewReader(cubin))
}

// Cubin is a cubin in a file: device code that nvlink links.
type Cubin struct {
	Name   string // as in messages: "app.o", "libx.a(k.o)"
	Target string // sm_80
	Data   []byte
}

// Relocatable reports whether nvlink links the cubin: ptxas -c wrote it.
func (c Cubin) Relocatable() bool {
	return len(c.Data) > 18 && elf.Type(le.Uint16(c.Data[16:])) == elf.ET_REL
}

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

// cString returns the string at an offset of a table, up to its NUL.
func cString(table []byte, at uint32) string {
	if uint64(at) > uint64(len(table)) {
		return ""
	}
	text, _, _ := bytes.Cut(table[at:], []byte{0})
	return string(text)
}

// decode reads a value at an offset of data.
func decode(data []byte, at uint64, into any) bool {
	size := uint64(binary.Size(into))
	if !within(data, at, size) {
		return false
	}
	_, err := binary.Decode(data[at:at+size], binary.LittleEndian, into)
	return err == nil
}

func within(data []byte, at, size uint64) bool {
	return at <= uint64(len(data)) && size <= uint64(len(data))-at
}
