package link

import (
	"bytes"
	"cmp"
	"slices"

	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// keepParams keeps ptxas from a fault (docs/ptxas.md, Faults of ptxas): where it assembles a local variable
// together with a function that takes the address of a parameter and accesses it at constant offsets only, it
// reads and writes that variable in place of the parameter. clang 22 writes such functions, and apart they are
// right. A prefetch of the address changes nothing, and is an access that ptxas leaves alone.
func (p *plan) keepParams(files []*object.File) {
	for i, at := range p.bodies {
		m, d := files[at.File].Module, &files[at.File].Decls[at.Decl]
		if p.changes != nil && p.changes.bodies[i].Lines != nil {
			m, d = p.changes.bodies[i].Module, p.changes.bodies[i].Decl
		}
		first, _ := slices.BinarySearchFunc(m.ParamAddresses, d.Body.Off, func(a ptx.ParamAddress, off int32) int { return cmp.Compare(a.End, off) })
		piece := &p.pieces[p.firstBody+i]
		for _, a := range m.ParamAddresses[first:] {
			if a.End > d.Body.End() {
				break
			}
			written := func(span diag.Span) string {
				return string(ptx.Apply(nil, m.Src.Text, span, within(span, piece.Edits)))
			}
			prefetch := " " + written(a.Guard) + "prefetch.local.L1 [" + written(a.Register) + "];"
			if !bytes.HasPrefix(m.Src.Text[a.End:], []byte(prefetch)) { // else it was linked before
				edits := append(slices.Clip(piece.Edits), ptx.Edit{Span: diag.Span{Off: a.End}, Text: prefetch})
				ptx.SortEdits(edits)
				piece.Edit(edits)
				p.size += len(prefetch)
			}
		}
	}
}
