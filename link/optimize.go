package link

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/parallel"
	"ptxlink/link/diag"
	"ptxlink/link/emit"
	"ptxlink/link/optimize"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Optimize says what the second stage of a link does to the linked module. The zero
// value leaves it as it is.
type Optimize = optimize.Request

// InlinedCall is one direct call of a device function, and whether it is inlined.
type InlinedCall struct {
	Caller, Callee string // names in the output
	Place          Place  // in the input
	Inlined        bool
	Reason         string // why it is not inlined
}

// FoldedFunction is a function that another one with the same code replaces: names in
// the output, or what they would be there.
type FoldedFunction = optimize.Fold

// changes are what the optimiser did to a plan.
type changes struct {
	bodies    []*optimize.Changed // by plan.bodies
	variables []optimize.Changed
	moved     []optimize.Moved
	gone      []resolve.DeclID  // bodies that are not in the output
	reasons   map[string]string // why, by name
}

// optimize changes the functions of a plan.
func (p *plan) optimize(ctx context.Context, r *Result, d describer, debug *debugSections, o Options) error {
	numbers, err := newLineNumbers(d.t.Files, o.Spelling)
	if err != nil {
		return err
	}
	options := optimize.Options{Request: o.Optimize, Keep: slices.Concat(o.Exports, o.Undefined, o.RequireDefined), Jobs: o.Jobs, Spelling: o.Spelling}
	options.Interposable = options.Interposable || len(o.AllowUndefined) > 0
	if o.KeepUnused {
		options.Keep = []string{"*"}
	}
	program := p.program(d, debug, numbers)
	scope := ptx.Scope{Version: program.Version, AddressSize: program.AddressSize, Percent: program.Percent(), Declared: func(name []byte) (string, bool) {
		place, ok := program.Names[string(name)]
		return string(name), ok && place == 0
	}}
	program.Prototypes = func() *ptx.Module { return p.declared(d, scope) }
	p.readFunctions(ctx, program, scope, numbers, o.Jobs)
	if err := ctx.Err(); err != nil {
		return err
	}
	better, err := optimize.Optimize(program, options)
	if err != nil {
		return err
	}
	p.replace(better, numbers)
	r.describer = sync.OnceValue(d.describe)
	for _, c := range better.Calls {
		call := InlinedCall{Caller: c.Caller, Callee: c.Callee, Inlined: c.Inlined, Reason: c.Reason}
		call.Place, _ = numbers.Place(c.Line)
		r.InlinedCalls = append(r.InlinedCalls, call)
	}
	r.Folded = better.Folded
	return nil
}

// program returns what package optimize looks at. The functions that have edits are not
// read yet.
func (p *plan) program(d describer, debug *debugSections, numbers *lineNumbers) *optimize.Program {
	of := &optimize.Program{Version: p.header.version, AddressSize: p.header.addressSize, Names: map[string]int32{}, Described: debug.described(d.names), Text: p.pieces.Parts}
	uses := func(file int32, first, end int32) {
		for _, u := range d.t.Files[file].Uses[first:end] {
			of.Uses = append(of.Uses, d.names.Of(object.ID{File: file, Name: u.Name}))
		}
	}
	for _, s := range p.externs {
		of.Names[s.Name] = 0
	}
	for _, at := range p.prototypes {
		of.Names[d.names.Of(d.t.Declared(at))] = 0
	}
	for _, at := range p.variables {
		decl := &d.t.Files[at.File].Decls[at.Decl]
		of.Names[d.names.Of(d.t.Declared(at))] = 0
		uses(at.File, decl.FirstUse, decl.EndUse)
	}
	for _, id := range p.aliases {
		name, target := d.names.Of(id), d.names.Of(object.ID{File: id.File, Name: d.t.Files[id.File].Symbols[id.Name].Target})
		of.Names[name] = 0
		of.Aliases = append(of.Aliases, optimize.Alias{Name: name, Target: target})
	}
	for i, f := range d.t.Files {
		for _, other := range f.Others {
			uses(int32(i), other.FirstUse, other.EndUse)
		}
	}
	for i, at := range p.bodies {
		f, name := d.t.Files[at.File], d.names.Of(d.t.Declared(at))
		if _, known := of.Names[name]; !known {
			of.Names[name] = 2*int32(i) + 1
		}
		of.Functions = append(of.Functions, optimize.Function{
			Name: name, Linkage: linkageOf(d.t, d.t.Declared(at)),
			Module: f.Module, Decl: &f.Decls[at.Decl], Shift: numbers.before[at.File],
		})
	}
	return of
}

// declared returns the declarations of what has no body: .extern, or an alias.
func (p *plan) declared(d describer, scope ptx.Scope) *ptx.Module {
	var text bytes.Buffer
	for i := p.firstExtern; i < p.firstPrototype; i++ {
		p.pieces[i].Write(&text)
	}
	for i, at := range p.prototypes {
		if !d.t.Files[at.File].Decls[at.Decl].HasBody {
			p.pieces[p.firstPrototype+i].Write(&text)
		}
	}
	return readAlone(scope, text.Bytes())
}

// readFunctions reads the functions that have edits, those of one input together.
func (p *plan) readFunctions(ctx context.Context, of *optimize.Program, scope ptx.Scope, numbers *lineNumbers, jobs int) {
	const together = 1 << 18 // bytes of a text
	var groups [][]int
	size := 0
	for i := range p.bodies {
		piece := &p.pieces[p.firstBody+i]
		if len(piece.Edits) == 0 {
			continue
		}
		if n := len(groups); n > 0 && size < together && p.bodies[groups[n-1][0]].File == p.bodies[i].File {
			groups[n-1] = append(groups[n-1], i)
		} else {
			groups, size = append(groups, []int{i}), 0
		}
		size += piece.Size()
	}
	parallel.Each(ctx, len(groups), jobs, func(int) string { return "reading functions" }, func(g int) {
		size := 0
		for _, i := range groups[g] {
			size += p.pieces[p.firstBody+i].Size() + 1
		}
		text := bytes.NewBuffer(make([]byte, 0, size))
		for _, i := range groups[g] {
			piece := p.pieces[p.firstBody+i]
			piece.Text, piece.Before, piece.After = "", false, true
			piece.Write(text)
		}
		m := readAlone(scope, text.Bytes())
		for k, i := range groups[g] {
			f, piece := &of.Functions[i], &p.pieces[p.firstBody+i]
			f.Module, f.Decl = m, &m.Decls[k]
			f.Shift = numbers.before[p.bodies[i].File] + int32(piece.Src.Line(piece.Span.Off)-m.Src.Line(f.Decl.Span.Off))
		}
	})
}

// readAlone reads functions of the output. Those that cannot be read are a fault of this
// package, so readAlone then panics.
func readAlone(scope ptx.Scope, text []byte) *ptx.Module {
	m, err := scope.Read(&diag.Source{Name: "the linked module", Text: text})
	if err != nil {
		panic("the linked module is invalid: " + err.Text)
	}
	return m
}

// replace gives the plan the functions that the optimiser left.
func (p *plan) replace(by *optimize.Result, numbers *lineNumbers) {
	c := &changes{variables: by.Variables, moved: by.Moved, reasons: map[string]string{}}
	for _, name := range by.Dropped {
		c.reasons[name] = "all its calls are inlined"
	}
	for _, f := range by.Folded {
		c.reasons[f.Name] = "folded into " + f.Into + ", which has the same code"
	}
	left := make([]*optimize.Changed, len(p.bodies))
	for i := range by.Functions {
		left[by.Functions[i].Index] = &by.Functions[i]
	}
	gone := map[resolve.DeclID]bool{}
	for i, at := range p.bodies {
		if left[i] == nil {
			gone[at] = true
			c.gone = append(c.gone, at)
		}
	}

	old, firstOther, firstSection := p.pieces, p.firstPrototype+len(p.prototypes), p.firstBody+len(p.bodies)
	pieces := old[:p.firstPrototype:p.firstPrototype]
	var prototypes, bodies []resolve.DeclID
	for i, at := range p.prototypes {
		if !gone[at] {
			prototypes = append(prototypes, at)
			pieces = append(pieces, old[p.firstPrototype+i])
		}
	}
	pieces = append(pieces, old[firstOther:p.firstBody]...)
	blank := strings.HasSuffix(pieces[len(pieces)-1].Text, "\n\n") // it ends the header
	for i, v := range by.Variables {
		src := v.Module.Src
		pieces = append(pieces, emit.Piece{Src: src, Span: diag.Span{Len: int32(len(src.Text))}, Lines: v.Lines, Before: i == 0 && !blank})
	}
	firstBody := len(pieces)
	for i, at := range p.bodies {
		f := left[i]
		if f == nil {
			continue
		}
		piece := old[p.firstBody+i]
		piece.Before = len(bodies) > 0 || len(by.Variables) > 0 || !blank
		if f.Lines != nil {
			piece.Src, piece.Span, piece.Edits, piece.Lines = f.Module.Src, f.Decl.Span, nil, f.Lines
		}
		pieces, bodies, c.bodies = append(pieces, piece), append(bodies, at), append(c.bodies, f)
	}
	sections := len(pieces)
	pieces = append(pieces, old[firstSection:]...)
	if by.Strings != "" {
		pieces = addStrings(pieces, sections, by.Strings)
	}
	p.pieces, p.firstBody, p.prototypes, p.bodies, p.changes, p.numbers = pieces, firstBody, prototypes, bodies, c, numbers
	p.size = p.pieces.Size()
}

// function returns the module and the declaration of body i: those of its input, or of the optimiser.
func (p *plan) function(files []*object.File, i int) (m *ptx.Module, d *ptx.Decl, optimized bool) {
	if p.changes != nil && p.changes.bodies[i].Lines != nil {
		return p.changes.bodies[i].Module, p.changes.bodies[i].Decl, true
	}
	at := p.bodies[i]
	return files[at.File].Module, &files[at.File].Decls[at.Decl], false
}

// addStrings adds text at the end of .debug_str, which is among the pieces from first on.
func addStrings(pieces emit.Pieces, first int, text string) emit.Pieces {
	last, within := -1, false
	for i := first; i < len(pieces); i++ {
		start := pieces[i].Text
		if p := &pieces[i]; p.Src != nil {
			start = p.Src.String(diag.Span{Off: p.Span.Off, Len: min(p.Span.Len, 64)})
		}
		if words := strings.Fields(start[:min(len(start), 64)]); len(words) > 1 && words[0] == ".section" {
			within = strings.TrimSuffix(words[1], "{") == ".debug_str"
		}
		if within {
			last = i
		}
	}
	if last < 0 {
		return append(pieces, emit.Piece{Text: "\n.section .debug_str\n{" + text + "}\n"})
	}
	p := &pieces[last]
	if p.Src == nil {
		p.Text = strings.TrimSuffix(p.Text, "}\n") + text + "}\n"
	} else {
		p.Edits = append(slices.Clip(p.Edits), ptx.Edit{Span: diag.Span{Off: p.Span.End() - 1}, Text: text})
	}
	return pieces
}

// lineNumbers gives all lines of the inputs numbers, from 1.
type lineNumbers struct {
	files  []*object.File
	before []int32 // lines of the files before this one
}

func newLineNumbers(files []*object.File, spelling diag.Spelling) (*lineNumbers, error) {
	n := &lineNumbers{files, make([]int32, len(files)+1)}
	total := 0
	for i, f := range files {
		total += f.Src.Line(int32(len(f.Src.Text)))
		if total > math.MaxInt32 {
			return nil, diag.New(diag.Usage, diag.Place{}, "the inputs have more than 2^31 lines, so they cannot be optimised").WithHelp(spelling.With("-O", "link them without %s"))
		}
		n.before[i+1] = int32(total)
	}
	return n, nil
}

// Place returns the line with a number. ok is false for 0.
func (n *lineNumbers) Place(number int32) (place diag.Place, ok bool) {
	if number <= 0 {
		return diag.Place{}, false
	}
	i, _ := slices.BinarySearch(n.before, number) // the first with as many lines before it
	src := n.files[i-1].Src
	return diag.At(src, src.LineSpan(int(number-n.before[i-1]))), true
}
