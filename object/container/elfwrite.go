package container

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

type hostTarget struct {
	machine elf.Machine
	flags   uint32
	pointer uint32 // the relocation of a 64-bit pointer
	// code is the output of clang 19, at -O1 and without frame pointer, for
	//
	//	static void nothing(void *) {}
	//	static void start(void) { __cudaRegisterLinkedBinaryID(nothing, 0, 0, nothing); }
	code  []byte
	calls []elf.Rela64
}

// Symbols of a host object. Only ppc64le has the last one.
const (
	fatbinSymbol   = 1 // the section
	codeSymbol     = 2 // likewise
	wrapSymbol     = 3
	registerSymbol = 4
	tocSymbol      = 5
)

var hostTargets = map[string]hostTarget{
	"x86_64": {
		machine: elf.EM_X86_64, pointer: uint32(elf.R_X86_64_64),
		code: []byte{
			0x50,                                     // push rax
			0x48, 0x8d, 0x0d, 0x0e, 0x00, 0x00, 0x00, // lea rcx, nothing
			0x48, 0x89, 0xcf, // mov rdi, rcx
			0x31, 0xf6, 0x31, 0xd2, // xor esi, esi; xor edx, edx
			0xe8, 0x00, 0x00, 0x00, 0x00, // call
			0x58, 0xc3, // pop rax; ret
			0xc3, // nothing: ret
		},
		calls: []elf.Rela64{relocation(0x10, registerSymbol, uint32(elf.R_X86_64_PLT32), -4)},
	},
	"aarch64": {
		machine: elf.EM_AARCH64, pointer: uint32(elf.R_AARCH64_ABS64),
		code: words(
			0xf81f0ffe,             // str x30, [sp, #-16]!
			0x100000e0,             // adr x0, nothing
			0xaa1f03e1, 0xaa1f03e2, // mov x1, xzr; mov x2, xzr
			0xaa0003e3, // mov x3, x0
			0x94000000, // bl
			0xf84107fe, // ldr x30, [sp], #16
			0xd65f03c0, // ret
			0xd65f03c0, // nothing: ret
		),
		calls: []elf.Rela64{relocation(0x14, registerSymbol, uint32(elf.R_AARCH64_CALL26), 0)},
	},
	"ppc64le": {
		machine: elf.EM_PPC64, pointer: uint32(elf.R_PPC64_ADDR64),
		flags: 2, // the ABI of little-endian PowerPC
		code: words(
			0x3c4c0000, 0x38420000, // addis r2, r12; addi r2, r2: the TOC
			0x7c0802a6, 0xf821ffe1, // mflr r0; stdu r1, -32(r1)
			0x3c620000,             // addis r3, r2, nothing
			0x38800000, 0x38a00000, // li r4, 0; li r5, 0
			0xf8010030,             // std r0, 48(r1)
			0x38630000,             // addi r3, r3, nothing
			0x7c661b78,             // mr r6, r3
			0x48000001, 0x60000000, // bl; nop
			0x38210020, 0xe8010010, // addi r1, r1, 32; ld r0, 16(r1)
			0x7c0803a6, 0x4e800020, // mtlr r0; blr
			0x4e800020, // nothing: blr
		),
		calls: []elf.Rela64{
			relocation(0x00, tocSymbol, uint32(elf.R_PPC64_REL16_HA), 0),
			relocation(0x04, tocSymbol, uint32(elf.R_PPC64_REL16_LO), 4),
			relocation(0x10, codeSymbol, uint32(elf.R_PPC64_TOC16_HA), 0x40),
			relocation(0x20, codeSymbol, uint32(elf.R_PPC64_TOC16_LO), 0x40),
			relocation(0x28, registerSymbol, uint32(elf.R_PPC64_REL24), 0),
		},
	},
}

func words(list ...uint32) (code []byte) {
	for _, w := range list {
		code = le.AppendUint32(code, w)
	}
	return code
}

// HostObject returns an ELF object for a host CPU that carries a fatbin, as nvcc
// -dc writes it, so that nvlink and nvcc accept it:
//
//   - __nv_relfatbin holds the fatbin, .nvFatBinSegment a wrapper that points to
//     it. nvlink needs both.
//   - __nv_module_id holds the identifier of the object. The output of nvcc -dlink
//     uses it to refer to the wrapper, __fatbinwrapID.
//   - .init_array calls __cudaRegisterLinkedBinaryID, which nvcc -dlink writes too.
//     The program registers its device code with the driver once every object has
//     called it; if one does not, the whole program has no device code.
//
// No symbol has the name of a device function: the host linker would resolve a host
// function of that name to an address in data. id must be unique in the program,
// and valid as the end of a C identifier.
func HostObject(arch, id string, fatbin []byte) ([]byte, error) {
	target, ok := hostTargets[arch]
	if !ok {
		return nil, fmt.Errorf("no host object for %q: x86_64, aarch64 and ppc64le are known", arch)
	}
	const wrapperMagic, wrapperVersion = 0x466243b1, 1
	wrapper := le.AppendUint32(nil, wrapperMagic)
	wrapper = le.AppendUint32(wrapper, wrapperVersion)
	wrapper = append(wrapper, make([]byte, 16)...) // the pointer, filled in by the linker, and an unused one

	const fatbinSection, wrapperSection, codeSection, startSection, symbolSection, nameSection = 1, 3, 5, 7, 10, 11
	names := []byte{0}
	name := func(s string) uint32 {
		at := len(names)
		names = append(append(names, s...), 0)
		return uint32(at)
	}
	local := elf.ST_INFO(elf.STB_LOCAL, elf.STT_SECTION)
	global := elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE)
	symbols := structs(
		elf.Sym64{},
		elf.Sym64{Info: local, Shndx: fatbinSection},
		elf.Sym64{Info: local, Shndx: codeSection},
		// Hidden, because two shared libraries of one program may hold the same package.
		elf.Sym64{Name: name("__fatbinwrap" + id), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), Other: byte(elf.STV_HIDDEN), Shndx: wrapperSection, Size: uint64(len(wrapper))},
		elf.Sym64{Name: name("__cudaRegisterLinkedBinary" + id), Info: global},
	)
	if target.machine == elf.EM_PPC64 {
		symbols = append(symbols, structs(elf.Sym64{Name: name(".TOC."), Info: global})...)
	}

	type section struct {
		name string
		body []byte
		head elf.Section64
	}
	data := func(name string, flags elf.SectionFlag, body []byte) section {
		return section{name, body, elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(flags), Addralign: 8}}
	}
	relocations := func(of string, number uint32, body []byte) section {
		return section{".rela" + of, body, elf.Section64{Type: uint32(elf.SHT_RELA), Flags: uint64(elf.SHF_INFO_LINK), Link: symbolSection, Info: number, Addralign: 8, Entsize: 24}}
	}
	start := data(".init_array", elf.SHF_ALLOC|elf.SHF_WRITE, make([]byte, 8))
	start.head.Type, start.head.Entsize = uint32(elf.SHT_INIT_ARRAY), 8
	sections := []section{
		{},
		data("__nv_relfatbin", elf.SHF_ALLOC, fatbin),
		data("__nv_module_id", elf.SHF_ALLOC, append([]byte(id), 0)),
		data(".nvFatBinSegment", elf.SHF_ALLOC|elf.SHF_WRITE, wrapper),
		relocations(".nvFatBinSegment", wrapperSection, structs(relocation(8, fatbinSymbol, target.pointer, 0))),
		data(".text", elf.SHF_ALLOC|elf.SHF_EXECINSTR, target.code),
		relocations(".text", codeSection, structs(target.calls)),
		start,
		relocations(".init_array", startSection, structs(relocation(0, codeSymbol, target.pointer, 0))),
		// Without this section the linker would make the stack executable.
		data(".note.GNU-stack", 0, nil),
		{".symtab", symbols, elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: nameSection, Info: wrapSymbol, Addralign: 8, Entsize: 24}},
		{".strtab", names, elf.Section64{Type: uint32(elf.SHT_STRTAB), Addralign: 1}},
		{name: ".shstrtab", head: elf.Section64{Type: uint32(elf.SHT_STRTAB), Addralign: 1}},
	}
	titles := []byte{0}
	for i := range sections[1:] {
		s := &sections[i+1]
		s.head.Name = uint32(len(titles))
		titles = append(append(titles, s.name...), 0)
	}
	sections[len(sections)-1].body = titles

	const headerSize, sectionSize = 64, 64
	out := make([]byte, headerSize)
	var heads []byte
	for i, s := range sections {
		if i > 0 {
			s.head.Off, s.head.Size = uint64(len(out)), uint64(len(s.body))
			out = pad8(append(out, s.body...))
		}
		heads = append(heads, structs(s.head)...)
	}
	header := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(target.machine), Version: 1, Flags: target.flags,
		Shoff: uint64(len(out)), Ehsize: headerSize, Shentsize: sectionSize, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}
	copy(header.Ident[:], []byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1})
	copy(out, structs(header))
	return append(out, heads...), nil
}

func relocation(at uint64, symbol, kind uint32, addend int64) elf.Rela64 {
	return elf.Rela64{Off: at, Info: elf.R_INFO(symbol, kind), Addend: addend}
}

// structs returns values of package elf as bytes of a little-endian file.
func structs(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		// The error can be ignored, because Write fails only for types without a fixed size; these
		// have one.
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

// ELFSymbols returns the names that an ELF object defines for other objects. It
// returns nil for other members, and for damaged files.
func (m ArchiveMember) ELFSymbols() []string {
	if !m.IsHostObject() {
		return nil
	}
	return elfSymbols(m.Data)
}

// elfSymbols returns the names that an ELF file defines for others.
func elfSymbols(data []byte) (names []string) {
	f, err := openELF(data)
	if err != nil {
		return nil
	}
	for _, s := range f.symbols {
		if elf.ST_BIND(s.info) != elf.STB_LOCAL && s.section != elf.SHN_UNDEF && s.name != "" {
			names = append(names, s.name)
		}
	}
	return names
}
