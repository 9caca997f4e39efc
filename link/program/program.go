// Package program, of use to this module only, decides the output of a link as a value: its header,
// the order of its contents, every piece, and the functions that package optimize has changed.
// Package link describes it for its callers.
package program

import (
	"context"
	"strconv"

	"ptxlink/abicheck"
	"ptxlink/internal/parallel"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Program is one output. New decides every byte of it; Optimize and AvoidFaults change it.
// Several outputs are several programs.
type Program struct {
	Table  *resolve.Table
	Names  *resolve.Names
	Header Header
	Layout
	Debug    bool // .target carries debug
	LineInfo bool // .loc lines are in the output
	// Changes are the changes that Optimize made; nil before Optimize.
	Changes *Changes

	options Options
	contents
	size int // number of bytes of the output

	numbers *lineNumbers // the numbers in Piece.Lines, after Optimize
}

// Options are the options of package link that the output depends on.
type Options struct {
	Host                  object.Host // of all inputs, as far as it is known; for the record of the output
	StripDebug, KeepLines bool
	Jobs                  int
}

type planner struct {
	*Program
	lines  *lineTable
	aligns *abicheck.ParamAlignments
	marks  []map[string]string // by file: new names of labels of trace.mark

	section *ptx.Pieces // to which pieces are added
}

// New decides the output:
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
// The order is necessary, because ptxas requires every name to be declared before it is used, and
// accepts no declaration after the definition.
//
// It reports nothing: the checks have found what no output can express. The error is the error of a context that has
// ended.
func New(ctx context.Context, t *resolve.Table, names *resolve.Names, h Header, debug *Debug, o Options) (*Program, error) {
	p := &Program{Table: t, Names: names, Header: h, options: o}
	pl := &planner{Program: p, lines: debug.lines, aligns: abicheck.NewParamAlignments(t)}
	p.Debug, p.LineInfo = debug.target, pl.lines.any()
	pl.arrange()

	p.reserve()
	pl.section = &p.head
	pl.record()
	pl.directives()
	pl.files()
	for _, pragma := range p.pragmas {
		pl.own(".pragma " + pragma + ";\n")
	}
	p.spaced = len(pl.lines.rows)+len(p.pragmas) == 0 && !h.Version.Less(addressSizes)
	pl.section = &p.externs
	for _, s := range p.Externs {
		pl.extern(s)
	}
	pl.section = &p.statements
	for _, d := range p.forwards {
		pl.forward(d)
	}
	for _, d := range p.Variables {
		pl.variable(d)
	}
	for _, id := range p.Aliases {
		pl.alias(id)
	}
	pl.others()
	pl.metadata()
	pl.functions(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pl.debugSections(debug)
	p.size = p.contents.size()
	return p, nil
}

// reserve gives the sections memory. Other functions set the prototypes and the bodies.
func (p *Program) reserve() {
	head, statements := 5+len(p.pragmas), len(p.forwards)+len(p.Variables)+len(p.Aliases)
	memory := make(ptx.Pieces, head+len(p.Externs)+len(p.declared)+statements+len(p.Bodies))
	section := func(n int) (s ptx.Pieces) {
		s, memory = memory[:n:n], memory[n:]
		return s
	}
	p.head, p.externs, p.prototypes = section(head)[:0], section(len(p.Externs))[:0], section(len(p.declared))
	p.statements, p.bodies = section(statements)[:0], section(len(p.Bodies))
}

func (pl *planner) add(p ptx.Piece) { pl.section.Add(p) }

func (pl *planner) own(text string) { pl.add(ptx.Piece{Text: text}) }

// line adds a declaration written by the linker. Messages about it point to the line at off, its
// origin.
func (pl *planner) line(src *diag.Source, off int32, text string) { pl.section.Line(src, off, text) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (pl *planner) functions(ctx context.Context) {
	const together = 256
	prototypes, bodies, blank := pl.prototypes, pl.bodies, pl.blank()
	var alone []bool // functions whose lines do not depend on earlier functions
	if pl.lines.written != nil {
		alone = make([]bool, len(bodies))
	}
	jobs := parallel.Jobs(pl.options.Jobs, len(bodies) < 2*together)
	parallel.Chunks(ctx, max(len(prototypes), len(bodies)), together, jobs, "planning", func(from, to int) {
		buffer := make([]byte, 0, 256)
		for k := from; k < min(to, len(prototypes)); k++ {
			prototypes[k] = pl.prototype(pl.declared[k], &buffer)
		}
		for k := from; k < min(to, len(bodies)); k++ {
			bodies[k] = pl.body(pl.Bodies[k])
			bodies[k].Before = k > 0 || blank
			if alone != nil {
				alone[k] = pl.lines.alone(pl.Bodies[k].File, bodies[k].Span)
			}
			if alone == nil || alone[k] {
				pl.editLines(&bodies[k], pl.Bodies[k].File, true)
			}
			if k+1 == len(bodies) || pl.Bodies[k+1].File != pl.Bodies[k].File {
				pl.Table.Files[pl.Bodies[k].File].DropText()
			}
		}
	})
	for k := range alone {
		if file := pl.Bodies[k].File; alone[k] {
			pl.lines.editors[file].Add(bodies[k].Span)
		} else {
			pl.editLines(&bodies[k], file, false)
		}
	}
}

// prototype returns a forward declaration of a function, on one line.
func (pl *planner) prototype(d resolve.DeclID, buffer *[]byte) ptx.Piece {
	f, decl := pl.decl(d)
	edits := append(pl.headerEdits(d), within(decl.Header, pl.Names.LocalEdits(d))...)
	edits = f.PrototypeEdits(decl, edits)
	text := f.Src.Bytes(decl.Header)
	if len(edits) > 0 {
		text = ptx.Apply(nil, f.Src.Text, decl.Header, edits)
	}
	*buffer = append((*buffer)[:0], pl.linkage(d).Word()...)
	*buffer = append(ptx.AppendCompact(*buffer, text), ";\n"...)
	return ptx.Piece{Src: f.Src, Span: diag.Span{Off: decl.Header.Off}, Text: string(*buffer)}
}

// within returns the edits that lie completely inside a span.
func within(span diag.Span, edits []ptx.Edit) (in []ptx.Edit) {
	for _, e := range edits {
		if e.Span.Off >= span.Off && e.Span.End() <= span.End() {
			in = append(in, e)
		}
	}
	return in
}

// body returns a function with its edits, unsorted. The edits of its lines are missing, because
// they may depend on earlier functions.
func (pl *planner) body(d resolve.DeclID) ptx.Piece {
	f, decl := pl.decl(d)
	edits := append(pl.headerEdits(d), pl.aligns.Body(d.File, decl)...)
	if decl.Kind == ptx.Entry {
		for _, pragma := range pl.pushed[d.File] {
			edits = append(edits, ptx.Edit{Span: diag.Span{Off: decl.Header.End()}, Text: " .pragma " + pragma + ";"})
		}
	}
	edits = append(edits, pl.literalEdits(d)...)
	edits = append(edits, pl.Names.LocalEdits(d)...)
	edits = append(edits, pl.markEdits(d.File, decl)...)
	edits = pl.nameEdits(edits, d.File, decl.FirstUse, decl.EndUse)
	edits = pl.lowerVolatile(edits, f, decl)
	edits = f.OffsetEdits(edits, decl)
	span := diag.Span{Off: decl.Header.Off, Len: decl.Body.End() - decl.Header.Off}
	return ptx.Piece{Src: f.Src, Span: span, Edits: edits, Text: pl.linkage(d).Word(), After: true}
}

func (pl *planner) editLines(body *ptx.Piece, file int32, alone bool) {
	edits := pl.lines.edits(body.Edits, file, body.Span, alone)
	ptx.SortEdits(edits)
	body.Edit(edits)
}
