package container

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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
		if decode(cubin, h.Shoff+i*64, &s) {
			data, _ = span(cubin, s.Off, s.Size)
		}
		return s, data
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
			name := uint64(le.Uint32(symbol))
			if le.Uint16(symbol[6:]) != uint16(elf.SHN_UNDEF) && elf.ST_BIND(symbol[4]) == elf.STB_GLOBAL && wanted[cString(pool, name, math.MaxUint64)] {
				symbol[4] = elf.ST_INFO(elf.STB_LOCAL, elf.ST_TYPE(symbol[4]))
			}
			if k == locals && elf.ST_BIND(symbol[4]) == elf.STB_LOCAL {
				locals++
			}
		}
		le.PutUint32(cubin[h.Shoff+i*64+44:], locals) // sh_info: the first global symbol
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

// cString returns the string at an offset of a table, up to its NUL, or its first most bytes.
func cString(table []byte, at, most uint64) string {
	text := table[min(at, uint64(len(table))):]
	text, _, _ = bytes.Cut(text[:min(most, uint64(len(text)))], []byte{0})
	return string(text)
}

// decode reads a value at an offset of data.
func decode(data []byte, at uint64, into any) bool {
	value, ok := span(data, at, uint64(binary.Size(into)))
	if !ok {
		return false
	}
	_, err := binary.Decode(value, le, into)
	return err == nil
}
