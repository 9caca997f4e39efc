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
	// numbers are those in lineRun.lines.
	numbers *lineNumbers
}

// lineRun is a stretch of the output. It starts at byte out and comes from byte
// off of src, line by line; from that one line if fixed; from the lines with these numbers
// if there are some; from the linker itself if src is nil.
type lineRun struct {
	out   int
	src   *diag.Source
	off   int32
	fixed bool
	lines []int32
}

// Origins returns where all lines of PTX come from, for programs that cannot call Origin: names
// of modules, and for each line two numbers. The first is the index of its module in the
// names, or -1 if the linker wrote it; the second is the line there, from 1.
func (r *Result) Origins() (modules []string, lines []int) {
	index := map[string]int{}
	for line := range bytes.Count(r.PTX, []byte("\n")) {
		place, ok := r.Lines.Origin(line + 1)
		if !ok {
			lines = append(lines, -1, 0)
			continue
		}
		name, at, _ := place.Position()
		i, known := index[name]
		if !known {
			i = len(modules)
			index[name], modules = i, append(modules, name)
		}
		lines = append(lines, i, at)
	}
	return modules, lines
}

// Origin returns where a line (1-based) of the output comes from. ok is false for
// lines that the linker wrote itself.
func (m *LineMap) Origin(line int) (place Place, ok bool) {
	span := m.out.LineSpan(line)
	if span == (diag.Span{}) {
		return Place{}, false
	}
	// No line starts in one run and ends in another, but for its newline.
	run := m.runs[sort.Search(len(m.runs), func(i int) bool { return m.runs[i].out > int(span.Off) })-1]
	if run.src == nil {
		return Place{}, false
	}
	ends := bytes.Count(m.out.Text[run.out:span.Off], []byte{'\n'})
	if run.lines != nil {
		return m.numbers.place(run.lines[ends])
	}
	at := run.src.Line(run.off)
	if !run.fixed {
		at += ends
	}
	return diag.At(run.src, run.src.LineSpan(at)), true
}
