package object

import (
	"path"
	"slices"
	"strings"

	"ptxlink/object/diag"
)

// Language is what the source of a module was written in, as far as messages depend on
// it.
type Language uint8

const (
	OtherLanguage Language = iota // or unknown
	PTX                           // written by hand
	CXX                           // CUDA C++
	Numba
)

// Language derives the language of the module from the names of its source files and symbols, and
// from its compiler. Numba must be found by its symbols, because its PTX is otherwise the same as
// nvcc's.
func (f *File) Language() Language {
	f.languageOnce.Do(func() { f.language = f.findLanguage() })
	return f.language
}

func (f *File) findLanguage() Language {
	if slices.ContainsFunc(f.Names, func(name string) bool { return strings.Contains(name, "cudapy") || strings.Contains(name, "NumbaEnv") }) {
		return Numba
	}
	for _, file := range f.Files {
		switch path.Ext(file.Path) {
		case ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".hpp":
			return CXX
		case ".py", ".rs", ".jl", ".c", ".f90", ".f", ".cl", ".slang":
			return OtherLanguage
		}
	}
	cxx := false
	for _, name := range f.Names {
		if IsRust(name) {
			return OtherLanguage
		}
		cxx = cxx || strings.HasPrefix(name, "_Z")
	}
	switch {
	case f.HandWritten():
		return PTX
	case cxx || strings.HasPrefix(f.Producer, "nvcc") || f.Producer == "": // because fatbinary removes the producer
		return CXX
	}
	return OtherLanguage
}

// IsNumbaShared reports whether a name belongs to a shared array of Numba. Such names must stay
// private to their module, because Numba exports them, with numbers that start at 1 in each
// process, although no other module refers to them.
func IsNumbaShared(name string) bool { return strings.HasPrefix(name, "_cudapy_smem_") }

// IsRust reports whether rustc has mangled a name. The older names end in a hash, as in
// _ZN4core9panicking5panic17h8b7b8eb54cbdab6aE.
func IsRust(name string) bool {
	if strings.HasPrefix(name, "_ZN") && strings.HasSuffix(name, "E") && len(name) > 20 {
		hash, found := strings.CutPrefix(name[len(name)-20:len(name)-1], "17h")
		return found && strings.Trim(hash, "0123456789abcdef") == ""
	}
	return strings.HasPrefix(name, "_R") && diag.Spelling{}.Unmangled(name) != ""
}
