package object

import (
	"bytes"
	"slices"
	"strings"
)

// HandWritten reports whether the text of the module suggests that a person wrote
// it rather than a compiler. Producer alone cannot tell, because fatbinary empties or removes the
// comments that name the compiler.
func (f *File) HandWritten() bool {
	f.handOnce.Do(func() { f.handWritten = f.Producer == "" && !emptied(f.preamble()) && !compiled(f.Src.Text) })
	return f.handWritten
}

// OneCompiler reports whether both modules are known to come from one release of
// one compiler, or both look hand-written. It returns false for gcc and LLVM, because they do not
// record their release, and for the output of a link, because its modules may come from any
// compiler.
func OneCompiler(a, b *File) bool {
	if a.Producer == "" {
		return a.HandWritten() && b.HandWritten()
	}
	_, release, _ := strings.Cut(a.Producer, " ")
	return a.Producer == b.Producer && release != ""
}

func (f *File) preamble() []byte { return f.Src.Text[:f.VersionSpan.Off] }

// emptied reports whether the text before .version is what fatbinary leaves of the
// comments of a compiler: "//" lines, or with CUDA 13 as many empty ones.
func emptied(preamble []byte) bool {
	comments, blank := 0, 0
	for line := range bytes.Lines(preamble) {
		switch line = bytes.TrimSpace(line); {
		case string(line) == "//":
			comments++
		case len(line) > 0:
			return false
		default:
			blank++
		}
	}
	return comments > 0 || blank >= 3
}

// traces are names that compilers write: LLVM and NVVM, and for the last two gcc.
var traces = [][]byte{
	[]byte("$L__BB"), []byte("\nBB0_"), []byte("func_retval0"), []byte("_param_0"), []byte("__local_depot"), []byte("temp_param_reg"), []byte("begin inline asm"),
	[]byte("%value_out"), []byte("%in_ar0"),
}

func compiled(text []byte) bool {
	return slices.ContainsFunc(traces, func(t []byte) bool { return bytes.Contains(text, t) })
}
