package ptx

import (
	"bytes"
	"sort"

	"ptxlink/object/diag"
)

// LineMap maps lines of an output to the lines they come from.
type LineMap struct {
	out   diag.Source
	runs  []run                                          // sorted by out
	place func(number int32) (place diag.Place, ok bool) // the line with a number
}

// A run is a range of the output starting at byte out. Its lines come from src at byte off
// onwards, from the numbered lines if there are any, or from the linker if src is nil.
type run struct {
	out   int
	src   *diag.Source
	off   int32
	lines []int32
}

// Map returns where the lines of an output come from. The output must end with the pieces; lines
// before the pieces come from the linker. place returns the line with a number, and false for 0; it
// may be nil if no piece has Lines.
func (l Pieces) Map(output []byte, place func(number int32) (diag.Place, bool)) *LineMap {
	m := &LineMap{out: diag.Source{Text: output}, runs: make([]run, 0, 1+len(l)), place: place}
	out := 0
	mark := func(from Piece) {
		if n := len(m.runs); n == 0 || from.Src != nil || m.runs[n-1].src != nil {
			m.runs = append(m.runs, run{out: out, src: from.Src, off: from.Span.Off, lines: from.Lines})
		}
	}
	mark(Piece{})
	out = len(output) - l.Size()
	for i := range l {
		from := &l[i]
		end := out + from.Size()
		if from.Before {
			mark(Piece{})
			out++
		}
		mark(*from)
		if from.After {
			out = end - 1
			mark(Piece{})
		}
		out = end
	}
	return m
}

// Origin returns where a line (1-based) of the output comes from. ok is false for
// lines that the linker wrote itself, and if m is nil.
func (m *LineMap) Origin(line int) (place diag.Place, ok bool) {
	if m == nil {
		return diag.Place{}, false
	}
	span := m.out.LineSpan(line)
	if span == (diag.Span{}) {
		return diag.Place{}, false
	}
	// No line starts in one run and ends in another, except that its newline may, so the start
	// decides.
	run := m.runs[sort.Search(len(m.runs), func(i int) bool { return m.runs[i].out > int(span.Off) })-1]
	if run.src == nil {
		return diag.Place{}, false
	}
	ends := bytes.Count(m.out.Text[run.out:span.Off], []byte{'\n'})
	if run.lines != nil {
		return m.place(run.lines[ends])
	}
	return diag.At(run.src, run.src.LineSpan(run.src.Line(run.off)+ends)), true
}
