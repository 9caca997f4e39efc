package link

import (
	"context"

	"ptxlink/abicheck"
	"ptxlink/internal/diag"
	"ptxlink/link/debuginfo"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// debugPlan is what becomes of the debug sections.
type debugPlan struct {
	// verbatim is the one input whose sections are copied as they are, -1 if
	// there is none or several.
	verbatim int
	modules  map[int]*debuginfo.Module // of several inputs, those that keep theirs
	sections []debuginfo.Section       // merged
	target   bool                      // .target carries debug

	// names are the labels, locals and parameters of each file that debug
	// sections look up and another input has too, with their output names.
	names map[int32]map[string]string
	// local says which function of a file declares such a name first; ptxas
	// takes that one too. Nil until somebody asks.
	local map[int32]map[string]int32
	count map[string]int // in how many files a name is declared inside functions
}

// chooseDebug finds the inputs with debug sections. The sections of a single one
// are copied, those of several merged.
func (l *linker) chooseDebug() {
	l.debug = debugPlan{verbatim: -1, modules: map[int]*debuginfo.Module{}, names: map[int32]map[string]string{}}
	if l.options.StripDebug {
		return
	}
	last := -1
	for i, f := range l.files {
		if len(f.Sections) > 0 {
			l.debug.modules[i] = nil
			last = i
		}
	}
	if len(l.debug.modules) == 1 && l.debugModule(last).Check(l.log) {
		l.debug.verbatim = last
	}
}

// mergeDebug merges the debug sections. The .file table is known by now.
func (l *linker) mergeDebug(ctx context.Context) error {
	switch {
	case l.debug.verbatim >= 0:
		l.debug.target = says(l.files[l.debug.verbatim], "debug")
	case len(l.debug.modules) > 1:
		var modules []*debuginfo.Module
		for i := range l.files {
			if _, ok := l.debug.modules[i]; !ok {
				continue
			}
			l.debug.modules[i] = l.debugModule(i)
			l.debug.modules[i].Files = l.fileTable.of[i]
			modules = append(modules, l.debug.modules[i])
		}
		var kept []*debuginfo.Module
		var err error
		if l.debug.sections, kept, err = debuginfo.Merge(ctx, modules, l.log); err != nil {
			return err
		}
		info := false
		for _, s := range l.debug.sections {
			info = info || s.Name == ".debug_info" && len(s.Bytes) > 0
		}
		for i, m := range l.debug.modules {
			if !contains(kept, m) {
				delete(l.debug.modules, i)
			} else if info && says(m.File, "debug") {
				l.debug.target = true
			}
		}
	}
	l.warnMixed()
	return nil
}

func (l *linker) debugModule(file int) *debuginfo.Module {
	return &debuginfo.Module{File: l.files[file], Name: func(name string) (string, debuginfo.Fate) {
		return l.debugName(int32(file), name)
	}}
}

// warnMixed says which inputs lose optimisation to the debug information of
// others: ptxas assembles a module with debug in .target unoptimised as a whole.
func (l *linker) warnMixed() {
	if !l.debug.target {
		return
	}
	var with *object.File
	for _, f := range l.files {
		if f.Debug && with == nil {
			with = f
		}
	}
	for _, f := range l.files {
		if f.Debug {
			continue
		}
		for d := range f.Decls {
			if f.Decls[d].HasBody {
				l.log.Warn(diag.DebugMixed, f.At(f.TargetSpan), "this module has no debug information, and is assembled unoptimised because "+with.Name+" has").
					WithHelp("-S drops debug information; or link the two apart")
				break
			}
		}
	}
}

// says reports whether .target carries the word.
func says(f *object.File, word string) bool {
	for _, o := range f.Target {
		if o.Word == word {
			return true
		}
	}
	return false
}

// debugName is what a name in the debug sections of a file is called in the
// output.
//
//  1. A module-scope name follows its symbol.
//  2. A name inside a function gets a name of its own if another input has it
//     too: ptxas looks it up by its bare spelling over the whole module.
//  3. Inside a body that lost to another one with the same text, it is the
//     name in that body, as nvlink has it. If the text differs it is gone, and
//     the function that was kept is named instead.
func (l *linker) debugName(file int32, name string) (string, debuginfo.Fate) {
	f := l.files[file]
	if id, ok := f.Lookup(name); ok {
		s := l.table.Of(object.ID{File: file, Name: id})
		if s >= 0 && !l.table.Symbols[s].Defined() && !l.table.Symbols[s].Open {
			return "", debuginfo.Gone
		}
		return l.names.Of(object.ID{File: file, Name: id}), debuginfo.Kept
	}
	l.findLocals()
	d, ok := l.debug.local[file][name]
	if !ok {
		return "", debuginfo.Unknown
	}
	decl := &f.Decls[d]
	id := object.ID{File: file, Name: decl.Name}
	if l.table.Wins(id) {
		return l.localName(file, name), debuginfo.Kept
	}
	winner := l.table.Symbols[l.table.Of(id)].Def
	other := l.files[winner.File]
	def := other.Symbols[winner.Name].Def
	if def < 0 {
		return "", debuginfo.Gone
	}
	kept := l.names.Of(winner)
	names, same := abicheck.SameBody(l.table, file, decl, winner.File, &other.Decls[def])
	if !same {
		return kept, debuginfo.Gone
	}
	for i := range decl.Params { // not in the body, perhaps
		names[f.Src.String(decl.Params[i].NameSpan)] = other.Src.String(other.Decls[def].Params[i].NameSpan)
	}
	if names[name] == "" {
		return kept, debuginfo.Gone
	}
	return l.localName(winner.File, names[name]), debuginfo.Kept
}

// localName is the output name of a name inside a function.
func (l *linker) localName(file int32, name string) string {
	for _, r := range l.locals[declID{file, l.debug.local[file][name]}] {
		if r.Count < 0 && r.Old == name {
			return r.New
		}
	}
	if l.debug.count[name] < 2 {
		return name
	}
	if l.debug.names[file] == nil {
		l.debug.names[file] = map[string]string{}
	}
	if l.debug.names[file][name] == "" {
		l.debug.names[file][name] = l.names.Unused(name)
	}
	return l.debug.names[file][name]
}

// findLocals lists the names that functions declare, over all files.
func (l *linker) findLocals() {
	if l.debug.local != nil {
		return
	}
	l.debug.local, l.debug.count = map[int32]map[string]int32{}, map[string]int{}
	for i, f := range l.files {
		names := map[string]int32{}
		for d := range f.Decls {
			if !f.Decls[d].HasBody {
				continue
			}
			f.LocalNames(&f.Decls[d], func(span diag.Span) {
				name := f.Src.String(span)
				if _, ok := names[name]; !ok {
					names[name] = int32(d)
					l.debug.count[name]++
				}
			})
		}
		l.debug.local[int32(i)] = names
	}
}

// debugNameEdits renames inside one function what debug sections look up.
func (l *linker) debugNameEdits(edits []edit, file int32, span diag.Span) []edit {
	names := l.debug.names[file]
	if len(names) == 0 {
		return edits
	}
	f := l.files[file]
	lex := ptx.NewLexer(f.Src.Text[:span.End()], span.Off)
	for t := lex.Next(); t.Kind != ptx.EOF; t = lex.Next() {
		if t.Kind != ptx.Ident {
			continue
		}
		if name := names[f.Src.String(t.Span())]; name != "" {
			edits = append(edits, edit{t.Span(), name})
		}
	}
	return edits
}

// inlinedName rewrites the label behind function_name in the tail of a .loc; ok
// is false if the input's .debug_str is not in the output.
func (l *linker) inlinedName(file int32, tail diag.Span) (e edit, ok bool) {
	if int(file) == l.debug.verbatim {
		return edit{}, true
	}
	m := l.debug.modules[int(file)]
	if m == nil {
		return edit{}, false
	}
	f := l.files[file]
	lex := ptx.NewLexer(f.Src.Text[:tail.End()], tail.Off)
	lex.Next() // the comma
	lex.Next() // function_name
	label := lex.Next()
	span, addend := label.Span(), int64(0)
	if plus := lex.Next(); plus.Kind == ptx.Punct && plus.Ch == '+' {
		number := lex.Next()
		addend, _ = ptx.ParseInt(f.Src.String(number.Span()))
		span.Len = number.End - span.Off
	}
	text, ok := m.String(f.Src.String(label.Span()), addend)
	return edit{span, text}, ok
}

// emitSections writes the debug sections.
func (l *linker) emitSections(w *writer) {
	for i := range l.debug.sections {
		w.blank()
		w.text(string(l.debug.sections[i].Text()))
	}
	if l.debug.verbatim < 0 {
		return
	}
	f := l.files[l.debug.verbatim]
	for _, s := range f.Sections {
		var edits []edit
		for _, ref := range s.Refs {
			name := f.Src.String(ref)
			text := ""
			if _, local := l.debug.local[int32(l.debug.verbatim)][name]; local {
				text = l.localName(int32(l.debug.verbatim), name)
			}
			if id, ok := f.Lookup(name); ok {
				text = l.names.Of(object.ID{File: int32(l.debug.verbatim), Name: id})
			}
			if text != "" && text != name {
				edits = append(edits, edit{ref, text})
			}
		}
		w.blank()
		w.copy(f.Src, s.Span, edits)
		w.own()
		w.text("\n")
	}
}
