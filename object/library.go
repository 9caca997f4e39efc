package object

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

// LibraryFile returns the file of -l name: lib<name>.a or lib<name>.ptx in the first
// -L directory that has one, else <name>.lib or lib<name>.lib, as libraries are called on
// Windows, or exactly <file> for -l:<file>.
func LibraryFile(name string, dirs []string) (path string, ok bool) {
	for _, candidates := range libraryFiles(name) {
		for _, dir := range dirs {
			for _, candidate := range candidates {
				path := filepath.ToSlash(filepath.Join(dir, candidate)) // as makefiles name it on Windows, too
				info, err := os.Stat(path)
				if err == nil && !info.IsDir() || err != nil && !infile.Absent(err) { // because whoever reads it reports the error
					return path, true
				}
			}
		}
	}
	return "", false
}

// libraryFiles returns the possible names of the file of -l name. All directories are searched for
// the names of one list before the next list is tried.
func libraryFiles(name string) [][]string {
	if file, exact := strings.CutPrefix(name, ":"); exact {
		return [][]string{{file}}
	}
	return [][]string{{"lib" + name + ".a", "lib" + name + ".ptx"}, {name + ".lib", "lib" + name + ".lib"}}
}

// FindLibrary is LibraryFile, and logs an error if it finds none.
func FindLibrary(name string, dirs []string, log *diag.Log) (path string, ok bool) {
	if path, ok = LibraryFile(name, dirs); ok {
		return path, true
	}
	wanted := strings.Join(slices.Concat(libraryFiles(name)...), ", ")
	if i := strings.LastIndex(wanted, ", "); i >= 0 {
		wanted = wanted[:i] + " or" + wanted[i+1:]
	}
	m := log.Error(diag.Library, diag.Place{}, fmt.Sprintf("cannot find -l%s", name))
	if fact := libraryFact(name); fact != "" {
		m.WithHelp(strings.Replace(diag.WithOptions(fact, log.With), "libNAME", "lib"+name, 1))
	} else if near := SimilarLibrary(name, dirs); near != "" {
		m.WithHelp("did you mean " + near + "?")
	} else if len(dirs) == 0 {
		m.WithHelp("name the directory that holds " + wanted + log.With("-L", " with %s"))
	}
	for _, dir := range dirs {
		m.Note(diag.Place{}, fmt.Sprintf("there is no %s in %s", wanted, dir))
	}
	return "", false
}

// IsCudadevrt reports whether a file is libcudadevrt.a of the CUDA toolkit, or cudadevrt.lib, its
// name on Windows.
func IsCudadevrt(path string) bool {
	name := filepath.Base(path)
	return name == "libcudadevrt.a" || strings.EqualFold(name, "cudadevrt.lib")
}

// SimilarLibrary returns the -l of the library in the directories whose name is most similar,
// as -lmath for -lmaht, -lmath.a or -llibmath.a; "" if no library is similar.
func SimilarLibrary(name string, dirs []string) string {
	var names []string
	exact := strings.HasPrefix(name, ":")
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if exact {
				names = append(names, ":"+e.Name())
			} else if bare, ok := bareLibrary(e.Name()); ok {
				names = append(names, bare)
			}
		}
	}
	if !exact {
		if bare, ok := bareLibrary("lib" + strings.TrimPrefix(name, "lib")); ok {
			name = bare
		}
		name = strings.TrimPrefix(name, "lib")
	}
	if near := diag.Nearest(names, name); near != "" {
		return "-l" + near
	}
	return ""
}

// bareLibrary returns the name that -l gives a library; ok is false for other files.
func bareLibrary(file string) (name string, ok bool) {
	for _, suffix := range []string{".a", ".ptx", ".lib"} {
		base, cut := strings.CutSuffix(file, suffix)
		bare, lib := strings.CutPrefix(base, "lib")
		if cut && (lib || suffix == ".lib") {
			return bare, true
		}
	}
	return "", false
}

// libraryFact returns the text about a library that commands name and that is likely to be missing, or "". The name is in
// lower case in the list, because Windows takes KERNEL32.LIB for kernel32.lib.
func libraryFact(name string) string {
	return strings.Join(diag.FactOf("libraries", strings.ToLower(name)), "")
}

// IsHostLibrary reports whether a -l is known to name a library without device code of its own, which link lines of host programs
// have, or one that nvcc always names.
func IsHostLibrary(name string) bool { return libraryFact(name) != "" && name != "device" }
