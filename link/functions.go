package link

import (
	"context"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/internal/parallel"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// functions returns the text of each prototype, and the edits of each body except those
// of its lines. It reads them in parallel.
func (pl *planner) functions(ctx context.Context, p *plan) (prototypes []string, edits [][]ptx.Edit) {
	const together = 256
	prototypes, edits = make([]string, len(p.prototypes)), make([][]ptx.Edit, len(p.bodies))
	jobs := pl.options.Jobs
	if len(p.bodies) < 2*together {
		jobs = 1 // starting goroutines would take longer
	}
	parts := (max(len(prototypes), len(edits)) + together - 1) / together
	parallel.Each(ctx, parts, jobs, func(int) string { return "planning" }, func(i int) {
		var texts texts
		buffer := make([]byte, 0, 256)
		from := i * together
		for k := from; k < min(from+together, len(prototypes)); k++ {
			buffer = pl.prototype(buffer[:0], p, p.prototypes[k])
			prototypes[k] = texts.keep(buffer)
		}
		for k := from; k < min(from+together, len(edits)); k++ {
			edits[k] = pl.bodyEdits(p, p.bodies[k])
		}
	})
	return prototypes, edits
}

// texts allocates strings together.
type texts struct{ strings.Builder }

func (t *texts) keep(text []byte) string {
	if t.Cap()-t.Len() < len(text) {
		size := min(max(1<<8, 2*t.Cap()), 1<<16)
		t.Builder = strings.Builder{}
		t.Grow(max(size, len(text)))
	}
	t.Write(text)
	all := t.String()
	return all[len(all)-len(text):]
}

// prototype appends a forward declaration of a function.
func (pl *planner) prototype(out []byte, p *plan, d resolve.DeclID) []byte {
	f, decl := pl.decl(d)
	edits := append(pl.headerEdits(&p.layout, d), within(decl.Header, pl.names.LocalEdits(d))...)
	out = append(out, pl.linkageWord(d)...)
	out = ptx.AppendCompact(out, f.Prototype(decl, edits))
	return append(out, ";\n"...)
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
	_, decl := pl.decl(d)
	edits := append(pl.headerEdits(&p.layout, d), pl.aligns.Body(d.File, decl)...)
	if decl.Kind == ptx.Entry {
		for _, pragma := range p.pushed[d.File] {
			edits = append(edits, ptx.Edit{Span: diag.Span{Off: decl.Header.End()}, Text: " .pragma " + pragma + ";"})
		}
	}
	edits = append(edits, pl.names.LocalEdits(d)...)
	return pl.nameEdits(edits, d.File, decl.FirstUse, decl.EndUse)
}

// body adds a function with its edits.
func (pl *planner) body(d resolve.DeclID, edits []ptx.Edit, debug *mergedDebug) {
	f, decl := pl.decl(d)
	span := diag.Span{Off: decl.Header.Off, Len: decl.Body.End() - decl.Header.Off}
	edits = pl.lines.edits(edits, d.File, span, debug)
	ptx.SortEdits(edits)
	pl.add(piece{src: f.Src, span: span, edits: edits, text: pl.linkageWord(d), before: pl.blank(), after: true})
}
