package resolve

import (
	"fmt"
	"strings"

	"ptxlink/object/diag"
)

// IsSyscall reports whether the driver provides the function, so that it may stay
// undefined: ptxas accepts it as undefined in a whole program (PTX Interoperability 3; the rest was found by
// testing every name in ptxas 12.4 and 13.5, as TestSyscalls does).
func IsSyscall(name string) bool { return diag.FactOf("functions of the driver", name) != nil }

// InDeviceRuntime returns what to do if libcudadevrt defines the function (TestCudadevrtNames), else "". Other functions of CUDA with
// such names are left to ptxas.
func InDeviceRuntime(name string) string {
	return strings.Join(diag.FactOf("functions of libcudadevrt", strings.TrimSuffix(name, "_ptsz")), "")
}

// MayStayUndefined reports whether the driver provides the function, or ptxas decides on it.
func MayStayUndefined(name string) bool { return IsSyscall(name) || leftToPtxas(name) }

// leftToPtxas reports whether ptxas decides on an undefined function, because it has intrinsics
// with such names, and each release of CUDA adds functions of the driver. The functions of
// libcudadevrt are not among them.
func leftToPtxas(name string) bool {
	if strings.HasPrefix(name, "__nv_ptx_builtin_") {
		return true
	}
	for _, prefix := range []string{"cuda", "cnp"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && 'A' <= rest[0] && rest[0] <= 'Z' {
			return !IsSyscall(name) && InDeviceRuntime(name) == ""
		}
	}
	return false
}

const maxLeft = 5

// noteLeft reports once which undefined functions of the output are left to ptxas.
func (t *Table) noteLeft(uses func(s SymbolID) []UsePlace, log *diag.Log) {
	var names []string
	var first diag.Place
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !s.Left || s.Defined() || !t.Needed(s) {
			continue
		}
		if list := uses(SymbolID(i)); len(list) > 0 {
			if len(names) == 0 {
				first = list[0].File.At(list[0].Span)
			}
			names = append(names, log.Name(s.Name))
		}
	}
	if len(names) == 0 {
		return
	}
	left := names[:min(len(names), maxLeft)]
	if n := len(names) - maxLeft; n > 0 {
		left = append(left, fmt.Sprintf("%d more", n))
	}
	text := left[0] + " is not defined and is left to ptxas"
	if n := len(left) - 1; n > 0 {
		text = strings.Join(left[:n], ", ") + " and " + left[n] + " are not defined and are left to ptxas"
	}
	log.Note(first, text+", which knows functions with such names")
}
