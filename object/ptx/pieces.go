package ptx

import (
	"bytes"
	"io"

	"ptxlink/object/diag"
)

// Piece is a part of an output: text of the linker, followed by a span of a source with
// edits. If the edits keep the number of line ends, each line of the piece comes from one
// line of the source.
type Piece struct {
	Src   *diag.Source // the origin of the piece; nil for the linker itself
	Span  diag.Span    // the part of Src to copy; its offset counts even if it is empty
	Edits []Edit       // sorted, without overlaps
	Text  string
	// Lines has, if it is not nil, the number (see Map) of each line of the piece.
	Lines []int32
	// Before and After add line ends around the piece that have no origin.
	Before, After bool
}

// Size returns the number of bytes that the piece has in the output.
func (p *Piece) Size() int {
	n := len(p.Text) + int(p.Span.Len)
	for _, e := range p.Edits {
		n += len(e.Text) - int(e.Span.Len)
	}
	if p.Before {
		n++
	}
	if p.After {
		n++
	}
	return n
}

// SizeOf returns the number of bytes that a part of the span has in the output. Text that edits
// insert where the part starts or ends does not count.
func (p *Piece) SizeOf(part diag.Span) int64 {
	n := int64(part.Len)
	for _, e := range p.Edits {
		if part.Off <= e.Span.Off && e.Span.End() <= part.End() && (e.Span.Len > 0 || part.Off < e.Span.Off && e.Span.Off < part.End()) {
			n += int64(len(e.Text)) - int64(e.Span.Len)
		}
	}
	return n
}

// Write writes a piece. A writer that can fail keeps its first error.
func (p *Piece) Write(w Writer) {
	if p.Before {
		w.WriteString("\n")
	}
	w.WriteString(p.Text)
	if p.Span.Len > 0 {
		at := p.Span.Off
		for _, e := range p.Edits {
			w.Write(p.Src.Text[at:e.Span.Off])
			w.WriteString(e.Text)
			at = e.Span.End()
		}
		w.Write(p.Src.Text[at:p.Span.End()])
	}
	if p.After {
		w.WriteString("\n")
	}
}

// Writer takes an output piece by piece.
type Writer interface {
	io.Writer
	io.StringWriter
}

// Pieces are an output, in order.
type Pieces []Piece

// Edit gives a piece its edits, which are sorted. Overlapping edits have
// the same cause, so the later one is dropped.
func (p *Piece) Edit(edits []Edit) {
	kept := edits[:0]
	at := p.Span.Off
	for _, e := range edits {
		if e.Span.Off >= at {
			kept = append(kept, e)
			at = e.Span.End()
		}
	}
	p.Edits = kept
}

// Add adds a piece.
func (l *Pieces) Add(p Piece) {
	p.Edit(p.Edits)
	*l = append(*l, p)
}

// Own adds text of the linker.
func (l *Pieces) Own(text string) { *l = append(*l, Piece{Text: text}) }

// Line adds a statement of the linker, on one line. Its origin is the line at off.
func (l *Pieces) Line(src *diag.Source, off int32, statement string) {
	*l = append(*l, Piece{Src: src, Span: diag.Span{Off: off}, Text: statement + ";\n"})
}

// Copy adds a span of a source, and a line end.
func (l *Pieces) Copy(src *diag.Source, span diag.Span, edits ...Edit) {
	l.Add(Piece{Src: src, Span: span, Edits: edits, After: true})
}

// Size returns the number of bytes of all pieces.
func (l Pieces) Size() (n int) {
	for i := range l {
		n += l[i].Size()
	}
	return n
}

// Write writes all pieces. A writer that can fail keeps its first error.
func (l Pieces) Write(w Writer) {
	for i := range l {
		l[i].Write(w)
	}
}

// Parts yields the text of the output in chunks that never split a name.
func (l Pieces) Parts(yield func([]byte) bool) {
	for i := range l {
		p := &l[i]
		if !yield([]byte(p.Text)) {
			return
		}
		at := p.Span.Off
		for _, e := range p.Edits {
			if !yield(p.Src.Text[at:e.Span.Off]) || !yield([]byte(e.Text)) {
				return
			}
			at = e.Span.End()
		}
		if p.Span.Len > 0 && !yield(p.Src.Text[at:p.Span.End()]) {
			return
		}
	}
}

// Text returns the output, and where its lines come from.
func (l Pieces) Text() ([]byte, *LineMap) {
	var out bytes.Buffer
	out.Grow(l.Size())
	l.Write(&out)
	return out.Bytes(), l.Map(out.Bytes(), nil)
}
