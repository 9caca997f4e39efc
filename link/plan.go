package link

import (
	"context"
	"slices"
	"strconv"

	"ptxlink/abicheck"
	"ptxlink/internal/parallel"
	"ptxlink/link/diag"
	"ptxlink/link/emit"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// plan holds every byte of one output, and the data for its Result. It is a value:
// several outputs are several plans.
type plan struct {
	pieces emit.Pieces
	size   int // bytes of the output

	// pieces has those of layout.externs from firstExtern, those of layout.prototypes from
	// firstPrototype, and those of layout.bodies from firstBody.
	firstExtern, firstPrototype, firstBody int

	layout
	header   header
	jobs     int  // Options.Jobs
	debug    bool // .target carries debug
	lineInfo bool // .loc lines are in the output

	// After Options.Optimize: what it changed, and the numbers in Piece.Lines.
	changes *changes
	numbers *lineNumbers
}

const prototypeEnd = ";\n"

// planner decides every byte of the output.
type planner struct {
	table   *resolve.Table
	names   *resolve.Names
	checked checked
	debug   *debugSections
	options Options
	log     *diag.Log
	lines   *lineTable
	aligns  *abicheck.ParamAlignments
	marks   []map[string]string // by file: new names of labels of trace.mark

	pieces emit.Pieces
	ends   string // the last bytes of the output so far
}

// newPlan returns the plan of the output:
//
//	record of the inputs, header
//	files, pragmas
//	symbols that stay .extern
//	prototypes of functions, and of entries that are referenced
//	variables, each after the variables its initialiser uses
//	aliases, unknown statements, metadata
//	bodies
//	debug sections
//
// ptxas requires every name to be declared before it is used, and accepts no
// declaration after the definition.
func newPlan(ctx context.Context, t *resolve.Table, names *resolve.Names, c checked, debug *debugSections, o Options, log *diag.Log) (*plan, error) {
	pl := &planner{table: t, names: names, checked: c, debug: debug, options: o, log: log, aligns: abicheck.NewParamAlignments(t)}
	pl.lines = newLineTable(t, debug, o, log)
	sections, err := debug.merge(ctx, names, pl.lines, o.Jobs, log)
	if err != nil {
		return nil, err
	}
	pl.lines.debug = sections
	p := &plan{header: c.header, jobs: o.Jobs, debug: sections.target, lineInfo: pl.lines.any()}
	p.layout = pl.arrange()
	if log.Errors() > 0 {
		return p, nil
	}

	count := 8 + len(p.pragmas) + len(p.externs) + len(p.prototypes) + len(p.forwards) + len(p.variables) + len(p.aliases) + len(p.bodies)
	pl.pieces = make(emit.Pieces, 0, count)
	pl.record()
	pl.header(sections.target)
	pl.files()
	for _, pragma := range p.pragmas {
		pl.own(".pragma " + pragma + ";\n")
	}
	p.firstExtern = len(pl.pieces)
	for _, s := range p.externs {
		pl.extern(&p.layout, s)
	}
	if p.firstPrototype = pl.reserve(len(p.prototypes)); len(p.prototypes) > 0 {
		pl.ends = prototypeEnd
	}
	for _, d := range p.forwards {
		pl.forward(p, d)
	}
	for _, d := range p.variables {
		pl.variable(p, d)
	}
	for _, id := range p.aliases {
		pl.alias(id)
	}
	pl.others()
	pl.metadata(p)
	p.firstBody = pl.reserve(len(p.bodies))
	pl.functions(ctx, p)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pl.sections(sections)

	p.pieces = pl.pieces
	p.size = p.pieces.Size()
	return p, nil
}

func (pl *planner) add(p emit.Piece) {
	pl.pieces.Add(p)
	switch {
	case p.After && p.Span.Len > 0:
		pl.ends = "\n"
	case p.Span.Len > 0:
		pl.ends = ""
	default:
		pl.ends = p.Text[max(0, len(p.Text)-2):]
	}
}

// reserve adds n pieces, which functions sets, and returns the index of the first.
func (pl *planner) reserve(n int) (first int) {
	first = len(pl.pieces)
	pl.pieces = slices.Grow(pl.pieces, n)[:first+n]
	return first
}

// own adds text of the linker.
func (pl *planner) own(text string) { pl.add(emit.Piece{Text: text}) }

// line adds a declaration written by the linker. Its origin is the line at off.
func (pl *planner) line(src *diag.Source, off int32, text string) {
	pl.pieces.Line(src, off, text)
	pl.ends = prototypeEnd
}

// blank reports whether an empty line must be added to leave one.
func (pl *planner) blank() bool { return pl.ends != "\n\n" }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

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
	edits = append(edits, pl.markEdits(d.File, decl)...)
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
