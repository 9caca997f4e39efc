package link

import (
	"context"
	"strconv"

	"ptxlink/abicheck"
	"ptxlink/link/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// plan holds every byte of one output, and the data for its Result. It is a value:
// several outputs are several plans.
type plan struct {
	record record // at the start of the output
	pieces []piece
	size   int // bytes of the output

	// pieces has those of layout.externs from firstExtern, those of layout.prototypes from
	// firstPrototype, and those of layout.bodies from firstBody.
	firstExtern, firstPrototype, firstBody int

	layout
	header   header
	debug    bool // .target carries debug
	lineInfo bool // .loc lines are in the output

	// After Options.Optimize: what it changed, and the numbers in piece.lines.
	changes *changes
	numbers *lineNumbers
}

// piece is a part of the output: text of the linker, followed by a span of an input
// with sorted edits that do not overlap. If the edits keep the number of line ends,
// each line of the piece comes from one line of the input.
type piece struct {
	src   *diag.Source // the origin of the piece; nil for the linker itself
	span  diag.Span    // the part of src to copy; its offset counts even if it is empty
	edits []ptx.Edit
	text  string
	// fixed is set if all lines of the piece come from one line of src.
	fixed bool
	// lines has, if it is not nil, the number (lineNumbers) of each line of the piece.
	lines []int32
	// before and after add line ends around the piece that have no origin.
	before, after bool
}

const prototypeEnd = ";\n"

func (p *piece) size() int {
	n := len(p.text) + int(p.span.Len)
	for _, e := range p.edits {
		n += len(e.Text) - int(e.Span.Len)
	}
	if p.before {
		n++
	}
	if p.after {
		n++
	}
	return n
}

// sizeOf returns the bytes that a part of the span has in the output. What is inserted
// where the part starts or ends does not count.
func (p *piece) sizeOf(part diag.Span) int64 {
	n := int64(part.Len)
	for _, e := range p.edits {
		if part.Off <= e.Span.Off && e.Span.End() <= part.End() && (e.Span.Len > 0 || part.Off < e.Span.Off && e.Span.Off < part.End()) {
			n += int64(len(e.Text)) - int64(e.Span.Len)
		}
	}
	return n
}

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

	pieces []piece
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
	p := &plan{header: c.header, debug: sections.target, lineInfo: pl.lines.any()}
	p.layout = pl.arrange()
	if log.Errors() > 0 {
		return p, nil
	}

	count := 8 + len(p.pragmas) + len(p.externs) + len(p.prototypes) + len(p.forwards) + len(p.variables) + len(p.aliases) + len(p.bodies)
	pl.pieces = make([]piece, 0, count)
	pl.header(sections.target)
	pl.files()
	for _, pragma := range p.pragmas {
		pl.own(".pragma " + pragma + ";\n")
	}
	p.firstExtern = len(pl.pieces)
	for _, s := range p.externs {
		pl.extern(&p.layout, s)
	}
	p.firstPrototype = len(pl.pieces)
	edits := pl.functions(ctx, p, sections)
	if err := ctx.Err(); err != nil {
		return nil, err
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
	p.firstBody = len(pl.pieces)
	for i, d := range p.bodies {
		pl.body(d, edits[i], sections)
	}
	pl.sections(sections)

	pl.record(&p.record)
	p.pieces = pl.pieces
	p.measure()
	return p, nil
}

func (p *plan) measure() {
	p.size = p.record.size
	for i := range p.pieces {
		p.size += p.pieces[i].size()
	}
}

func (pl *planner) add(p piece) {
	// An edit that overlaps the previous one has the same reason, so the first is enough.
	kept := p.edits[:0]
	at := p.span.Off
	for _, e := range p.edits {
		if e.Span.Off >= at {
			kept = append(kept, e)
			at = e.Span.End()
		}
	}
	p.edits = kept
	pl.pieces = append(pl.pieces, p)
	switch {
	case p.after && p.span.Len > 0:
		pl.ends = "\n"
	case p.span.Len > 0:
		pl.ends = ""
	default:
		pl.ends = p.text[max(0, len(p.text)-2):]
	}
}

// own adds text of the linker.
func (pl *planner) own(text string) { pl.add(piece{text: text}) }

// line adds a declaration written by the linker, on one line. Its origin is the line
// at off.
func (pl *planner) line(src *diag.Source, off int32, text string) {
	pl.add(piece{src: src, span: diag.Span{Off: off}, text: text + ";\n", fixed: true})
}

// blank reports whether an empty line must be added to leave one.
func (pl *planner) blank() bool { return pl.ends != "\n\n" }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
