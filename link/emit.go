package link

import (
	"bufio"
	"bytes"
	"io"
)

// emit returns the output of the plan. It makes no decisions and reports nothing.
func (p *plan) emit() ([]byte, *LineMap) {
	var out bytes.Buffer // which gives no errors
	out.Grow(p.size)
	out.Write(out.AvailableBuffer()[:p.record.size])
	p.record.meanwhile(func() { p.pieces.Write(&out) })
	copy(out.Bytes(), p.record.text())
	return out.Bytes(), p.pieces.Map(out.Bytes(), p.numbers)
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
	p.pieces.Write(out) // out keeps the first error until Flush
	return out.Flush()
}
