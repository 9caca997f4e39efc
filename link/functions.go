package link

import (
	"context"

	"ptxlink/internal/parallel"
	"ptxlink/link/diag"
	"ptxlink/link/emit"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// functions sets the pieces of the prototypes and the functions, which it reads in parallel.
func (pl *planner) functions(ctx context.Context, p *plan) {
	const together = 256
	prototypes, bodies := pl.pieces[p.firstPrototype:][:len(p.prototypes)], pl.pieces[p.firstBody:][:len(p.bodies)]
	blank := pl.blank()
	var alone []bool // functions whose lines do not depend on those in front of them
	if pl.lines.warns || pl.lines.written != nil {
		alone = make([]bool, len(bodies))
	}
	jobs := parallel.Jobs(pl.options.Jobs, len(bodies) < 2*together)
	parallel.Chunks(ctx, max(len(prototypes), len(bodies)), together, jobs, "planning", func(from, to int) {
		buffer := make([]byte, 0, 256)
		for k := from; k < min(to, len(prototypes)); k++ {
			prototypes[k] = pl.prototype(p, p.prototypes[k], &buffer)
		}
		for k := from; k < min(to, len(bodies)); k++ {
			bodies[k] = pl.body(p, p.bodies[k])
			bodies[k].Before = k > 0 || blank
			if alone != nil {
				alone[k] = pl.lines.alone(p.bodies[k].File, bodies[k].Span)
			}
			if alone == nil || alone[k] {
				pl.editLines(&bodies[k], p.bodies[k].File, true)
			}
			if k+1 == len(bodies) || p.bodies[k+1].File != p.bodies[k].File {
				pl.table.Files[p.bodies[k].File].DropText()
			}
		}
	})
	for k := range alone {
		if file := p.bodies[k].File; alone[k] {
			pl.lines.editors[file].Add(bodies[k].Span)
		} else {
			pl.editLines(&bodies[k], file, false)
		}
	}
	if len(bodies) > 0 {
		pl.ends = "\n"
	}
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
	*buffer = append((*buffer)[:0], pl.linkage(d).Word()...)
	*buffer = append(ptx.AppendCompact(*buffer, text), prototypeEnd...)
	return emit.Piece{Src: f.Src, Span: diag.Span{Off: decl.Header.Off}, Text: string(*buffer)}
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

// body returns a function, with its edits except those of its lines, in no order.
func (pl *planner) body(p *plan, d resolve.DeclID) emit.Piece {
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
	edits = f.OffsetEdits(edits, decl)
	span := diag.Span{Off: decl.Header.Off, Len: decl.Body.End() - decl.Header.Off}
	return emit.Piece{Src: f.Src, Span: span, Edits: edits, Text: pl.linkage(d).Word(), After: true}
}

// editLines adds the edits of the lines of a function, and sorts them all.
func (pl *planner) editLines(body *emit.Piece, file int32, alone bool) {
	edits := pl.lines.edits(body.Edits, file, body.Span, alone)
	ptx.SortEdits(edits)
	body.Edit(edits)
}
