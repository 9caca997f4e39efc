package program

import (
	"context"
	"fmt"
	"slices"

	"ptxlink/abicheck"
	"ptxlink/internal/parallel"
	"ptxlink/link/debuginfo"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// DebugSections holds the debug sections of the inputs, and the meaning of every
// name in them.
type DebugSections struct {
	LookedUp []resolve.LocalName // the names inside functions among them

	t     *resolve.Table
	files []int32 // inputs whose sections are kept, in order
	// verbatim is the input whose sections are copied unchanged; -1 if there is none.
	verbatim int32
	// lines is set if only the names of inlined functions are kept.
	lines bool
	names map[int32][]debugName // of each file, by number (ptx.Module.SectionNames)
	// others finds names of LookedUp that are not in the list of their own file.
	others map[resolve.LocalName]int32

	bodies map[resolve.DeclID]sameBody // by dropped definition
}

type debugName struct {
	decl     int32 // the function of the file that first declares it, or -1
	declared int32 // the offset of the declaration

	symbol object.ID // module-scope symbol if index is -1; for a name that is gone, its function
	index  int32     // in LookedUp: a name inside a function
	listed int32     // the index of the file's own name in LookedUp, or -1
	fate   debuginfo.Fate
}

// sameBody maps the names of a dropped body to the names of the kept body. names is nil if the two
// bodies differ, because the names then have no counterparts.
type sameBody struct {
	known  bool // a body was kept
	winner resolve.DeclID
	names  *abicheck.LocalNames
}

// NewDebugSections finds the inputs with debug sections, and the meanings of the names in them. If
// only one input has sections, they are copied, provided that everything they name is in the
// output. Otherwise the sections must be merged. The error is the error of a context that has
// ended.
func NewDebugSections(ctx context.Context, t *resolve.Table, o Options, log *diag.Log) (*DebugSections, error) {
	d := &DebugSections{t: t, verbatim: -1}
	if o.StripDebug && !o.KeepLines {
		return d, nil
	}
	for i, f := range t.Files {
		if len(f.Sections) > 0 {
			d.files = append(d.files, int32(i))
		}
	}
	if d.lines = o.StripDebug; d.lines || len(d.files) == 0 {
		return d, nil
	}
	d.names, d.others, d.bodies = map[int32][]debugName{}, map[resolve.LocalName]int32{}, map[resolve.DeclID]sameBody{}
	names := make([][]debugName, len(d.files))
	parallel.Each(ctx, len(d.files), o.Jobs, func(i int) string { return "debug information of " + t.Files[d.files[i]].Name }, func(i int) {
		names[i] = namesIn(t.Files[d.files[i]])
		t.Files[d.files[i]].DropText()
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := 0
	for i, file := range d.files {
		d.names[file] = names[i]
		count += len(names[i])
	}
	d.LookedUp = make([]resolve.LocalName, 0, count)
	gone := false
	for _, file := range d.files {
		for i := range d.names[file] {
			d.lookUp(file, int32(i))
			gone = gone || d.names[file][i].fate == debuginfo.Gone
		}
	}
	if len(d.files) == 1 {
		switch file := d.files[0]; {
		case !d.module(file, nil).Check(ctx, log):
			d.lines = true
		case !gone:
			d.verbatim = file
		}
	}
	return d, ctx.Err()
}

// described returns the names that the sections of the output may refer to.
func (d *DebugSections) described(names *resolve.Names) map[string]bool {
	list := map[string]bool{}
	for _, of := range d.names {
		for i := range of {
			if of[i].fate == debuginfo.Kept {
				list[of[i].output(names)] = true
			}
		}
	}
	return list
}

// SectionEnds reports labels between sections, because no ptxas accepts them.
func SectionEnds(t *resolve.Table, log *diag.Log) {
	for _, f := range t.Files {
		if len(f.SectionEnds) > 0 {
			span := f.SectionEnds[0]
			log.Error(diag.Syntax, f.At(span), fmt.Sprintf("%s is a label outside a function, which no ptxas accepts; it belongs to .debug_aranges", f.Src.Bytes(span))).
				WithHelp(diag.Join("compile without that section: rustc -C llvm-args=-generate-arange-section=0", log.With("-S", "%s removes debug information")))
		}
	}
}

func namesIn(f *object.File) []debugName {
	list := slices.Repeat([]debugName{{decl: -1, index: -1, listed: -1}}, len(f.SectionNames()))
	// The first function that declares a name counts, because ptxas uses it.
	resolve.SectionLocals(f, func(decl, name, off int32) {
		if n := &list[name]; n.decl < 0 {
			n.decl, n.declared = decl, off
		}
	})
	return list
}

// lookUp finds the meaning of a name in the debug sections of a file.
//
//  1. A module-scope name follows its symbol.
//  2. A local name refers to the first local with that spelling, because ptxas searches
//     the whole module for it.
//  3. If the body of a local name was dropped for another body with the same text, the name
//     becomes the name in the other body, as with nvlink. Otherwise, if the texts differ, the
//     name is gone, and the function that was kept is used instead.
func (d *DebugSections) lookUp(file, number int32) {
	f, n := d.t.Files[file], &d.names[file][number]
	spelling, in := f.SectionNames()[number], resolve.DeclID{File: file, Decl: n.decl}
	if id, ok := f.Lookup(spelling); ok {
		n.fate, n.symbol = debuginfo.Kept, object.ID{File: file, Name: id}
		if s := d.t.Of(n.symbol); s != resolve.None && !d.t.Symbols[s].Defined() && !d.t.Symbols[s].Open || !d.t.Kept(n.symbol) {
			n.fate, n.symbol.File = debuginfo.Gone, -1
		}
		return
	}
	if n.decl < 0 {
		return // its fate is Unknown
	}
	if d.t.LiveDecl(in) {
		n.fate, n.index = debuginfo.Kept, d.own(file, number)
		return
	}
	same := d.bodyInPlaceOf(in)
	name := ""
	if same.names != nil {
		name = same.names.Of(spelling)
	}
	if name == "" {
		n.fate, n.symbol.File = debuginfo.Gone, -1
		if same.known {
			n.symbol = object.ID{File: file, Name: f.Decls[n.decl].Name}
		}
		return
	}
	n.fate, n.index = debuginfo.Kept, d.list(resolve.LocalName{DeclID: same.winner, Name: name})
}

// own returns the index in LookedUp of a name of a file, which it adds unless it is there.
func (d *DebugSections) own(file, number int32) int32 {
	f, n := d.t.Files[file], &d.names[file][number]
	if n.listed < 0 {
		n.listed = int32(len(d.LookedUp))
		name := f.SectionNames()[number]
		d.LookedUp = append(d.LookedUp, resolve.LocalName{
			DeclID: resolve.DeclID{File: file, Decl: n.decl}, Name: name, Declared: diag.Span{Off: n.declared, Len: int32(len(name))},
		})
	}
	return n.listed
}

// list returns the index in LookedUp of a name in any function, which it adds unless it is there.
func (d *DebugSections) list(l resolve.LocalName) int32 {
	f := d.t.Files[l.File]
	if i := f.SectionName([]byte(l.Name)); i >= 0 && d.names[l.File][i].decl == l.Decl {
		return d.own(l.File, i)
	}
	index, ok := d.others[l]
	if !ok {
		index = int32(len(d.LookedUp))
		d.others[l] = index
		d.LookedUp = append(d.LookedUp, l)
	}
	return index
}

func (d *DebugSections) bodyInPlaceOf(at resolve.DeclID) sameBody {
	same, known := d.bodies[at]
	if !known {
		same.winner, same.known = d.t.Definition(d.t.Declared(at))
		if same.known {
			same.names, _ = abicheck.SameBody(d.t, at, same.winner)
		}
		d.bodies[at] = same
	}
	return same
}

// module returns a file in the form that package debuginfo reads. If names is nil, it keeps the
// names of the input.
func (d *DebugSections) module(file int32, names *resolve.Names) *debuginfo.Module {
	f, list := d.t.Files[file], d.names[file]
	return &debuginfo.Module{File: f, Lines: d.lines, Name: func(number int32) (string, debuginfo.Fate) {
		n := &list[number]
		name := f.SectionNames()[number]
		if names != nil && n.fate != debuginfo.Unknown {
			name = n.output(names)
		}
		return name, n.fate
	}}
}

func (n *debugName) output(names *resolve.Names) string {
	if n.index >= 0 {
		return names.Local(n.index)
	}
	if n.symbol.File < 0 {
		return ""
	}
	return names.Of(n.symbol)
}

// Debug is the debug information of an output, with its lines.
type Debug struct {
	sections *DebugSections
	lines    *lineTable
	modules  map[int32]*debuginfo.Module
	merged   []debuginfo.Section
	target   bool // .target carries debug
}

// Merge decides the debug information of the output. It warns about modules whose sections cannot be merged. The
// error is the error of a context that has ended.
func (d *DebugSections) Merge(ctx context.Context, names *resolve.Names, o Options, log *diag.Log) (*Debug, error) {
	lines := newLineTable(d.t, d, o)
	debug := &Debug{sections: d, lines: lines, modules: map[int32]*debuginfo.Module{}}
	lines.debug = debug
	switch {
	case d.verbatim >= 0:
		f := d.t.Files[d.verbatim]
		debug.target = f.Debug && says(f, "debug")
	case len(d.files) > 0:
		var modules []*debuginfo.Module
		for _, i := range d.files {
			m := d.module(i, names)
			m.Files = lines.of[i]
			debug.modules[i] = m
			modules = append(modules, m)
		}
		sections, kept, err := debuginfo.Merge(ctx, modules, o.Jobs, log)
		if err != nil {
			return nil, err
		}
		debug.merged = sections
		info := slices.ContainsFunc(sections, func(s debuginfo.Section) bool { return s.Name == ".debug_info" && s.Size > 0 })
		for _, m := range kept {
			debug.target = debug.target || info && says(m.File, "debug")
		}
	}
	if debug.target {
		warnMixed(d.t.Files, log)
	}
	return debug, nil
}

// warnMixed reports which inputs lose optimisation because of the debug information of others:
// ptxas assembles a module with debug in .target unoptimised as a whole. A module with debug itself
// loses nothing, even without DWARF, such as rustc's shims of the allocator.
func warnMixed(files []*object.File, log *diag.Log) {
	with := slices.IndexFunc(files, func(f *object.File) bool { return f.Debug })
	for _, f := range files {
		if f.Debug || says(f, "debug") || !slices.ContainsFunc(f.Decls, func(d ptx.Decl) bool { return d.HasBody }) {
			continue
		}
		has := "no DWARF"
		if f.LineInfo {
			has = "line information but no DWARF"
		}
		log.Warn(diag.DebugMixed, f.At(f.TargetSpan), "this module has "+has+", and is assembled unoptimised because "+files[with].Name+" has some").
			WithHelp("compile all modules with -G, or none" + log.With("-S", "; %s drops debug information"))
	}
}

// says reports whether .target has the word.
func says(f *object.File, word string) bool {
	return slices.ContainsFunc(f.Target, func(o ptx.Option) bool { return o.Word == word })
}

// inlinedName returns the replacement for the label after function_name in a .loc, or "" if the
// label stays. ok is false if the input's .debug_str is not in the output, so that the label cannot
// stay.
func (m *Debug) inlinedName(file int32, loc *ptx.Loc) (text string, ok bool) {
	if file == m.sections.verbatim {
		return "", true
	}
	module := m.modules[file]
	if module == nil {
		return "", false
	}
	return module.String(module.File.Src.String(loc.Function), loc.Addend)
}

func (pl *planner) debugSections(debug *Debug) {
	verbatim := debug.sections.verbatim
	for _, s := range debug.merged {
		var pieces ptx.Pieces
		for _, text := range s.Texts {
			pieces.Own(text)
		}
		pl.addSection(s.Name, pieces)
	}
	if verbatim < 0 {
		return
	}
	f := pl.Table.Files[verbatim]
	list, spellings := debug.sections.names[verbatim], f.SectionNames()
	for _, s := range f.Sections {
		var edits []ptx.Edit
		for _, ref := range s.Refs {
			if n := &list[ref.Name]; n.fate == debuginfo.Kept && n.output(pl.Names) != spellings[ref.Name] {
				edits = append(edits, ptx.Edit{Span: ref.Span, Text: n.output(pl.Names)})
			}
		}
		var pieces ptx.Pieces
		pieces.Copy(f.Src, s.Span, edits...)
		pl.addSection(s.Name, pieces)
	}
}
