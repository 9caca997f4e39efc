package resolve

import (
	"strings"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// WholeProgram reports whether nvcc seems to have compiled a module without
// -rdc=true: it exports only entries and imports nothing.
func WholeProgram(f *object.File) bool {
	if !strings.HasPrefix(f.Producer, "nvcc") {
		return false
	}
	for n, s := range f.Symbols {
		d := f.DeclOf(ptx.NameID(n))
		if s.Exported() && (d == nil || d.Kind != ptx.Entry) && !IsSyscall(f.Names[n]) && !DynamicShared(d) {
			return false
		}
	}
	return true
}
