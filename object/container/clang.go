package container

import (
	"bytes"
	"debug/elf"
	"strings"
)

// MendClang repairs a relocatable cubin, because nvlink refuses two things that clang 16 to 22
// writes with -fgpu-rdc. resolve/clang.go has the same for PTX:
//
//  1. A static variable that host code uses is defined as NAME__static__ and the number of the compilation,
//     but code uses NAME, which is undefined. It gets the name of the definition.
//  2. A kernel that host code launches and another file defines is undefined as a function, which only
//     __clang_gpu_used_external refers to. It becomes a kernel.
//
// Other cubins are returned as they are, and no cubin is changed in place.
func MendClang(cubin []byte) []byte {
	const list = "__clang_gpu_used_external"
	if !(Cubin{Data: cubin}).Relocatable() || !bytes.Contains(cubin, []byte(list)) && !bytes.Contains(cubin, []byte("__static__")) {
		return cubin
	}
	cubin = bytes.Clone(cubin)
	f, err := openCubin(cubin)
	if err != nil || !f.wide {
		return cubin
	}
	twins := map[string]int{}
	var array elfSymbol
	for i, s := range f.symbols {
		plain, _, static := strings.Cut(s.name, "__static__")
		switch {
		case s.section == elf.SHN_UNDEF:
		case static:
			twins[plain] = i
		case s.name == list:
			array = s
		}
	}
	listed := f.onlyListed(array)
	for i, s := range f.symbols {
		twin, found := twins[s.name]
		switch {
		case s.section != elf.SHN_UNDEF:
		case elf.ST_TYPE(s.info) == elf.STT_FUNC && listed[i]:
			f.entry(i)[5] |= kernel
		case elf.ST_TYPE(s.info) == sttObject && found && strings.HasPrefix(s.name, "_Z"):
			copy(f.entry(i)[:4], f.entry(twin)[:4])
		}
	}
	return cubin
}

// onlyListed returns the symbols that relocations of an array refer to, and no others: the numbers
// of symbolFile.symbols.
func (f *symbolFile) onlyListed(array elfSymbol) map[int]bool {
	listed, used := map[int]bool{}, map[int]bool{}
	for _, s := range f.relocs() {
		for r := range s.all() {
			if s.section == array.section && array.value <= r.offset && r.offset-array.value < array.size {
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
