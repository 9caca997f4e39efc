package container

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

const machineCUDA = 190

// deviceSections are where compilers keep device code in host objects.
var deviceSections = []string{"__nv_relfatbin", ".nv_fatbin", ".llvm.offloading"}

// elf opens a host object, executable or shared library. Compilers that put
// fatbins into them also write wrappers that point to each; only nvlink needs
// those.
func (op *opener) elf(data []byte, p place) *Error {
	// debug/elf refuses cubins, which keep the toolkit's number in e_version.
	if len(data) >= 0x34 && le.Uint16(data[18:]) == machineCUDA {
		return op.none(cubin, cubinTarget(data), p)
	}
	file, err := openELF(data, p)
	if err != nil {
		return err
	}
	if host := machines[file.Machine]; host != "" {
		p.arch = host
		if file.Machine == elf.EM_PPC64 && file.Data == elf.ELFDATA2LSB {
			p.arch = "ppc64le"
		}
	}
	if file.OSABI == elf.ELFOSABI_NONE || file.OSABI == elf.ELFOSABI_LINUX {
		p.os = "linux"
	}
	if len(file.Sections) == 0 {
		return op.none(stripped, "", p)
	}
	found, total := false, uint64(0)
	for _, section := range file.Sections {
		known := section.Type == 0x6fff4c0b // SHT_LLVM_OFFLOADING
		for _, name := range deviceSections {
			known = known || section.Name == name
		}
		if !known || section.Type == elf.SHT_NOBITS {
			continue
		}
		inner := p.in(p.name + ":" + section.Name)
		inner.section = true
		body, err := op.section(section, data, inner)
		if err != nil {
			return err
		}
		// Sections that overlap would make more of the file than it is.
		if total += section.FileSize; total > uint64(len(data)) {
			return inner.fault(-1, "sections of device code overlap")
		}
		body = bytes.TrimLeft(body, "\x00")
		if len(body) == 0 {
			continue
		}
		found = true
		if err := op.open(body, inner); err != nil {
			return err
		}
	}
	if !found {
		return op.none(host, p.arch, p)
	}
	return nil
}

func (op *opener) section(s *elf.Section, data []byte, p place) ([]byte, *Error) {
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		return op.decompress(nil, p, 0, -1, func(_ []byte, limit int64) ([]byte, error) { return drain(s.Open(), limit) })
	}
	body, ok := span(data, s.Offset, s.FileSize)
	if !ok {
		return nil, p.fault(-1, "section has %d bytes at %#x, but the file has %d", s.FileSize, s.Offset, len(data))
	}
	return body, nil
}

// elfTables checks that the tables of headers lie within the file. debug/elf
// believes the header and makes room for them first, 10 MB for a file of 64
// bytes.
func elfTables(data []byte, p place) *Error {
	short := func(what string, from, to uint64) *Error {
		err := p.fault(0, "ELF file is cut short: its %s end at byte %d, and it has %d bytes", what, to, len(data))
		if to < from {
			err.Text = fmt.Sprintf("ELF file is damaged: its %s begin at byte %d and have no end", what, from)
		}
		err.Help = "copy or build the file again"
		return err
	}
	wide, order := len(data) > 4 && data[4] == 2, binary.ByteOrder(le)
	size := uint64(0x34)
	if wide {
		size = 0x40
	}
	if uint64(len(data)) < size {
		return short("headers", 0, size)
	}
	if data[5] == 2 {
		order = binary.BigEndian
	}
	programs, sections, counts := uint64(order.Uint32(data[0x1c:])), uint64(order.Uint32(data[0x20:])), data[0x2a:]
	if wide {
		programs, sections, counts = order.Uint64(data[0x20:]), order.Uint64(data[0x28:]), data[0x36:]
	}
	number := func(at int) uint64 { return uint64(order.Uint16(counts[at:])) }
	if size := number(0) * number(2); size > 0 && (programs > uint64(len(data)) || size > uint64(len(data))-programs) {
		return short("program headers", programs, programs+size)
	}
	count := number(6)
	// Where there are too many sections for two bytes, the first has their number.
	if first, ok := span(data, sections, number(4)); ok && count == 0 && sections > 0 && number(4) >= 0x28 {
		count = uint64(order.Uint32(first[0x14:]))
		if wide {
			count = order.Uint64(first[0x20:])
		}
	}
	if count > 0 && (sections > uint64(len(data)) || count > (uint64(len(data))-sections)/max(number(4), 1)) {
		return short("section headers", sections, sections+count*number(4))
	}
	return nil
}

// openELF is elf.NewFile, which is not made for files that lie: a panic of it
// is a damaged file.
func openELF(data []byte, p place) (file *elf.File, err *Error) {
	if err := elfTables(data, p); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = p.fault(0, "ELF file cannot be read: %v", r)
		}
	}()
	file, bad := elf.NewFile(bytes.NewReader(data))
	if bad != nil {
		return nil, p.fault(0, "ELF file cannot be read: %v", bad)
	}
	return file, nil
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
