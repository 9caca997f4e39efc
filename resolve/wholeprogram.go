package resolve

import (
	"strings"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// WholeProgram says whether nvcc seems to have compiled a module without
// -rdc=true: it shows nothing but entries to other modules and asks nothing of
// them.
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
