package link

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"ptxlink/abicheck"
	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// edit replaces a span of an input. Both sides hold the same number of line
// ends, so that a copied stretch stays in step with its input.
type edit struct {
	span diag.Span
	text string
}

// erase is the edit that removes a span but for its line ends.
func erase(src *diag.Source, span diag.Span) edit {
	return edit{span, strings.Repeat("\n", bytes.Count(src.Bytes(span), []byte{'\n'}))}
}

// writer appends to the output and notes where each stretch comes from.
type writer struct {
	out  []byte
	runs []lineRun
}

// own marks what follows as the linker's own text.
func (w *writer) own() { w.mark(nil, 0, false) }

func (w *writer) mark(src *diag.Source, off int32, fixed bool) {
	if n := len(w.runs); n > 0 && w.runs[n-1].src == nil && src == nil {
		return
	}
	w.runs = append(w.runs, lineRun{out: len(w.out), src: src, off: off, fixed: fixed})
}

func (w *writer) text(s ...string) {
	for _, s := range s {
		w.out = append(w.out, s...)
	}
}

// blank leaves one empty line.
func (w *writer) blank() {
	w.own()
	if !bytes.HasSuffix(w.out, []byte("\n\n")) {
		w.text("\n")
	}
}

// copy appends a span of an input with its edits, which are sorted.
func (w *writer) copy(src *diag.Source, span diag.Span, edits []edit) {
	w.mark(src, span.Off, false)
	w.out = apply(w.out, src.Text, span, edits)
}

// line appends a declaration that is printed afresh, on one line.
func (w *writer) line(src *diag.Source, off int32, parts ...string) {
	w.mark(src, off, true)
	w.text(parts...)
	w.text(";\n")
}

func apply(out, text []byte, span diag.Span, edits []edit) []byte {
	at := span.Off
	for _, e := range edits {
		if e.span.Off < at { // two reasons to change one name: the first will do
			continue
		}
		out = append(out, text[at:e.span.Off]...)
		out = append(out, e.text...)
		at = e.span.End()
	}
	return append(out, text[at:span.End()]...)
}

// emit writes the output that the plan describes.
func (l *linker) emit(p *plan) *writer {
	size := 4096
	for _, f := range l.files {
		size += len(f.Src.Text)
	}
	w := &writer{out: make([]byte, 0, size+size/16)}
	w.own()
	l.emitHeader(w, p)
	for i, row := range l.fileTable.rows {
		w.text(".file\t", itoa(int64(i+1)), " \"", row.path, "\"", row.stamp(), "\n")
	}
	for _, pragma := range p.pragmas {
		w.text(".pragma ", pragma, ";\n")
	}
	for _, s := range p.externs {
		l.emitExtern(w, p, s)
	}
	for _, d := range p.prototypes {
		f := l.files[d.file]
		w.line(f.Src, f.Decls[d.decl].Span.Off, l.linkageWord(d), string(ptx.Compact(l.prototype(p, d))))
	}
	for _, d := range p.forwards {
		f := l.files[d.file]
		decl := &f.Decls[d.decl]
		w.line(f.Src, decl.Span.Off, ".extern ", string(ptx.Compact(l.prefix(p, d))), " ", l.names.Of(object.ID{File: d.file, Name: decl.Name}), shape(decl.Type))
	}
	for _, d := range p.variables {
		l.emitVariable(w, p, d)
	}
	for _, id := range p.aliases {
		l.emitAlias(w, id)
	}
	for i, f := range l.files {
		for _, o := range f.Others {
			w.copy(f.Src, o.Span, l.nameEdits(nil, int32(i), o.FirstUse, o.EndUse))
			w.own()
			w.text("\n")
		}
	}
	for _, d := range p.bodies {
		l.emitBody(w, p, d)
	}
	l.emitSections(w)
	return w
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// emitHeader writes the preamble. fatbinary 12.4 blanks the first line, so it
// holds nothing of value; the record below it survives and is read back.
func (l *linker) emitHeader(w *writer, p *plan) {
	w.text("// Linked by ptxlink\n")
	w.text(object.MetaMark, " address_size=", itoa(int64(p.header.addressSize)))
	host := l.host
	for _, field := range [][2]string{{"os", host.OS}, {"arch", host.Arch}, {"model", host.Model}} {
		if field[1] != "" {
			w.text(" ", field[0], "=", field[1])
		}
	}
	for _, f := range l.files {
		for _, digest := range f.Digests {
			w.text("\n   input=", digest)
		}
	}
	w.text(" */\n")
	options := append([]string{p.header.arch.String()}, p.header.options...)
	if l.debug.target {
		options = append(options, "debug")
	}
	// Where ptxas refuses these two, the input that asks for them is to blame.
	version, target := p.header.versionFile, p.header.arch.file
	w.mark(version.Src, version.VersionSpan.Off, true)
	w.text(".version ", p.header.version.String(), "\n")
	w.mark(target.Src, target.TargetSpan.Off, true)
	w.text(".target ", strings.Join(options, ", "), "\n")
	w.own()
	w.text(".address_size ", itoa(int64(p.header.addressSize)), "\n\n")
}

func (l *linker) linkageWord(d declID) string {
	if linkage := l.linkage(d); linkage != ptx.Local {
		return linkage.String() + " "
	}
	return ""
}

// nameEdits renames the uses in Uses[first:end] of a file.
func (l *linker) nameEdits(edits []edit, file int32, first, end int32) []edit {
	if !l.renamed[file] {
		return edits
	}
	f := l.files[file]
	for _, use := range f.Uses[first:end] {
		if name := l.names.Of(object.ID{File: file, Name: use.Name}); name != f.Names[use.Name] {
			edits = append(edits, edit{f.UseSpan(use), name})
		}
	}
	return edits
}

// headerEdits changes the header of a function: its name, parameter types where
// callers differ, names that debug sections look up.
func (l *linker) headerEdits(p *plan, d declID) []edit {
	f := l.files[d.file]
	decl := &f.Decls[d.decl]
	var edits []edit
	if name := l.names.Of(object.ID{File: d.file, Name: decl.Name}); name != f.Names[decl.Name] {
		edits = append(edits, edit{decl.NameSpan, name})
	}
	if p.untyped[d] {
		for _, list := range [][]ptx.Param{decl.Results, decl.Params} {
			for _, param := range list {
				if bits := ptx.BitType(param.Word); !param.Array && bits != param.Word {
					edits = append(edits, edit{param.WordSpan, bits})
				}
			}
		}
	}
	return edits
}

// prototype is the header of a function as the output declares it ahead.
func (l *linker) prototype(p *plan, d declID) []byte {
	f := l.files[d.file]
	decl := &f.Decls[d.decl]
	return prototype(f, decl, l.localEdits(l.headerEdits(p, d), d, decl.Header))
}

// prototype is the header of a function as a forward declaration repeats it:
// without tuning directives, which ptxas takes on definitions only.
func prototype(f *object.File, decl *ptx.Decl, edits []edit) []byte {
	for _, a := range decl.Attrs {
		if !onPrototype(decl.Kind, a.Word) {
			edits = append(edits, erase(f.Src, a.Span))
		}
	}
	sortEdits(edits)
	return apply(nil, f.Src.Text, decl.Header, edits)
}

func onPrototype(kind ptx.DeclKind, word string) bool {
	return kind == ptx.Func && word != ".pragma" || word == ".attribute"
}

func sortEdits(edits []edit) {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].span.Off < edits[j].span.Off })
}

func (l *linker) emitBody(w *writer, p *plan, d declID) {
	f := l.files[d.file]
	decl := &f.Decls[d.decl]
	span := diag.Span{Off: decl.Header.Off, Len: decl.Body.End() - decl.Header.Off}
	edits := l.headerEdits(p, d)
	if decl.Kind == ptx.Entry {
		for _, pragma := range p.pushed[d.file] {
			edits = append(edits, edit{diag.Span{Off: decl.Header.End()}, " .pragma " + pragma + ";"})
		}
	}
	edits = l.nameEdits(edits, d.file, decl.FirstUse, decl.EndUse)
	if !l.sameFiles[d.file] {
		edits = l.lineEdits(edits, d.file, span.Off, span.End())
	}
	edits = l.localEdits(edits, d, span)
	edits = l.debugNameEdits(edits, d.file, span)
	sortEdits(edits)
	w.blank()
	w.mark(f.Src, span.Off, false)
	w.text(l.linkageWord(d))
	w.out = apply(w.out, f.Src.Text, span, edits)
	w.own()
	w.text("\n")
}

// localEdits renames names inside one function: every token of the spelling that
// is neither a use of a module-scope name nor an opcode.
func (l *linker) localEdits(edits []edit, d declID, span diag.Span) []edit {
	renames := l.locals[d]
	if len(renames) == 0 {
		return edits
	}
	f := l.files[d.file]
	decl := &f.Decls[d.decl]
	uses := f.Uses[decl.FirstUse:decl.EndUse]
	lex := ptx.NewLexer(f.Src.Text[:span.End()], span.Off)
	var before, last ptx.Token
	for t := lex.Next(); t.Kind != ptx.EOF; {
		next := lex.Next()
		for len(uses) > 0 && uses[0].Off < t.Off {
			uses = uses[1:]
		}
		isUse := len(uses) > 0 && uses[0].Off == t.Off || t.Off == decl.NameSpan.Off
		start := last.Kind == ptx.Punct && (last.Ch == ';' || last.Ch == '{' || last.Ch == '}' || last.Ch == ':') || last.Kind == ptx.Number
		predicated := last.Kind == ptx.Ident && before.Kind == ptx.Punct && (before.Ch == '@' || before.Ch == '!')
		opcode := predicated || start && !(next.Kind == ptx.Punct && next.Ch == ':')
		if t.Kind == ptx.Ident && !isUse && !opcode {
			for _, r := range renames {
				// The base of a range stands with its count: x<9>.
				isBase := next.Kind == ptx.Punct && next.Ch == '<'
				name := f.Src.String(t.Span())
				if r.Count >= 0 && name == r.Old && !isBase {
					continue
				}
				if text := r.Rename(name); text != "" {
					edits = append(edits, edit{t.Span(), text})
					break
				}
			}
		}
		before, last, t = last, t, next
	}
	return edits
}

// prefix is the front of a variable statement: space, alignment, type.
func (l *linker) prefix(p *plan, d declID) []byte {
	f := l.files[d.file]
	return withAlign(f.Src, &f.Decls[d.decl], p.align[d], "")
}

// withAlign is the prefix of a variable with a larger alignment and another
// type word, where those are not zero.
func withAlign(src *diag.Source, decl *ptx.Decl, align int64, word string) []byte {
	var edits []edit
	switch {
	case align == 0:
	case decl.AlignSpan.Len > 0:
		edits = append(edits, edit{decl.AlignSpan, itoa(align)})
	default:
		edits = append(edits, edit{diag.Span{Off: decl.SpaceSpan.End()}, " .align " + itoa(align) + " "})
	}
	if word != "" {
		edits = append(edits, edit{decl.WordSpan, word})
	}
	sortEdits(edits)
	return apply(nil, src.Text, decl.Prefix, edits)
}

// shape prints the dimensions of an object as one: [] or [12].
func shape(t ptx.Type) string {
	switch {
	case t.Unsized:
		return "[]"
	case t.Array:
		return "[" + itoa(t.Count) + "]"
	}
	return ""
}

func (l *linker) emitVariable(w *writer, p *plan, d declID) {
	f := l.files[d.file]
	decl := &f.Decls[d.decl]
	w.mark(f.Src, decl.Prefix.Off, true)
	w.text(l.linkageWord(d))
	w.out = append(w.out, ptx.Compact(l.prefix(p, d))...)
	w.text(" ")
	var edits []edit
	if name := l.names.Of(object.ID{File: d.file, Name: decl.Name}); name != f.Names[decl.Name] {
		edits = append(edits, edit{decl.NameSpan, name})
	}
	edits = l.nameEdits(edits, d.file, decl.FirstUse, decl.EndUse)
	w.copy(f.Src, decl.Declared, edits)
	w.text(";\n")
}

// emitExtern declares a symbol that stays open, once: ptxas 11.8 takes no
// second .extern of a variable, and no two prototypes that differ in a word.
func (l *linker) emitExtern(w *writer, p *plan, s *resolve.Symbol) {
	best := -1
	var decl *ptx.Decl
	for i, id := range s.Mentions {
		if d := l.files[id.File].DeclOf(id.Name); d != nil && (decl == nil || saysMore(d, decl)) {
			best, decl = i, d
		}
	}
	if decl == nil {
		return
	}
	id := s.Mentions[best]
	f := l.files[id.File]
	if decl.Kind == ptx.Variable {
		align, by := abicheck.Alignment(l.table, s)
		if by < 0 || align <= decl.Alignment() {
			align = 0
		}
		word := ""
		for _, other := range s.Mentions {
			if d := l.files[other.File].DeclOf(other.Name); d != nil && d.Unsized && d.Word != decl.Word {
				word = ".b8"
			}
		}
		if !decl.Unsized {
			word = ""
		}
		w.line(f.Src, decl.Span.Off, ".extern ", string(ptx.Compact(withAlign(f.Src, decl, align, word))), " ", s.Name, string(ptx.Compact(f.Src.Text[decl.NameSpan.End():decl.Declared.End()])))
		return
	}
	at := declID{id.File, f.Symbols[id.Name].Decl}
	if l.wordsDiffer(s, decl) {
		p.untyped[at] = true
	}
	text := l.prototype(p, at)
	if decl.Has(".noreturn") && !l.allHave(s, ".noreturn") {
		text = bytes.Replace(text, []byte(".noreturn"), nil, 1)
	}
	w.line(f.Src, decl.Span.Off, ".extern ", string(ptx.Compact(text)))
}

// saysMore says whether the extern declaration a is to stand for b too: the
// larger size, but where one module leaves the size of shared memory to the
// launch, the launch decides.
func saysMore(a, b *ptx.Decl) bool {
	switch {
	case a.Kind != ptx.Variable || b.Kind != ptx.Variable:
		return false
	case a.Unsized != b.Unsized:
		return a.Unsized == (a.Space == ".shared")
	}
	return a.Size() > b.Size()
}

func (l *linker) allHave(s *resolve.Symbol, attr string) bool {
	for _, id := range s.Mentions {
		if d := l.files[id.File].DeclOf(id.Name); d != nil && !d.Has(attr) {
			return false
		}
	}
	return true
}

// emitAlias flattens an alias of an alias, on which ptxas -c breaks.
func (l *linker) emitAlias(w *writer, id object.ID) {
	f := l.files[id.File]
	a := f.Aliases[f.Symbols[id.Name].Alias]
	target := a.Target
	for range f.Aliases {
		if f.Symbols[target].Def >= 0 || f.Symbols[target].Alias < 0 {
			break
		}
		target = f.Aliases[f.Symbols[target].Alias].Target
	}
	w.line(f.Src, a.Span.Off, ".alias ", l.names.Of(id), ", ", l.names.Of(object.ID{File: id.File, Name: target}))
}
