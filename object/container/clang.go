package container

import (
	"bytes"
	"debug/elf"
	"strings"
)

// MendClang returns a relocatable cubin without what clang 16 to 22 gets wrong with -fgpu-rdc, and nvlink
// refuses. resolve/clang.go has the same for PTX:
//
//  1. A static variable that host code uses is defined as NAME__static__ and the number of the compilation,
//     but code uses NAME, which is undefined. It gets the name of the definition.
//  2. A kernel that host code launches and another file defines is undefined as a function, which only
//     __clang_gpu_used_external refers to. It becomes a kernel.
//
// Other cubins are returned as they are, and no cubin is changed in place.
func MendClang(cubin []byte) []byte {
	const list = "__clang_gpu_used_external"
	if !bytes.Contains(cubin, []byte(list)) && !bytes.Contains(cubin, []byte("__static__")) {
		return cubin
	}
	f, err := OpenCubin(cubin)
	if err != nil {
		return cubin
	}
	defer f.Close()
	table := f.SectionByType(elf.SHT_SYMTAB)
	symbols, err := f.Symbols()
	if err != nil || !(Cubin{Data: cubin}).Relocatable() {
		return cubin
	}
	cubin = bytes.Clone(cubin)
	entries, ok := span(cubin, table.Offset, table.FileSize)
	if !ok || len(entries) < (len(symbols)+1)*elf.Sym64Size { // a compressed table
		return cubin
	}
	entry := func(i int) []byte { return entries[(i+1)*elf.Sym64Size:] } // Symbols leaves out the first
	twins := map[string]int{}
	var array elf.Symbol
	for i, s := range symbols {
		plain, _, static := strings.Cut(s.Name, "__static__")
		switch {
		case s.Section == elf.SHN_UNDEF:
		case static:
			twins[plain] = i
		case s.Name == list:
			array = s
		}
	}
	listed := onlyListed(f, cubin, array)
	for i, s := range symbols {
		twin, found := twins[s.Name]
		switch {
		case s.Section != elf.SHN_UNDEF:
		case elf.ST_TYPE(s.Info) == elf.STT_FUNC && listed[i]:
			entry(i)[5] |= kernel
		case elf.ST_TYPE(s.Info) == sttObject && found && strings.HasPrefix(s.Name, "_Z"):
			copy(entry(i)[:4], entry(twin)[:4])
		}
	}
	return cubin
}

// onlyListed returns the symbols that relocations of an array refer to, and no others: the numbers
// that elf.File.Symbols gives them.
func onlyListed(f *elf.File, cubin []byte, array elf.Symbol) map[int]bool {
	listed, used := map[int]bool{}, map[int]bool{}
	for _, s := range relocsOf(f, cubin) {
		for r := range s.all() {
			if s.section == array.Section && array.Value <= r.offset && r.offset-array.Value < array.Size {
				listed[r.symbol] = true
			} else {
				used[r.symbol] = true
			}
		}
	}
	for at := range used {
		delete(listed, at)
	}
	return listed
}
