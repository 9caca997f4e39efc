package ptx

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// mistaken recognises text that users pass in place of PTX. It returns what the
// text is and how to get PTX from it; both are empty if the text is not recognised.
func mistaken(src *diag.Source) (what, help string) {
	head := string(src.Text[:min(len(src.Text), 1<<16)])
	file := path.Base(strings.ReplaceAll(src.Name, `\`, "/"))
	extension := strings.ToLower(path.Ext(file))
	is := func(extensions string) bool { return slices.Contains(strings.Fields(extensions), extension) }
	header := is(".h .hh .hpp .hxx .cuh")
	for _, other := range others {
		if other.head().MatchString(head) {
			return other.what, other.help
		}
	}
	switch {
	case strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff"):
		return "this file is UTF-16, which ptxas does not read", "save it as UTF-8 without BOM; in PowerShell, write it with -o rather than with >"
	case llvmIR().MatchString(head):
		return "this is LLVM IR, not PTX", "compile it first: llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 " + file
	case extension == ".cuh" || header && cuda().MatchString(head):
		return "this is a header of CUDA C++, not PTX", "compile the source that includes it: nvcc -ptx -rdc=true FILE.cu"
	case extension == ".cu":
		return "this is CUDA C++, not PTX", "compile it first: nvcc -ptx -rdc=true " + file
	case cuda().MatchString(head):
		return "this is CUDA C++, not PTX", "compile it first: nvcc -ptx -rdc=true -x cu " + file
	case extension == ".cl" || opencl().MatchString(head):
		return "this is OpenCL C, not PTX", "compile it first: clang --target=nvptx64-nvidia-cuda -march=sm_80 -x cl -S " + file
	case extension == ".rs" || strings.HasPrefix(head, "#!["):
		return "this is Rust, not PTX", "compile it first: rustc --target nvptx64-nvidia-cuda --crate-type rlib --emit asm " + file + " (docs/from-rust.md)"
	case header:
		return "this is a header of C or C++, not PTX", "compile the source that includes it: clang --target=nvptx64-nvidia-cuda -march=sm_80 -S FILE.c"
	case is(".c .cc .cpp .cxx"):
		return "this is C or C++, not PTX", "compile it first: clang --target=nvptx64-nvidia-cuda -march=sm_80 -S " + file
	case strings.HasPrefix(head, "#include"):
		return "this is C or C++, not PTX", "compile it first: clang --target=nvptx64-nvidia-cuda -march=sm_80 -x c++ -S " + file
	}
	return "", ""
}

const takeOut = "a listing cannot be linked: link the file that was listed, or take its PTX out with ptxlink extract"

// others are texts that cannot be compiled to PTX.
var others = []struct {
	head       func() *regexp.Regexp
	what, help string
}{
	{sets.Regexp(`^version https://git-lfs\.`), "this is a Git LFS pointer, not PTX", "git lfs pull fetches the file that it stands for"},
	{sets.Regexp(`(?i)^\s*<(!doctype html|html)\b`), "this is an HTML page, not PTX", "if a server sent it in place of the file, download the file itself"},
	{sets.Regexp(`(?m)^\s+code for sm_\d|^\s*\.headerflags\s+@"`), "this is a listing of machine code (SASS), not PTX", takeOut},
	{sets.Regexp(`(?m)^(Fatbin (elf|ptx) code:|64bit elf: )`), "this is a listing of cuobjdump, not PTX", takeOut},
	{sets.Regexp(`(?m)^\s+\.(cfi_startproc|globl\s|type\s+\S+,\s*[@%]|section\s+\.?_?_?text|text\s*$)`), "this is assembly of the host, not PTX", "compile the source for the GPU: nvcc -ptx -rdc=true FILE.cu, or clang --target=nvptx64-nvidia-cuda -march=sm_80 -S FILE.c"},
}

var (
	llvmIR = sets.Regexp(`(?m)^(; ModuleID = |source_filename = "|target (datalayout|triple) = "|define [^;\n]*@.*\{$)`)
	opencl = sets.Regexp(`(?m)^[^/\n]*\b__kernel\s+void\b`)
	cuda   = sets.Regexp(`(?m)^[^/\n]*\b__(global|device|constant|shared)__\b|^#include <cuda`)
)

// carriage describes text whose lines end with CR alone, if it has comments, because a CR does not
// end a comment.
func carriage(text []byte) (what, help string) {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') < 0 || !afterComment().Match(text) {
		return "", ""
	}
	return "the lines of this file end with CR alone, which ends no comment: what follows the first // is lost", "end the lines with LF: tr '\\r' '\\n'"
}

var afterComment = sets.Regexp(`//[^\r]*\r\s*[^\s/]`)
