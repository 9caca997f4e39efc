package advice

import (
	"cmp"
	"strings"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// withRuntime is how to link libcudadevrt, as the facts of its functions say.
const withRuntime = "ptxlink FILE... -LDIR -lcudadevrt --arch=sm_80 -o out.cubin links it (docs/libraries.md)"

// inRuntime returns the name that the CUDA device runtime gives a function in the source: cudaFree for __cudaCDP2Free. Those
// with _ptsz use the default stream of the thread.
func inRuntime(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_ptsz"), "DeprecationAvoidance")
	return "cuda" + strings.TrimPrefix(strings.TrimPrefix(name, "__cuda"), "CDP2")
}

// Explain returns the likely reason why a function or a variable is missing, or "" if the
// name is not well known. Variables of programs may have such names, because C++ does not mangle the names of variables.
func Explain(name string, kind ptx.DeclKind) string {
	if kind == ptx.Variable && !strings.HasPrefix(name, "_") {
		return ""
	}
	lines := cmp.Or(resolve.InDeviceRuntime(name), strings.Join(diag.FactOf("symbols", name), ""))
	return strings.Replace(lines, "NAME", inRuntime(name), 1)
}
