package container

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
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
		return op.decompress(nil, p, 0, -1, func(io.Reader) (io.Reader, func(), error) { return s.Open(), func() {}, nil })
	}
	body, ok := span(data, s.Offset, s.FileSize)
	if !ok {
		return nil, p.fault(-1, "section has %d bytes at %#x, but the file has %d", s.FileSize, s.Offset, len(data))
	}
	return body, nil
}

// openELF is elf.NewFile, which is not made for files that lie: a panic of it
// is a damaged file.
func openELF(data []byte, p place) (file *elf.File, err *Error) {
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
