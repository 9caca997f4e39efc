package link

import (
	"bufio"
	"bytes"
	"io"
)

// emit returns the output of the plan. It makes no decisions and reports nothing.
func (p *plan) emit() ([]byte, *LineMap) {
	out := bytes.NewBuffer(make([]byte, 0, p.size)) // which gives no errors
	p.pieces.Write(out)
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
	out := bufio.NewWriterSize(w, 1<<18)
	p.pieces.Write(out) // out keeps the first error until Flush
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return int64(p.size), nil
}
