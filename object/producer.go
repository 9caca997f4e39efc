package object

import (
	"bytes"
	"strings"
)

// HandWritten reports whether a person rather than a compiler wrote the module,
// as far as its text shows. Producer says who made a module, but fatbinary empties
// all comments, so that PTX in objects and fatbins names none.
func (f *File) HandWritten() bool {
	f.handOnce.Do(func() { f.handWritten = f.Producer == "" && !emptied(f.preamble()) && !compiled(f.Src.Text) })
	return f.handWritten
}

// OneCompiler reports whether one release of one compiler is known to have made
// both modules, or none made either. gcc and LLVM do not name their release, and
// the output of a link holds modules of any.
func OneCompiler(a, b *File) bool {
	if a.Producer == "" {
		return a.HandWritten() && b.HandWritten()
	}
	_, release, _ := strings.Cut(a.Producer, " ")
	return a.Producer == b.Producer && release != ""
}

// preamble is the text ahead of .version.
func (f *File) preamble() []byte { return f.Src.Text[:f.VersionSpan.Off] }

// emptied reports whether comments without text, and nothing else, stand ahead
// of .version, as fatbinary leaves them.
func emptied(preamble []byte) bool {
	found := false
	for line := range bytes.Lines(preamble) {
		switch line = bytes.TrimSpace(line); {
		case string(line) == "//":
			found = true
		case len(line) > 0:
			return false
		}
	}
	return found
}

// traces are names that compilers make: of LLVM and NVVM, the last two of gcc.
var traces = [][]byte{
	[]byte("$L__BB"), []byte("\nBB0_"), []byte("func_retval0"), []byte("_param_0"), []byte("__local_depot"), []byte("temp_param_reg"), []byte("begin inline asm"),
	[]byte("%value_out"), []byte("%in_ar0"),
}

func compiled(text []byte) bool {
	for _, t := range traces {
		if bytes.Contains(text, t) {
			return true
		}
	}
	return false
}
