package optimize

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// text holds statements. lines has the number of each line; if it is nil, the numbers are the lines
// plus shift.
type text struct {
	src   *diag.Source
	shift int32
	lines []int32
}

// origin returns the number of a line of the text.
func (t *text) origin(line int) int32 {
	if t.lines == nil {
		return int32(line) + t.shift
	}
	return t.lines[line-1]
}

// edit replaces a span of a text by text, or by the output of write.
type edit struct {
	span  ptx.Span
	text  string
	write func(w *writer)
}

func sortEdits(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.span.Off, b.span.Off) })
}

// outside returns the edits of more that lie outside the spans that edits replace.
func outside(edits, more []edit) []edit {
	edits = slices.Clone(edits)
	sortEdits(edits)
	return slices.DeleteFunc(more, func(e edit) bool {
		i, _ := slices.BinarySearchFunc(edits, e.span, func(o edit, span ptx.Span) int {
			return cmp.Compare(o.span.End(), span.Off+1) // the first that ends after the start of e
		})
		return i < len(edits) && edits[i].span.Off <= e.span.Off && e.span.Len > 0
	})
}

// writer writes text with parts of others, and records the origin of each line.
type writer struct {
	out   []byte
	lines []int32
	// used is set if something is on the line being written.
	used bool
}

// copy writes a span of a text with edits. The edits must be sorted and cannot overlap.
func (w *writer) copy(from *text, span ptx.Span, edits []edit) {
	at := span.Off
	for _, e := range edits {
		if e.span.Off < at {
			panic("optimize: edits overlap")
		}
		w.plain(from, at, e.span.Off)
		w.own(e.text, from, e.span.Off)
		if e.write != nil {
			e.write(w)
		}
		at = e.span.End()
	}
	w.plain(from, at, span.End())
}

func (w *writer) plain(t *text, from, end int32) {
	if from == end {
		return
	}
	line := t.src.Line(from)
	for part := range bytes.Lines(t.src.Text[from:end]) {
		w.add(part, t.origin(line))
		line++
	}
}

// own writes text of the optimiser. Its origin is the line of a place in another text.
func (w *writer) own(text string, t *text, off int32) {
	if text == "" {
		return
	}
	origin := t.origin(t.src.Line(off))
	for part := range strings.Lines(text) {
		w.add([]byte(part), origin)
	}
}

// add writes text on the current line, with a newline only at its end. The first text on a line
// that is not white space determines the origin of the line.
func (w *writer) add(text []byte, origin int32) {
	if len(w.lines) == 0 {
		w.lines = append(w.lines, 0)
	}
	last := &w.lines[len(w.lines)-1]
	if blank := len(bytes.TrimSpace(text)) == 0; *last == 0 || !w.used && !blank {
		*last = origin
		w.used = w.used || !blank
	}
	w.out = append(w.out, text...)
	if bytes.HasSuffix(text, []byte{'\n'}) {
		w.lines = append(w.lines, 0)
		w.used = false
	}
}
