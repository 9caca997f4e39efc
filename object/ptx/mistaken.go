package ptx

import (
	"path"
	"strings"

	"ptxlink/internal/lazy"
	"ptxlink/link/diag"
)

// mistaken recognises text that users pass in place of PTX. It returns what the
// text is and how to get PTX from it; both are empty if the text is not recognised.
func mistaken(src *diag.Source) (what, help string) {
	head := string(src.Text[:min(len(src.Text), 1<<16)])
	file := path.Base(strings.ReplaceAll(src.Name, `\`, "/"))
	extension := strings.ToLower(path.Ext(file))
	cpp := extension == ".c" || extension == ".cc" || extension == ".cpp" || extension == ".cxx" || extension == ".h" || extension == ".hpp"
	switch {
	case strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff"):
		return "this file is UTF-16, which ptxas does not read", "save it as UTF-8 without BOM; in PowerShell, write it with -o rather than with >"
	case llvmIR().MatchString(head):
		return "this is LLVM IR, not PTX", "compile it first: llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 " + file
	case extension == ".cu" || extension == ".cuh" || cuda().MatchString(head):
		return "this is CUDA C++, not PTX", "compile it first: nvcc -ptx -rdc=true " + file
	case extension == ".cl" || opencl().MatchString(head):
		return "this is OpenCL C, not PTX", "compile it first: clang --target=nvptx64-nvidia-cuda -march=sm_80 -x cl -S " + file
	case extension == ".rs" || strings.HasPrefix(head, "#!["):
		return "this is Rust, not PTX", "compile it first: rustc --target nvptx64-nvidia-cuda --crate-type rlib --emit asm " + file + " (docs/from-rust.md)"
	case cpp || strings.HasPrefix(head, "#include"):
		return "this is C or C++, not PTX", "compile it first: clang --target=nvptx64-nvidia-cuda -march=sm_80 -S " + file
	}
	return "", ""
}

var (
	llvmIR = lazy.Regexp(`(?m)^(; ModuleID = |source_filename = "|target (datalayout|triple) = "|define [^;\n]*@.*\{$)`)
	opencl = lazy.Regexp(`(?m)^[^/\n]*\b__kernel\s+void\b`)
	cuda   = lazy.Regexp(`(?m)^[^/\n]*\b__(global|device|constant|shared)__\b|^#include <cuda`)
)
