package link

import (
	"ptxlink/internal/diag"
	"ptxlink/object/ptx"
)

// emit writes the output of the plan. It makes no decisions and reports nothing.
func (p *plan) emit() ([]byte, *LineMap) {
	out := make([]byte, 0, p.size)
	var runs []lineRun
	mark := func(src *diag.Source, off int32, fixed bool) {
		if n := len(runs); n == 0 || src != nil || runs[n-1].src != nil {
			runs = append(runs, lineRun{out: len(out), src: src, off: off, fixed: fixed})
		}
	}
	for i := range p.pieces {
		piece := &p.pieces[i]
		if piece.before {
			mark(nil, 0, false)
			out = append(out, '\n')
		}
		mark(piece.src, piece.span.Off, piece.fixed)
		out = append(out, piece.text...)
		if piece.span.Len > 0 {
			out = ptx.Apply(out, piece.src.Text, piece.span, piece.edits)
		}
		if piece.after {
			mark(nil, 0, false)
			out = append(out, '\n')
		}
	}
	return out, &LineMap{out: diag.Source{Text: out}, runs: runs}
}
