package container

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// holdsBytes reports whether a section of this type takes up room in the file. In a
// relocatable cubin, .nv.global, .nv.local and .nv.shared have types of their own;
// nvlink makes them NOBITS (testdata/script/cubin_zeroed.txtar). It returns false for types that
// CUDA 13.5 does not have, because a later release may add more types of such memory. CUDA 13.5 has
// the types up to 0x16, banks of constants from 0x64, and the types from 0x82 to 0x8b.
func holdsBytes(kind elf.SectionType) bool {
	switch kind {
	case elf.SHT_NULL, elf.SHT_NOBITS,
		elf.SHT_LOPROC + 0x7,  // CUDA_GLOBAL
		elf.SHT_LOPROC + 0x9,  // CUDA_LOCAL
		elf.SHT_LOPROC + 0xa,  // CUDA_SHARED
		elf.SHT_LOPROC + 0x15: // CUDA_SHARED_RESERVED
		return false
	}
	return kind <= elf.SHT_LOPROC+0x16 || elf.SHT_LOPROC+0x64 <= kind && kind <= elf.SHT_LOPROC+0x8b
}

// CheckCubin returns an error if data is not a complete cubin: an ELF file for CUDA
// whose sections and segments all lie within the file. It does not check their contents. It cannot
// use debug/elf, which does not accept cubins.
func CheckCubin(data []byte) error {
	if len(data) < 16 || string(data[:4]) != elf.ELFMAG {
		return errors.New("it is not an ELF file")
	}
	f, fault := tryELF(data)
	switch {
	case fault != nil:
		return errors.New(fault.Text)
	case f.machine != machineCUDA:
		return fmt.Errorf("it is an ELF file for %v, not for CUDA", f.machine)
	case f.count == 0:
		return errors.New("it has no sections")
	}
	for i := range f.count {
		if s := f.section(i); holdsBytes(s.kind) && !within(data, s.off, s.size) {
			return fmt.Errorf("it is cut short: section %d of %d is not in its %d bytes", i, f.count, len(data))
		}
	}
	for i := range f.segments {
		if off, size, ok := f.segment(i); !ok || !within(data, off, size) {
			return fmt.Errorf("it is cut short: segment %d of %d is not in its %d bytes", i, f.segments, len(data))
		}
	}
	return nil
}

// Localise makes symbols local that had no linkage before a module was cut into parts,
// so that the host does not find them. nvlink leaves such symbols of an uncut module local, too.
// The symbols keep their places, because relocations and attributes refer to them by index: local
// ones may follow global ones, as in the cubins of whole-program ptxas. The cubin has passed
// CheckCubin.
func Localise(cubin []byte, names []string) {
	f, err := openELF(cubin)
	if len(names) == 0 || err != nil || !f.wide || f.table < 0 {
		return
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	info := cubin[f.sections+uint64(f.table)*f.stride+44:] // the first global symbol
	locals := le.Uint32(info)
	for i, s := range f.symbols {
		if entry := f.entry(i); s.section != elf.SHN_UNDEF && elf.ST_BIND(s.info) == elf.STB_GLOBAL && wanted[s.name] {
			entry[4] = elf.ST_INFO(elf.STB_LOCAL, elf.ST_TYPE(s.info))
		}
		if uint32(i+1) == locals && elf.ST_BIND(f.entry(i)[4]) == elf.STB_LOCAL {
			locals++
		}
	}
	le.PutUint32(info, locals)
}

// symbolFile is a cubin or host object with its sections and symbols. debug/elf copies both, and does not accept the versions
// and ABIs of CUDA in the header.
type symbolFile struct {
	*elfFile
	list    []elfSection // their names are not cut
	table   int          // the section of symbols, or -1
	symbols []elfSymbol  // without the first, which is empty
}

type elfSymbol struct {
	name        string
	info, other byte
	section     elf.SectionIndex
	value, size uint64
}

// openCubin is openELF for a cubin that is complete.
func openCubin(cubin []byte) (*symbolFile, error) {
	if err := CheckCubin(cubin); err != nil {
		return nil, err
	}
	return openELF(cubin)
}

// openELF reads the sections of an ELF file, and its symbols. The names share memory with each
// other, and not with the file, which may be mapped.
func openELF(data []byte) (*symbolFile, error) {
	file, fault := tryELF(data)
	if fault != nil {
		return nil, fault
	}
	f := &symbolFile{elfFile: file}
	names := string(f.names)
	f.list = make([]elfSection, 0, f.count)
	for i := range f.count {
		s := f.section(i)
		s.name = stringAt(names, f.order.Uint32(f.data[f.sections+i*f.stride:]))
		f.list = append(f.list, s)
	}
	f.table = slices.IndexFunc(f.list, func(s elfSection) bool { return s.kind == elf.SHT_SYMTAB })
	if f.table >= 0 {
		return f, f.readSymbols()
	}
	return f, nil
}

// symbolSize returns the size of a symbol, in bytes.
func (f *symbolFile) symbolSize() int {
	if f.wide {
		return elf.Sym64Size
	}
	return elf.Sym32Size
}

// entry returns the bytes in the file of a symbol of symbols.
func (f *symbolFile) entry(i int) []byte {
	size := f.symbolSize()
	return f.contents(f.list[f.table])[(i+1)*size:][:size]
}

func (f *symbolFile) readSymbols() error {
	table, size := f.list[f.table], f.symbolSize()
	data := f.contents(table)
	if len(data)%size != 0 || table.flags&elf.SHF_COMPRESSED != 0 || uint64(table.link) >= f.count {
		return errors.New("its table of symbols is damaged")
	}
	names := string(f.contents(f.list[table.link]))
	f.symbols = make([]elfSymbol, 0, len(data)/size)
	for at := size; at < len(data); at += size {
		b := data[at:]
		s := elfSymbol{name: stringAt(names, f.order.Uint32(b))}
		if f.wide {
			s.info, s.other, s.section, s.value, s.size = b[4], b[5], elf.SectionIndex(f.order.Uint16(b[6:])), f.order.Uint64(b[8:]), f.order.Uint64(b[16:])
		} else {
			s.value, s.size, s.info, s.other, s.section = uint64(f.order.Uint32(b[4:])), uint64(f.order.Uint32(b[8:])), b[12], b[13], elf.SectionIndex(f.order.Uint16(b[14:]))
		}
		f.symbols = append(f.symbols, s)
	}
	return nil
}

// named returns the first section with a name, or nil.
func (f *symbolFile) named(name string) *elfSection {
	if i := slices.IndexFunc(f.list, func(s elfSection) bool { return s.name == name }); i >= 0 {
		return &f.list[i]
	}
	return nil
}

// stringAt is cString of a table whose memory the result may share.
func stringAt(table string, at uint32) string {
	text, _, _ := strings.Cut(table[min(int(at), len(table)):], "\x00")
	return text
}

// Cubin is a cubin in a file: device code that nvlink links.
type Cubin struct {
	Name   string // as in messages: "app.o", "libx.a(k.o)"
	Target string // sm_80
	Data   []byte
}

// Relocatable reports whether ptxas -c wrote the cubin. nvlink cannot link other cubins.
func (c Cubin) Relocatable() bool {
	return len(c.Data) > 18 && elf.Type(le.Uint16(c.Data[16:])) == elf.ET_REL
}

// cString returns the string at an offset of a table, up to its NUL, or its first most bytes.
func cString(table []byte, at, most uint64) string {
	text := table[min(at, uint64(len(table))):]
	text, _, _ = bytes.Cut(text[:min(most, uint64(len(text)))], []byte{0})
	return string(text)
}
