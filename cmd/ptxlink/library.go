package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ptxlink/internal/diag"
)

// findLibrary is the file that -l name means: lib<name>.a or lib<name>.ptx in
// the first -L folder that has one, or exactly <file> for -l:<file>. As for
// GNU ld, every -L counts, wherever it stands.
func findLibrary(name string, folders []string, log *diag.Log) (path string, ok bool) {
	candidates := []string{"lib" + name + ".a", "lib" + name + ".ptx"}
	if file, exact := strings.CutPrefix(name, ":"); exact {
		candidates = []string{file}
	}
	for _, folder := range folders {
		for _, candidate := range candidates {
			path := filepath.Join(folder, candidate)
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			if isArchive(path) {
				log.Error(diag.Place{}, fmt.Sprintf("archives are not supported yet: %s, found for -l%s", path, name)).
					WithHelp("name the PTX files that it holds")
				return "", false
			}
			return path, true
		}
	}
	m := log.Error(diag.Place{}, fmt.Sprintf("cannot find -l%s", name))
	if len(folders) == 0 {
		m.WithHelp("name the folder that holds " + strings.Join(candidates, " or ") + " with -L")
	}
	for _, folder := range folders {
		m.Note(diag.Place{}, fmt.Sprintf("there is no %s in %s", strings.Join(candidates, " or "), folder))
	}
	return "", false
}

// isArchive looks at the content, as a name says little: lib%.a may be PTX.
func isArchive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	io.ReadFull(f, head)
	return string(head) == "!<arch>\n" || string(head) == "!<thin>\n"
}
