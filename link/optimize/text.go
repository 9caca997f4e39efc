package optimize

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/object/ptx"
)

// edit replaces a span of the module: with text, or with what write writes.
type edit struct {
	span  ptx.Span
	text  string
	write func(w *writer)
}

func sortEdits(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.span.Off, b.span.Off) })
}

// outside returns those of more edits that are in no span that edits replace.
func outside(edits, more []edit) []edit {
	edits = slices.Clone(edits)
	sortEdits(edits)
	return slices.DeleteFunc(more, func(e edit) bool {
		i, _ := slices.BinarySearchFunc(edits, e.span, func(o edit, span ptx.Span) int {
			return cmp.Compare(o.span.End(), span.Off+1) // the first that ends behind the start of e
		})
		return i < len(edits) && edits[i].span.Off <= e.span.Off && e.span.Len > 0
	})
}

// writer writes a module from parts of another, and records the origin of each line.
type writer struct {
	src   *diag.Source
	from  []int32 // origins of the lines of src; nil: they are the original
	out   []byte
	lines []int32
	// line is the origin of the line being written, and used that something is on it.
	used bool
}

// copy writes a span of the source with edits, which are sorted and do not overlap.
func (w *writer) copy(span ptx.Span, edits []edit) {
	at := span.Off
	for _, e := range edits {
		if e.span.Off < at {
			panic("optimize: edits overlap")
		}
		w.plain(at, e.span.Off)
		w.own(e.text, e.span.Off)
		if e.write != nil {
			e.write(w)
		}
		at = e.span.End()
	}
	w.plain(at, span.End())
}

// plain writes text of the source as it is.
func (w *writer) plain(from, end int32) {
	if from == end {
		return
	}
	line := w.src.Line(from)
	text := w.src.Text[from:end]
	for len(text) > 0 {
		part, _, more := bytes.Cut(text, []byte{'\n'})
		if more {
			part = text[:len(part)+1]
		}
		w.add(part, line, more)
		text = text[len(part):]
		line++
	}
}

// own writes text of the optimiser. Its origin is the line at off.
func (w *writer) own(text string, off int32) {
	if text == "" {
		return
	}
	line := w.src.Line(off)
	for len(text) > 0 {
		n := 1 + strings.IndexByte(text, '\n')
		if n == 0 {
			w.add([]byte(text), line, false)
			return
		}
		w.add([]byte(text[:n]), line, true)
		text = text[n:]
	}
}

// add writes text on the current line. The origin of a line is that of the first text
// on it that is not white space.
func (w *writer) add(text []byte, line int, ends bool) {
	if len(w.lines) == 0 {
		w.lines = append(w.lines, 0)
	}
	last := &w.lines[len(w.lines)-1]
	if blank := len(bytes.TrimSpace(text)) == 0; *last == 0 || !w.used && !blank {
		*last = int32(line)
		if w.from != nil {
			*last = w.from[line-1]
		}
		w.used = w.used || !blank
	}
	w.out = append(w.out, text...)
	if ends {
		w.lines = append(w.lines, 0)
		w.used = false
	}
}

func contains(text []byte, word string) bool { return bytes.Contains(text, []byte(word)) }
