package link

import (
	"bufio"
	"bytes"
	"io"

	"ptxlink/internal/diag"
)

// writer takes the output piece by piece.
type writer interface {
	io.Writer
	io.StringWriter
	AvailableBuffer() []byte // to append to and then write
}

// emit returns the output of the plan. It makes no decisions and reports nothing.
func (p *plan) emit() ([]byte, *LineMap) {
	var out bytes.Buffer
	out.Grow(p.size)
	p.write(&out) // a Buffer gives no errors
	return out.Bytes(), &LineMap{out: diag.Source{Text: out.Bytes()}, runs: p.runs()}
}

// Size returns the number of bytes of the output.
func (r *Result) Size() int {
	if r.plan != nil {
		return r.plan.size
	}
	return len(r.PTX)
}

// WriteTo writes the output of a link with Options.Stream, straight from the inputs.
// It may be called more than once.
func (r *Result) WriteTo(w io.Writer) (int64, error) {
	if r.plan == nil {
		n, err := w.Write(r.PTX)
		return int64(n), err
	}
	out := bufio.NewWriterSize(w, 1<<18)
	r.plan.write(out) // out keeps the first error until Flush
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return int64(r.plan.size), nil
}

// write writes all pieces. A writer that can fail keeps its first error.
func (p *plan) write(w writer) {
	for i := range p.pieces {
		p.pieces[i].write(w)
	}
}

func (p *piece) write(w writer) {
	if p.before {
		w.WriteString("\n")
	}
	w.WriteString(p.text)
	switch {
	case p.folded > 0:
		w.Write(p.fold(w.AvailableBuffer()))
		w.WriteString(prototypeEnd)
	case p.span.Len > 0:
		at := p.span.Off
		for _, e := range p.edits {
			w.Write(p.src.Text[at:e.Span.Off])
			w.WriteString(e.Text)
			at = e.Span.End()
		}
		w.Write(p.src.Text[at:p.span.End()])
	}
	if p.after {
		w.WriteString("\n")
	}
}

// runs returns the stretches of the output by their origin.
func (p *plan) runs() []lineRun {
	runs := make([]lineRun, 0, len(p.pieces))
	out := 0
	mark := func(src *diag.Source, off int32, fixed bool) {
		if n := len(runs); n == 0 || src != nil || runs[n-1].src != nil {
			runs = append(runs, lineRun{out: out, src: src, off: off, fixed: fixed})
		}
	}
	for i := range p.pieces {
		piece := &p.pieces[i]
		end := out + piece.size()
		if piece.before {
			mark(nil, 0, false)
			out++
		}
		mark(piece.src, piece.span.Off, piece.fixed)
		if piece.after {
			out = end - 1
			mark(nil, 0, false)
		}
		out = end
	}
	return runs
}
