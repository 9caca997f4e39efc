package link

import (
	"context"
	"slices"
	"strconv"

	"ptxlink/abicheck"
	"ptxlink/link/diag"
	"ptxlink/link/emit"
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
//	aliases, unknown statements
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
