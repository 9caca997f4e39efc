package object

import (
	"path"
	"strings"
)

// Language is what the source of a module was written in, as far as messages depend on
// it.
type Language uint8

const (
	OtherLanguage Language = iota // or unknown
	PTX                           // written by hand
	CXX                           // CUDA C++
)

// Language returns the language of the module: by the names of its source files and of
// what it defines, and by its compiler. Numba writes what nvcc does.
func (f *File) Language() Language {
	f.languageOnce.Do(func() { f.language = f.findLanguage() })
	return f.language
}

func (f *File) findLanguage() Language {
	for _, file := range f.Files {
		switch path.Ext(file.Path) {
		case ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".hpp":
			return CXX
		case ".py", ".rs", ".jl", ".c", ".f90", ".f", ".cl":
			return OtherLanguage
		}
	}
	cxx := false
	for _, name := range f.Names {
		if strings.Contains(name, "cudapy") || strings.Contains(name, "NumbaEnv") || strings.Contains(name, "17h") && strings.HasSuffix(name, "E") || strings.HasPrefix(name, "_R") {
			return OtherLanguage
		}
		cxx = cxx || strings.HasPrefix(name, "_Z")
	}
	switch {
	case f.HandWritten():
		return PTX
	case cxx || strings.HasPrefix(f.Producer, "nvcc") || f.Producer == "": // fatbinary removes the producer
		return CXX
	}
	return OtherLanguage
}
