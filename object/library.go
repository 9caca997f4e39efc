package object

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ptxlink/internal/diag"
)

// FindLibrary returns the file of -l name: lib<name>.a or lib<name>.ptx in the first
// -L folder that has one, or exactly <file> for -l:<file>. It logs an error if there is
// none.
func FindLibrary(name string, folders []string, log *diag.Log) (path string, ok bool) {
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
			return path, true
		}
	}
	m := log.Error(diag.Library, diag.Place{}, fmt.Sprintf("cannot find -l%s", name))
	if name == "device" {
		m.WithHelp("ptxlink libdevice creates libdevice.a from your CUDA toolkit" + diag.With("-L", "; %s names its folder"))
	} else if len(folders) == 0 {
		m.WithHelp("name the folder that holds " + strings.Join(candidates, " or ") + diag.With("-L", " with %s"))
	}
	for _, folder := range folders {
		m.Note(diag.Place{}, fmt.Sprintf("there is no %s in %s", strings.Join(candidates, " or "), folder))
	}
	return "", false
}
