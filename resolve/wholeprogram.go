package resolve

import (
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// NoRDC says what nvcc does without -rdc=true, for messages.
const NoRDC = "without -rdc, nvcc makes all functions private or removes them; only kernels remain visible"

// WholeProgram reports whether nvcc seems to have compiled a module without
// -rdc=true: it exports only entries, imports nothing, and has no static variable with
// the name that nvcc makes with the option. Host objects have such modules in a section of
// their own, where fatbinary has removed the producer.
func WholeProgram(f *object.File) bool {
	if !strings.HasPrefix(f.Producer, "nvcc") && !strings.Contains(f.Name, ":.nv_fatbin") {
		return false
	}
	for n, s := range f.Symbols {
		d := f.DeclOf(ptx.NameID(n))
		if s.Exported() && (d == nil || d.Kind != ptx.Entry) && !IsSyscall(f.Names[n]) && !DynamicShared(d) {
			return false
		}
	}
	return !slices.ContainsFunc(f.Names, diag.IsStaticVariable) && f.Language() == object.CXX // since Numba's look like nvcc's
}
