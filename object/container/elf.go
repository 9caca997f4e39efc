package container

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"ptxlink/internal/parallel"
)

const machineCUDA = 190

// deviceSections are the sections of host objects in which compilers store device
// code.
var deviceSections = []string{"__nv_relfatbin", ".nv_fatbin", ".llvm.offloading"}

// longestSection is longer than the names of sections that are looked for, in bytes.
const longestSection = 32

// elf opens a host object, executable or shared library. It ignores the wrapper that compilers add
// for each fatbin, because only nvlink needs those.
func (op *opener) elf(data []byte, p place) {
	if isCubin(data) {
		op.offer(MachineCode, cubinTarget(data), p, whole(data))
		return
	}
	file := readELF(data, p)
	if op.list != nil && op.list.hosts {
		object := elf.Type(file.order.Uint16(data[16:])) == elf.ET_REL
		op.hostFile(data, p, object, func(wanted func(name string) bool) []deviceSection {
			return file.list(func(s elfSection) bool { return s.kind != elf.SHT_NOBITS && wanted(s.name) })
		})
		return
	}
	if host := machines[file.machine]; host != "" {
		p.Arch = host
		if file.machine == elf.EM_PPC64 && file.order == binary.ByteOrder(le) {
			p.Arch = "ppc64le"
		}
	}
	if file.osabi == elf.ELFOSABI_NONE || file.osabi == elf.ELFOSABI_LINUX {
		p.OS = "linux"
	}
	if file.count == 0 {
		op.none(stripped, "", p)
		return
	}
	op.sections(data, p, file.list(elfSection.holdsDeviceCode))
}

func (f *elfFile) list(wanted func(elfSection) bool) (list []deviceSection) {
	for i := range f.count {
		section := f.section(i)
		if !wanted(section) {
			continue
		}
		s := deviceSection{name: section.name, off: section.off, size: section.size}
		if section.flags&elf.SHF_COMPRESSED != 0 {
			s.compressed = f
		}
		list = append(list, s)
	}
	return list
}

type deviceSection struct {
	name       string
	off, size  uint64
	compressed *elfFile // the file, if the section is compressed
}

func (op *opener) sections(data []byte, p place, sections []deviceSection) {
	found := false
	op.eachSection(data, p, sections, func(_ string, body []byte, inner place) {
		if body = bytes.TrimLeft(body, "\x00"); len(body) > 0 {
			found = true
			op.open(body, inner)
		}
	})
	if !found {
		op.none(host, p.Arch, p)
	}
}

// eachSection calls use with the contents of each section, decompressed.
func (op *opener) eachSection(data []byte, p place, sections []deviceSection, use func(name string, body []byte, inner place)) {
	total := uint64(0)
	for _, s := range sections {
		inner := p.in(p.Name + ":" + s.name)
		inner.section = true
		body, ok := span(data, s.off, s.size)
		inner.need(ok, -1, "section has %d bytes at byte %#x, but the file ends at %#x", s.size, s.off, len(data))
		if s.compressed != nil {
			body = op.decompressSection(s.compressed, body, inner)
		}
		// Overlapping sections would expand to more than the file.
		total += s.size
		inner.need(total <= uint64(len(data)), -1, "sections of device code overlap")
		use(s.name, body, inner)
	}
}

func isCubin(data []byte) bool { return len(data) >= 0x34 && le.Uint16(data[18:]) == machineCUDA }

func (op *opener) decompressSection(file *elfFile, body []byte, p place) []byte {
	header := 12 // kind, size, alignment
	if file.wide {
		header = 24
	}
	p.need(len(body) >= header, 0, "compressed section is cut short in its header")
	size := uint64(file.order.Uint32(body[4:]))
	if file.wide {
		size = file.order.Uint64(body[8:])
	}
	plain := int64(min(size, 1<<62))
	switch kind := elf.CompressionType(file.order.Uint32(body)); kind {
	case elf.COMPRESS_ZLIB:
		return op.decompress(body[header:], p, header, plain, zlibCodec)
	case elf.COMPRESS_ZSTD:
		return op.decompress(body[header:], p, header, plain, zstdCodec)
	default:
		err := p.fault(0, "section has the unknown compression type %d", kind)
		err.Help = "objcopy --decompress-debug-sections of your toolchain may know it"
		panic(err)
	}
}

// elfFile is an ELF file: its sections and its machine. debug/elf cannot be used:
// it refuses cubins, allocates what a header promises without checking the file
// size, and accepts names of megabytes.
type elfFile struct {
	data     []byte
	order    binary.ByteOrder
	wide     bool // 64-bit
	machine  elf.Machine
	osabi    elf.OSABI
	sections uint64 // offset of the section headers
	stride   uint64 // of a section header, in bytes
	count    uint64
	segments uint64
	names    []byte // table of section names
}

type elfSection struct {
	name       string // cut to the length of known names
	kind       elf.SectionType
	flags      elf.SectionFlag
	link, info uint32
	off, size  uint64
}

// readELF reads the header and checks that the section headers exist.
func readELF(data []byte, p place) *elfFile {
	f := &elfFile{data: data, order: le}
	size, least := 0x34, uint64(0x28) // of the file header, and of a section header
	if len(data) > 5 {
		f.wide = data[4] == byte(elf.ELFCLASS64)
		if data[5] == byte(elf.ELFDATA2MSB) {
			f.order = binary.BigEndian
		} else {
			p.need((f.wide || data[4] == byte(elf.ELFCLASS32)) && data[5] == byte(elf.ELFDATA2LSB), 4, "ELF file of an unknown class %d and byte order %d", data[4], data[5])
		}
	}
	if f.wide {
		size, least = 0x40, 0x40
	}
	p.need(len(data) >= size, 0, "ELF file is cut short in its header")
	f.machine, f.osabi = elf.Machine(f.order.Uint16(data[0x12:])), elf.OSABI(data[7])
	counts := data[size-6:] // size of a section header, number of headers, index of the name table
	f.sections, f.stride, f.count = f.offset(0x20, 0x28), uint64(f.order.Uint16(counts)), uint64(f.order.Uint16(counts[2:]))
	names := uint64(f.order.Uint16(counts[4:]))
	f.segments = uint64(f.order.Uint16(data[size-8:]))
	if f.sections == 0 {
		f.count = 0
		return f
	}
	p.need(f.stride >= least, size-6, "ELF file has section headers of %d bytes, fewer than %d", f.stride, least)
	if !within(data, f.sections, f.stride) {
		f.needHeaders(f.count == 0 && names == 0, p)
		return f
	}
	// Values too large for two bytes are stored in the first section.
	first := f.section(0)
	f.count = cmp.Or(f.count, first.size)
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(first.link)
	}
	f.needHeaders(f.count <= (uint64(len(data))-f.sections)/f.stride, p)
	if names < f.count {
		f.names = f.contents(f.section(names))
	}
	return f
}

func (f *elfFile) needHeaders(ok bool, p place) {
	p.need(ok, 0, "ELF file is cut short: its section headers, %d of %d bytes, are at byte %#x, and it ends at %#x", f.count, f.stride, f.sections, len(f.data))
}

// tryELF is readELF for callers that need no more of a fault than its text.
func tryELF(data []byte) (f *elfFile, fault *Error) {
	fault = parallel.Catch[*Error](func() { f = readELF(data, place{}) })
	return f, fault
}

// offset reads a file offset from the header, at narrow in ELF32 and at wide in
// ELF64.
func (f *elfFile) offset(narrow, wide int) uint64 {
	if f.wide {
		return f.order.Uint64(f.data[wide:])
	}
	return uint64(f.order.Uint32(f.data[narrow:]))
}

// section reads the header of section i, which exists.
func (f *elfFile) section(i uint64) elfSection {
	b := f.data[f.sections+i*f.stride:]
	word := func(at int) uint64 { return uint64(f.order.Uint32(b[at:])) }
	s := elfSection{kind: elf.SectionType(word(4))}
	if f.wide {
		s.flags, s.link, s.info = elf.SectionFlag(f.order.Uint64(b[8:])), uint32(word(0x28)), uint32(word(0x2c))
		s.off, s.size = f.order.Uint64(b[0x18:]), f.order.Uint64(b[0x20:])
	} else {
		s.flags, s.link, s.info = elf.SectionFlag(word(8)), uint32(word(0x18)), uint32(word(0x1c))
		s.off, s.size = word(0x10), word(0x14)
	}
	s.name = cString(f.names, word(0), longestSection)
	return s
}

// contents returns the bytes of a section, none if they are not in the file.
func (f *elfFile) contents(s elfSection) []byte {
	data, _ := span(f.data, s.off, s.size)
	return data
}

func (f *elfFile) segment(i uint64) (off, size uint64, ok bool) {
	at, stride := f.offset(0x1c, 0x20), uint64(0x20)
	if f.wide {
		stride = 0x38
	}
	b, ok := span(f.data, at+i*stride, stride)
	switch {
	case !ok:
		return 0, 0, false
	case f.wide:
		return f.order.Uint64(b[8:]), f.order.Uint64(b[0x20:]), true
	}
	return uint64(f.order.Uint32(b[4:])), uint64(f.order.Uint32(b[0x10:])), true
}

func (s elfSection) holdsDeviceCode() bool {
	const llvmOffloading = 0x6fff4c0b // SHT_LLVM_OFFLOADING
	return s.kind != elf.SHT_NOBITS && (s.kind == llvmOffloading || slices.Contains(deviceSections, s.name))
}

// cubinTarget reads the architecture of a cubin from e_flags: the low byte, and
// since ABI version 8 (CUDA 13) the byte above it.
func cubinTarget(data []byte) string {
	at := 0x30 // ELF64
	if data[4] == 1 {
		at = 0x24
	}
	if data[8] >= 8 {
		at++
	}
	if data[at] < 20 {
		return ""
	}
	return fmt.Sprintf("sm_%d", data[at])
}

// Virtual returns the number of the architecture of the PTX that ptxas made the cubin of, such as
// 80; 0 if the cubin does not record it. Before ABI version 8, e_flags has it.
func (c Cubin) Virtual() int {
	f, fault := tryELF(c.Data)
	switch {
	case fault != nil || f.machine != machineCUDA || !f.wide:
		return 0
	case c.Data[8] < 8:
		return int(c.Data[0x32])
	}
	for i := range f.count {
		if s := f.section(i); s.name == ".note.nv.cuinfo" {
			const at = 12 + len("NVIDIA Corp\x00") + 2 // after the header, the owner and a version
			if note := f.contents(s); len(note) >= at+2 {
				return int(le.Uint16(note[at:]))
			}
		}
	}
	return 0
}

var machines = map[elf.Machine]string{
	elf.EM_X86_64:    "x86_64",
	elf.EM_AARCH64:   "aarch64",
	elf.EM_PPC64:     "ppc64",
	elf.EM_386:       "i386",
	elf.EM_ARM:       "arm",
	elf.EM_RISCV:     "riscv",
	elf.EM_S390:      "s390x",
	elf.EM_LOONGARCH: "loongarch64",
}
