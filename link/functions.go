package link

import (
	"context"
	"slices"

	"ptxlink/internal/parallel"
	"ptxlink/link/diag"
	"ptxlink/link/emit"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// functions adds the prototypes, and returns the edits of each body; those of its lines
// too, unless they are ordered. It reads them in parallel.
func (pl *planner) functions(ctx context.Context, p *plan, debug *mergedDebug) (edits [][]ptx.Edit) {
	const together = 256
	at := len(pl.pieces)
	pl.pieces = slices.Grow(pl.pieces, len(p.prototypes))[:at+len(p.prototypes)]
	prototypes := pl.pieces[at:]
	edits = make([][]ptx.Edit, len(p.bodies))
	jobs := parallel.Jobs(pl.options.Jobs, len(p.bodies) < 2*together)
	parallel.Chunks(ctx, max(len(prototypes), len(edits)), together, jobs, "planning", func(from, to int) {
		buffer := make([]byte, 0, 256)
		for k := from; k < min(to, len(prototypes)); k++ {
			prototypes[k] = pl.prototype(p, p.prototypes[k], &buffer)
		}
		for k := from; k < min(to, len(edits)); k++ {
			edits[k] = pl.bodyEdits(p, p.bodies[k])
			if !pl.lines.ordered {
				edits[k] = pl.lineEdits(edits[k], p.bodies[k], debug)
			}
		}
	})
	if len(prototypes) > 0 {
		pl.ends = prototypeEnd
	}
	return edits
}

// prototype returns a forward declaration of a function, on one line.
func (pl *planner) prototype(p *plan, d resolve.DeclID, buffer *[]byte) emit.Piece {
	f, decl := pl.decl(d)
	edits := append(pl.headerEdits(&p.layout, d), within(decl.Header, pl.names.LocalEdits(d))...)
	edits = f.PrototypeEdits(decl, edits)
	text := f.Src.Bytes(decl.Header)
	if len(edits) > 0 {
		text = ptx.Apply(nil, f.Src.Text, decl.Header, edits)
	}
	*buffer = append((*buffer)[:0], pl.linkageWord(d)...)
	*buffer = append(ptx.AppendCompact(*buffer, text), prototypeEnd...)
	return emit.Piece{Src: f.Src, Span: diag.Span{Off: decl.Header.Off}, Text: string(*buffer), Fixed: true}
}

// within returns the edits inside a span.
func within(span diag.Span, edits []ptx.Edit) (in []ptx.Edit) {
	for _, e := range edits {
		if e.Span.Off >= span.Off && e.Span.End() <= span.End() {
			in = append(in, e)
		}
	}
	return in
}

// bodyEdits returns the edits of a function, header and body, in no order.
func (pl *planner) bodyEdits(p *plan, d resolve.DeclID) []ptx.Edit {
	f, decl := pl.decl(d)
	edits := append(pl.headerEdits(&p.layout, d), pl.aligns.Body(d.File, decl)...)
	if decl.Kind == ptx.Entry {
		for _, pragma := range p.pushed[d.File] {
			edits = append(edits, ptx.Edit{Span: diag.Span{Off: decl.Header.End()}, Text: " .pragma " + pragma + ";"})
		}
	}
	edits = append(edits, pl.literalEdits(&p.layout, d)...)
	edits = append(edits, pl.names.LocalEdits(d)...)
	edits = pl.nameEdits(edits, d.File, decl.FirstUse, decl.EndUse)
	edits = pl.lowerVolatile(edits, f, decl)
	return f.OffsetEdits(edits, decl)
}

// lineEdits adds the edits of the lines of a function, and sorts them all.
func (pl *planner) lineEdits(edits []ptx.Edit, d resolve.DeclID, debug *mergedDebug) []ptx.Edit {
	_, decl := pl.decl(d)
	edits = pl.lines.edits(edits, d.File, bodySpan(decl), debug)
	ptx.SortEdits(edits)
	return edits
}

func bodySpan(decl *ptx.Decl) diag.Span {
	return diag.Span{Off: decl.Header.Off, Len: decl.Body.End() - decl.Header.Off}
}

// body adds a function with its edits.
func (pl *planner) body(d resolve.DeclID, edits []ptx.Edit, debug *mergedDebug) {
	f, decl := pl.decl(d)
	if pl.lines.ordered {
		edits = pl.lineEdits(edits, d, debug)
	}
	pl.add(emit.Piece{Src: f.Src, Span: bodySpan(decl), Edits: edits, Text: pl.linkageWord(d), Before: pl.blank(), After: true})
}
