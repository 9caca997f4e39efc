package link

import (
	"io"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// LineMap maps lines of the output to the input lines they came from.
type LineMap = ptx.LineMap

// Close unmaps the inputs of a link with Options.MapInputs. Afterwards only the field PTX of the
// Result may be used. Without the option it does nothing.
func (r *Result) Close() error { return r.maps.Close() }

// Unchanged returns an error that names an input file whose size or time has changed since the link
// opened it, because the link may have read parts of two versions. It must be called after the
// output was written and before the output replaces an older one. A file that was replaced as a
// whole is unchanged.
func (r *Result) Unchanged() error { return r.read.Changed() }

// Size returns the number of bytes of the output.
func (r *Result) Size() int {
	if r.program != nil {
		return r.program.Size()
	}
	return len(r.PTX)
}

// WriteTo writes the output of a link with Options.Stream, straight from the inputs. It may be
// called more than once. Unless Jobs is 1, it calls w.Write in another goroutine, one call at a
// time.
func (r *Result) WriteTo(w io.Writer) (n int64, err error) {
	if r.program == nil {
		n, err := w.Write(r.PTX)
		return int64(n), err
	}
	if err := r.program.Write(w, func(src *diag.Source) { r.maps.Drop(src.Text) }); err != nil {
		return 0, err
	}
	return int64(r.program.Size()), nil
}
