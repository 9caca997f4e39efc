package link

import (
	"context"
	"strconv"

	"ptxlink/abicheck"
	"ptxlink/internal/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// plan is every byte of one output, and what a Result says of it. It is a value:
// several outputs are several plans.
type plan struct {
	pieces []piece
	size   int // bytes of all pieces

	layout
	header   header
	debug    bool // .target carries debug
	lineInfo bool // .loc lines are in the output
}

// piece is a stretch of the output: text of the linker's own, and behind it a span
// of an input with sorted edits that do not overlap. Where the edits have as many
// line ends as what they replace, each line of the piece comes from one line of the
// input.
type piece struct {
	src   *diag.Source // where the piece comes from; nil for the linker itself
	span  diag.Span    // what is copied of src; its offset counts even if nothing is
	edits []ptx.Edit
	text  string
	// fixed pieces come from one line of src, whatever they hold.
	fixed bool
	// before and after are line ends around the piece that come from nowhere.
	before, after bool
}

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

// planner decides every byte of the output.
type planner struct {
	table   *resolve.Table
	names   *resolve.Names
	checked checked
	options Options
	log     *diag.Log
	lines   *lineTable
	aligns  *abicheck.ParamAlignments

	pieces []piece
	ends   string // the last bytes of the output so far
}

// newPlan makes the plan of the output:
//
//	header, record of the object
//	files, pragmas
//	what stays .extern
//	prototypes of functions, and of entries that something refers to
//	variables, each behind what its initialiser names
//	aliases, statements that this version does not know
//	bodies
//	debug sections
//
// ptxas wants every name declared before it is used, and no declaration behind its
// definition.
func newPlan(ctx context.Context, t *resolve.Table, names *resolve.Names, c checked, o Options, log *diag.Log) (*plan, error) {
	pl := &planner{table: t, names: names, checked: c, options: o, log: log, aligns: abicheck.NewParamAlignments(t)}
	pl.lines = newLineTable(t, c.debug, o, log)
	sections, err := c.debug.merge(ctx, names, pl.lines, log)
	if err != nil {
		return nil, err
	}
	p := &plan{header: c.header, debug: sections.target, lineInfo: pl.lines.any()}
	p.layout = pl.arrange()
	if log.Errors() > 0 {
		return p, nil
	}

	pl.header(sections.target)
	pl.files()
	for _, pragma := range p.pragmas {
		pl.own(".pragma " + pragma + ";\n")
	}
	for _, s := range p.externs {
		pl.extern(s)
	}
	for _, d := range p.prototypes {
		pl.prototype(p, d)
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
	for _, d := range p.bodies {
		pl.body(p, d, sections)
	}
	pl.sections(sections)

	p.pieces = pl.pieces
	for i := range p.pieces {
		p.size += p.pieces[i].size()
	}
	return p, nil
}

func (pl *planner) add(p piece) {
	// An edit that overlaps the one before has the same reason: the first will do.
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

// own adds text of the linker's own.
func (pl *planner) own(text string) { pl.add(piece{text: text}) }

// line adds a declaration that is printed afresh, on one line. It comes from the
// line at off.
func (pl *planner) line(src *diag.Source, off int32, text string) {
	pl.add(piece{src: src, span: diag.Span{Off: off}, text: text + ";\n", fixed: true})
}

// blank reports whether an empty line must be added to leave one.
func (pl *planner) blank() bool { return pl.ends != "\n\n" }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
