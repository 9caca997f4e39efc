package link

import (
	"bytes"
	"sort"

	"ptxlink/link/diag"
)

// LineMap maps lines of the output to the input lines they came from.
type LineMap struct {
	out  diag.Source
	runs []lineRun // by out

	// After Options.Optimize: each line of out comes from a line of the linked module,
	// whose own map is inner.
	inner *LineMap
	lines []int32
}

// lineRun is a stretch of the output. It starts at byte out and comes from byte
// off of src, line by line; from that one line if fixed; from the linker itself
// if src is nil.
type lineRun struct {
	out   int
	src   *diag.Source
	off   int32
	fixed bool
}

// Origin returns where a line (1-based) of the output comes from. ok is false for
// lines that the linker wrote itself.
func (m *LineMap) Origin(line int) (place Place, ok bool) {
	if m.inner != nil {
		if line < 1 || line > len(m.lines) {
			return Place{}, false
		}
		return m.inner.Origin(int(m.lines[line-1]))
	}
	span := m.out.LineSpan(line)
	if span == (diag.Span{}) {
		return Place{}, false
	}
	// No line starts in one run and ends in another, but for its newline.
	run := m.runs[sort.Search(len(m.runs), func(i int) bool { return m.runs[i].out > int(span.Off) })-1]
	if run.src == nil {
		return Place{}, false
	}
	at := run.src.Line(run.off)
	if !run.fixed {
		at += bytes.Count(m.out.Text[run.out:span.Off], []byte{'\n'})
	}
	return diag.At(run.src, run.src.LineSpan(at)), true
}
