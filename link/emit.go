package link

import (
	"bufio"
	"bytes"
	"io"

	"ptxlink/link/diag"
)

// writer takes the output piece by piece.
type writer interface {
	io.Writer
	io.StringWriter
}

// emit returns the output of the plan. It makes no decisions and reports nothing.
func (p *plan) emit() ([]byte, *LineMap) {
	var out bytes.Buffer // which gives no errors
	out.Grow(p.size)
	out.Write(out.AvailableBuffer()[:p.record.size])
	p.record.meanwhile(func() { p.write(&out) })
	copy(out.Bytes(), p.record.text())
	return out.Bytes(), &LineMap{out: diag.Source{Text: out.Bytes()}, runs: p.runs(), numbers: p.numbers}
}

// Close unmaps the inputs of a link with Options.MapInputs. Afterwards only PTX may be
// used of the Result. Without the option it does nothing.
func (r *Result) Close() error { return r.maps.Close() }

// Unchanged returns an error that names an input file whose size or time is not the one
// it had when the link opened it: what was read may be of two states. Call it after the
// output was written and before it takes the place of an older one. A file that was
// replaced as a whole is unchanged.
func (r *Result) Unchanged() error { return r.read.Changed() }

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
	p := r.plan
	if p == nil {
		n, err := w.Write(r.PTX)
		return int64(n), err
	}
	var err error
	if file, start, ok := rewritable(w); ok {
		p.record.meanwhile(func() { err = p.stream(w, bytes.Repeat([]byte(" "), p.record.size)) })
		if err == nil {
			_, err = file.WriteAt(p.record.text(), start)
		}
	} else {
		err = p.stream(w, p.record.text())
	}
	if err != nil {
		return 0, err
	}
	return int64(p.size), nil
}

// rewritable returns a file whose bytes can be replaced once they have been written,
// and the place of the next byte.
func rewritable(w io.Writer) (file io.WriterAt, start int64, ok bool) {
	f, ok := w.(interface {
		io.WriterAt
		io.Seeker
	})
	if !ok {
		return nil, 0, false
	}
	start, err := f.Seek(0, io.SeekCurrent) // a pipe gives an error here,
	if err == nil {
		_, err = f.WriteAt(nil, start) // a file opened for appending here
	}
	return f, start, err == nil
}

// stream writes a record and all pieces.
func (p *plan) stream(w io.Writer, record []byte) error {
	out := bufio.NewWriterSize(w, 1<<18)
	out.Write(record)
	p.write(out) // out keeps the first error until Flush
	return out.Flush()
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
	if p.span.Len > 0 {
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
	runs := make([]lineRun, 0, 1+len(p.pieces))
	out := 0
	mark := func(from piece) {
		if n := len(runs); n == 0 || from.src != nil || runs[n-1].src != nil {
			runs = append(runs, lineRun{out: out, src: from.src, off: from.span.Off, fixed: from.fixed, lines: from.lines})
		}
	}
	mark(piece{})
	out += p.record.size
	for i := range p.pieces {
		from := &p.pieces[i]
		end := out + from.size()
		if from.before {
			mark(piece{})
			out++
		}
		mark(*from)
		if from.after {
			out = end - 1
			mark(piece{})
		}
		out = end
	}
	return runs
}
