package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// otherOutputs maps suffixes of files that a link does not write to the programs that
// write them. A user who names one expects another format than PTX.
var otherOutputs = []struct{ endings, is, help string }{
	{".fatbin", "a fatbin", "write out.ptx or out.cubin, and make a fatbin of it with fatbinary"},
	{".o .obj", "an object file", "write out.ptx, or out.cubin, which nvlink reads; ptxlink ar --format=nv makes host objects of PTX"},
	{".a .lib", "an archive", "ptxlink ar libx.a a.ptx makes one of separate modules"},
	{".so .dll .dylib .exe", "a program of the host", "write out.ptx or out.cubin, and load it with cuModuleLoad"},
	{".gz .zst .lz4 .xz .bz2 .zip", "a compressed file", "write out.ptx and compress it, or write to - and pipe it"},
	{".bc .ll", "LLVM IR", "write out.ptx or out.cubin"},
	{".c .cc .cpp .cxx .cu .cuh .h .hpp .rs .py", "source code", "write out.ptx or out.cubin"},
}

// checkOutputName returns an error if the suffix of an output belongs to another
// format. Names without a suffix, or with an unknown one, are accepted.
func checkOutputName(path string, cubin bool) error {
	ending := strings.ToLower(filepath.Ext(path))
	what := "PTX"
	if cubin {
		what = "a cubin"
		switch ending {
		case ".o", ".obj": // ptxas and nvcc also use these names for cubins
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
