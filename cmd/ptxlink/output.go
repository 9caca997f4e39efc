package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// otherOutputs are the endings of files that a link does not write, and what
// does. Somebody who names one expects something else than PTX in it.
var otherOutputs = []struct{ endings, is, help string }{
	{".fatbin", "a fatbin", "write out.ptx or out.cubin, and make a fatbin of it with fatbinary"},
	{".o .obj", "an object file", "write out.ptx, or out.cubin, which nvlink reads; ptxlink ar --format=nv makes host objects of PTX"},
	{".a .lib", "an archive", "ptxlink ar libx.a a.ptx makes one of separate modules"},
	{".so .dll .dylib .exe", "a program of the host", "write out.ptx or out.cubin, and load it with cuModuleLoad"},
	{".gz .zst .lz4 .xz .bz2 .zip", "a compressed file", "write out.ptx and compress it, or write to - and pipe it"},
	{".bc .ll", "LLVM IR", "write out.ptx or out.cubin"},
	{".c .cc .cpp .cxx .cu .cuh .h .hpp .rs .py", "source code", "write out.ptx or out.cubin"},
}

// checkOutputName refuses an output whose name says that it is something else
// than what is written to it. No ending says nothing, and neither does one that
// is not known.
func checkOutputName(path string, cubin bool) error {
	ending := strings.ToLower(filepath.Ext(path))
	what := "PTX"
	if cubin {
		what = "a cubin"
		switch ending {
		case ".o", ".obj": // ptxas and nvcc call cubins so too
			return nil
		case ".ptx":
			return &usageError{text: fmt.Sprintf("a cubin would be written to %s", path), help: "write out.cubin, or PTX without --cubin and -c"}
		}
	}
	for _, other := range otherOutputs {
		for _, known := range strings.Fields(other.endings) {
			if ending == known {
				return &usageError{text: fmt.Sprintf("%s would be written to %s, which by its name is %s", what, path, other.is), help: other.help}
			}
		}
	}
	return nil
}
