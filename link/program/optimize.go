package program

import (
	"bytes"
	"context"
	"math"
	"slices"

	"ptxlink/internal/parallel"
	"ptxlink/link/optimize"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Changes describes what the optimiser did to a program.
type Changes struct {
	Variables []optimize.Changed
	Moved     []optimize.Moved
	Gone      []resolve.DeclID  // bodies that are not in the output
	Reasons   map[string]string // why a function is gone, by name

	bodies []*optimize.Changed // by Program.Bodies
}

// Optimize runs the optimiser on the functions of a program. sections must be the same as for New.
// The error is the error of the context or of an invalid pattern in o, or a *diag.Message if the
// inputs have too many lines.
func (p *Program) Optimize(ctx context.Context, sections *DebugSections, o optimize.Options) (*optimize.Result, error) {
	numbers, err := newLineNumbers(p.Table.Files, o.Spelling)
	if err != nil {
		return nil, err
	}
	p.numbers = numbers
	of := p.program(sections)
	scope := ptx.Scope{Version: of.Version, AddressSize: of.AddressSize, Percent: of.Percent(), Declared: func(name []byte) (string, bool) {
		place, ok := of.Names[string(name)]
		return string(name), ok && place == 0
	}}
	of.Prototypes = func() *ptx.Module { return p.openDeclarations(scope) }
	p.readFunctions(ctx, of, scope)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	better, err := optimize.Optimize(of, o)
	if err != nil {
		return nil, err
	}
	p.replace(better)
	return better, nil
}

// Place returns the line of an input that an optimised line comes from, by its number. ok is false
// for 0, because the linker wrote that line.
func (p *Program) Place(number int32) (place diag.Place, ok bool) { return p.numbers.Place(number) }

// program returns the program in the form that package optimize reads. Functions with edits are
// missing, because they must be read again first.
func (p *Program) program(sections *DebugSections) *optimize.Program {
	of := &optimize.Program{Version: p.Header.Version, AddressSize: p.Header.AddressSize, Names: map[string]int32{}, Described: sections.described(p.Names), Text: p.parts}
	uses := func(file int32, first, end int32) {
		for _, u := range p.Table.Files[file].Uses[first:end] {
			of.Uses = append(of.Uses, p.Names.Of(object.ID{File: file, Name: u.Name}))
		}
	}
	for _, s := range p.Externs {
		of.Names[s.Name] = 0
	}
	for _, at := range p.declared {
		of.Names[p.Names.Of(p.Table.Declared(at))] = 0
	}
	for _, at := range p.Variables {
		decl := &p.Table.Files[at.File].Decls[at.Decl]
		of.Names[p.Names.Of(p.Table.Declared(at))] = 0
		uses(at.File, decl.FirstUse, decl.EndUse)
	}
	for _, id := range p.Aliases {
		name, target := p.Names.Of(id), p.Names.Of(object.ID{File: id.File, Name: p.Table.Files[id.File].Symbols[id.Name].Target})
		of.Names[name] = 0
		of.Aliases = append(of.Aliases, optimize.Alias{Name: name, Target: target})
	}
	for i, f := range p.Table.Files {
		for _, other := range f.Others {
			uses(int32(i), other.FirstUse, other.EndUse)
		}
	}
	for i, at := range p.Bodies {
		f, name := p.Table.Files[at.File], p.Names.Of(p.Table.Declared(at))
		if _, known := of.Names[name]; !known {
			of.Names[name] = 2*int32(i) + 1
		}
		of.Functions = append(of.Functions, optimize.Function{
			Name: name, Linkage: p.linkage(at), Kept: resolve.FoundByName(f.Names[f.Decls[at.Decl].Name], &f.Decls[at.Decl]),
			Module: f.Module, Decl: &f.Decls[at.Decl], Shift: p.numbers.before[at.File],
		})
	}
	return of
}

// openDeclarations returns the declarations of names without a body: .extern, or an alias.
func (p *Program) openDeclarations(scope ptx.Scope) *ptx.Module {
	var text bytes.Buffer
	p.externs.Write(&text)
	for i, at := range p.declared {
		if !p.Table.Files[at.File].Decls[at.Decl].HasBody {
			p.prototypes[i].Write(&text)
		}
	}
	return readAlone(scope, text.Bytes())
}

// readFunctions reads the functions that have edits. Functions of one input are read together.
func (p *Program) readFunctions(ctx context.Context, of *optimize.Program, scope ptx.Scope) {
	const together = 1 << 18 // bytes of a text
	var groups [][]int
	size := 0
	for i := range p.Bodies {
		piece := &p.bodies[i]
		if len(piece.Edits) == 0 {
			continue
		}
		if n := len(groups); n > 0 && size < together && p.Bodies[groups[n-1][0]].File == p.Bodies[i].File {
			groups[n-1] = append(groups[n-1], i)
		} else {
			groups, size = append(groups, []int{i}), 0
		}
		size += piece.Size()
	}
	parallel.Each(ctx, len(groups), p.options.Jobs, func(int) string { return "reading functions" }, func(g int) {
		size := 0
		for _, i := range groups[g] {
			size += p.bodies[i].Size() + 1
		}
		text := bytes.NewBuffer(make([]byte, 0, size))
		for _, i := range groups[g] {
			piece := p.bodies[i]
			piece.Text, piece.Before, piece.After = "", false, true
			piece.Write(text)
		}
		m := readAlone(scope, text.Bytes())
		for k, i := range groups[g] {
			f, piece := &of.Functions[i], &p.bodies[i]
			f.Module, f.Decl = m, &m.Decls[k]
			f.Shift = p.numbers.before[p.Bodies[i].File] + int32(piece.Src.Line(piece.Span.Off)-m.Src.Line(f.Decl.Span.Off))
		}
	})
}

// readAlone reads functions of the output. It panics if they cannot be read, because only a fault
// of this package can cause that.
func readAlone(scope ptx.Scope, text []byte) *ptx.Module {
	m, err := scope.Read(&diag.Source{Name: "the linked module", Text: text})
	if err != nil {
		panic("the linked module is invalid: " + err.Text)
	}
	return m
}

func (p *Program) replace(by *optimize.Result) {
	c := &Changes{Variables: by.Variables, Moved: by.Moved, Reasons: map[string]string{}}
	for _, name := range by.Dropped {
		c.Reasons[name] = "all its calls are inlined"
	}
	for _, f := range by.Folded {
		c.Reasons[f.Name] = "folded into " + f.Into + ", which has the same code"
	}
	left := make([]*optimize.Changed, len(p.Bodies))
	for i := range by.Functions {
		left[by.Functions[i].Index] = &by.Functions[i]
	}
	gone := map[resolve.DeclID]bool{}
	for i, at := range p.Bodies {
		if left[i] == nil {
			gone[at] = true
			c.Gone = append(c.Gone, at)
		}
	}

	old := p.contents
	var prototypes, bodies ptx.Pieces
	var declared, defined []resolve.DeclID
	for i, at := range p.declared {
		if !gone[at] {
			declared, prototypes = append(declared, at), append(prototypes, old.prototypes[i])
		}
	}
	p.prototypes, p.declared = prototypes, declared
	blank := p.blank()
	for i, v := range by.Variables {
		src := v.Module.Src
		p.statements = append(p.statements, ptx.Piece{Src: src, Span: diag.Span{Len: int32(len(src.Text))}, Lines: v.Lines, Before: i == 0 && blank})
	}
	for i, at := range p.Bodies {
		f := left[i]
		if f == nil {
			continue
		}
		piece := old.bodies[i]
		piece.Before = len(bodies) > 0 || p.blank()
		if f.Lines != nil {
			piece.Src, piece.Span, piece.Edits, piece.Lines = f.Module.Src, f.Decl.Span, nil, f.Lines
		}
		bodies, defined, c.bodies = append(bodies, piece), append(defined, at), append(c.bodies, f)
	}
	p.bodies, p.Bodies, p.Changes = bodies, defined, c
	if by.Strings != "" {
		p.addStrings(by.Strings)
	}
	p.size = p.contents.size()
}

// Function returns the module and the declaration of body i, which come from its input, or from the
// optimiser if optimized is set.
func (p *Program) Function(i int) (m *ptx.Module, d *ptx.Decl, optimized bool) {
	if p.Changes != nil && p.Changes.bodies[i].Lines != nil {
		return p.Changes.bodies[i].Module, p.Changes.bodies[i].Decl, true
	}
	at := p.Bodies[i]
	f := p.Table.Files[at.File]
	return f.Module, &f.Decls[at.Decl], false
}

// lineNumbers numbers all lines of the inputs together, from 1.
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
	i, _ := slices.BinarySearch(n.before, number) // the first file with as many lines before it
	src := n.files[i-1].Src
	return diag.At(src, src.LineSpan(int(number-n.before[i-1]))), true
}
