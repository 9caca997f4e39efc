package partition

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Part is one module for ptxas -c.
type Part struct {
	Text []byte
	// Lines maps its lines to places in the linked module.
	Lines *ptx.LineMap
	// Names are the functions and entries that the part defines.
	Names []string
	// Setting is the Options.Setting that its functions share.
	Setting string
	// Exposed are the names without linkage that are .visible here, because other parts use them.
	Exposed []string
}

// Line returns the line of the linked module that a line of the part comes from; 0 if the linker
// wrote it.
func (p *Part) Line(line int) int {
	place, ok := p.Lines.Origin(line)
	if !ok {
		return 0
	}
	return place.Source.Line(place.Span.Off)
}

// Cut cuts the module into parts. Each function and variable is defined in one part and declared
// .extern in the others that refer to it; small functions without linkage may be copied instead
// (findCopies). Definitions without linkage become .visible if other parts refer to them; this is
// safe because names are unique in a linked module. A part holds only the names that it refers to,
// and its own table of files, so that it does not change with the others. The module must have
// passed Check.
func (p *Program) Cut(o Options) []*Part {
	m := p.Module
	c := &cutter{Program: p, inlined: ptx.NewInlinedLines(m)}
	c.home = c.assign(o)
	c.findCopies()
	parts := c.number()
	if parts <= 1 {
		whole := ptx.Pieces{{Src: m.Src, Span: diag.Span{Len: int32(len(m.Src.Text))}}}
		names, setting := c.contents(-1)
		return []*Part{{Text: m.Src.Text, Lines: whole.Map(m.Src.Text, nil), Names: names, Setting: setting}}
	}
	c.placeVariables()
	c.findUsers(parts)
	list := make([]*Part, parts)
	for i := range list {
		list[i] = c.write(int32(i))
	}
	return list
}

// Empty returns a module with only the header of the program.
func (p *Program) Empty() *Part {
	w := &partWriter{cutter: &cutter{Program: p}}
	w.header()
	return w.finish()
}

type cutter struct {
	*Program
	unit, setting []string  // by declaration, of functions
	home          []int32   // the part of each definition, by declaration
	callers       [][]int32 // the functions whose parts have a copy, by declaration
	// needs has the names that each part refers to, for which it needs declarations.
	needs []map[ptx.NameID]bool
	// crosses is set for the definitions that other parts refer to, which must be visible.
	crosses []bool
	inlined *ptx.InlinedLines
}

// number numbers the parts without gaps, since some may have no functions, and returns how many
// there are.
func (c *cutter) number() int {
	var parts []int32
	for _, f := range c.functions {
		parts = append(parts, c.home[f])
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	for _, f := range c.functions {
		i, _ := slices.BinarySearch(parts, c.home[f])
		c.home[f] = int32(i)
	}
	return len(parts)
}

// contents returns the names of the functions in a part, or of all functions if part is negative,
// and the setting that they share.
func (c *cutter) contents(part int32) (names []string, setting string) {
	for _, f := range c.functions {
		if part < 0 || c.in(f, part) {
			names, setting = append(names, c.Names[c.Decls[f].Name]), c.setting[f]
		}
	}
	return names, setting
}

// placeVariables gives each variable a part: a part that uses it, chosen by the name, otherwise the
// first part. Users must be placed before the variables they use. A variable comes after the
// variables that its initialiser uses, so going backwards does this, except in cycles.
func (c *cutter) placeVariables() {
	users := make([][]int32, len(c.Decls)) // parts
	add := func(decl int32) {
		for _, to := range c.uses(decl) {
			for _, part := range c.parts(decl) {
				if !slices.Contains(users[to], part) {
					users[to] = append(users[to], part)
				}
			}
		}
	}
	for _, f := range c.functions {
		add(f)
	}
	for i := range slices.Backward(c.Decls) {
		d := &c.Decls[i]
		if d.Kind != ptx.Variable || c.define[d.Name] != int32(i) {
			continue
		}
		if len(users[i]) == 0 {
			users[i] = []int32{0}
		}
		h := hash(c.Names[d.Name])
		c.home[i] = slices.MaxFunc(users[i], func(a, b int32) int {
			return cmp.Compare(preference(h, a), preference(h, b))
		})
		add(int32(i))
	}
}

func (c *cutter) findUsers(parts int) {
	c.needs = make([]map[ptx.NameID]bool, parts)
	for i := range c.needs {
		c.needs[i] = map[ptx.NameID]bool{}
	}
	c.crosses = make([]bool, len(c.Decls))
	for i := range c.Decls {
		d := &c.Decls[i]
		for _, part := range c.parts(int32(i)) {
			for _, u := range c.Uses[d.FirstUse:d.EndUse] {
				c.needs[part][u.Name] = true
				if to := c.define[u.Name]; to >= 0 && !c.in(to, part) {
					c.crosses[to] = true
				}
			}
		}
	}
}

type partWriter struct {
	*cutter
	Part
	pieces ptx.Pieces
	part   int32
	lines  *ptx.LineEditor
	used   map[int64]bool  // files that its lines use
	files  map[int64]int64 // the new index of each used file
	labels map[string]bool // labels of .debug_str that its lines use
	// wholeNames is set if a line refers to a name by an offset, since the section must then stay
	// whole.
	wholeNames bool
}

func (c *cutter) write(part int32) *Part {
	w := &partWriter{cutter: c, part: part, used: map[int64]bool{}, files: map[int64]int64{}, labels: map[string]bool{}}
	w.findNames()
	w.Names, w.Setting = c.contents(part)
	w.header()
	w.fileTable()
	w.lines = w.editor()
	for _, pragma := range c.Pragmas {
		w.copy(pragma.Span)
	}
	body := slices.IndexFunc(c.Decls, func(d ptx.Decl) bool { return d.HasBody })
	for i := range c.Decls {
		d := &c.Decls[i]
		if i == body { // since the targets of aliases have been declared
			w.aliases()
		}
		def := c.define[d.Name]
		switch {
		case def >= 0 && c.in(def, part):
			w.declaration(d)
		case c.needs[part][d.Name]:
			// Another part defines it, or the module does not.
			w.pieces.Line(c.Src, d.NameSpan.Off, ".extern "+c.Declaration(d, c.Names[d.Name]))
			delete(c.needs[part], d.Name)
		}
	}
	w.inlinedNames()
	return w.finish()
}

func (w *partWriter) finish() *Part {
	w.Text, w.Part.Lines = w.pieces.Text()
	return &w.Part
}

func (w *partWriter) header() {
	w.copy(w.VersionSpan)
	w.copy(w.TargetSpan)
	w.copy(w.AddressSpan)
}

func (w *partWriter) copy(span diag.Span, edits ...ptx.Edit) { w.pieces.Copy(w.Src, span, edits...) }

// editor returns a new editor that rewrites the lines of this part, starting at the first.
func (w *partWriter) editor() *ptx.LineEditor {
	return &ptx.LineEditor{Module: w.Module, Names: w, Inlined: w.inlined, Written: &ptx.WrittenLines{}}
}

// FileIndex returns the index of a file in this part. It notes that the file is used.
func (w *partWriter) FileIndex(index int64) (n int64, ok bool) {
	w.used[index] = true
	if n, ok = w.files[index]; ok {
		return n, true
	}
	return index, true
}

// InlinedLabel notes that the name of a function is used.
func (w *partWriter) InlinedLabel(l *ptx.Loc) (label string, ok bool) {
	name := w.Src.String(l.Function)
	w.labels[name] = true
	w.wholeNames = w.wholeNames || l.Addend != 0 || name == ".debug_str"
	return "", true
}

// findNames finds the files and the names of functions that the lines of this part use. Its lines
// are the lines of its bodies, and lines of other parts at which these are inlined.
func (w *partWriter) findNames() {
	lines := w.editor()
	for i := range w.Decls {
		if d := &w.Decls[i]; d.HasBody && w.in(int32(i), w.part) {
			lines.Next(nil, d.Body)
		}
	}
}

// fileTable writes the files of the lines in this part. They must be numbered from 1 without gaps,
// because ptxas writes its table by position.
func (w *partWriter) fileTable() {
	m := w.Module
	for _, f := range m.Files {
		if !w.used[f.Index] {
			continue
		}
		w.files[f.Index] = int64(len(w.files) + 1)
		text := m.Src.Bytes(f.Span)
		number := bytes.IndexAny(text, "0123456789")
		rest := bytes.TrimLeft(text[number:], "0123456789")
		at := diag.Span{Off: f.Span.Off + int32(number), Len: int32(len(text) - number - len(rest))}
		w.copy(f.Span, ptx.Edit{Span: at, Text: strconv.FormatInt(w.files[f.Index], 10)})
	}
}

func (w *partWriter) declaration(d *ptx.Decl) {
	linkage := d.Linkage
	if linkage == ptx.Local && w.crosses[w.define[d.Name]] {
		linkage = ptx.Visible
		w.Exposed = append(w.Exposed, w.Module.Names[d.Name])
	}
	piece := ptx.Piece{Src: w.Src, Text: linkage.Word(), After: true}
	if d.Kind == ptx.Variable {
		piece.Text += string(ptx.Compact(w.Src.Bytes(d.Prefix))) + " "
		piece.Span = d.Declared
		piece.Edits = []ptx.Edit{{Span: diag.Span{Off: d.Declared.End()}, Text: ";"}}
	} else {
		piece.Span = diag.Span{Off: d.Header.Off, Len: d.Span.End() - d.Header.Off}
		piece.Edits = w.lines.Next(nil, d.Body)
	}
	w.pieces.Add(piece)
}

func (w *partWriter) aliases() {
	for _, a := range w.Aliases {
		if def := w.define[a.Name]; def >= 0 && w.home[def] == w.part {
			w.copy(a.Span)
		}
	}
}

// inlinedNames writes only the strings of .debug_str that the lines of this part refer to.
func (w *partWriter) inlinedNames() {
	if len(w.labels) == 0 {
		return
	}
	for _, s := range w.Sections {
		if w.wholeNames {
			w.copy(s.Span)
			continue
		}
		w.pieces.Own(".section " + s.Name + " {\n")
		for k, label := range s.Labels {
			end := s.Body.End()
			if k+1 < len(s.Labels) {
				end = s.Labels[k+1].Off
			}
			if w.labels[w.Src.String(label)] {
				w.copy(diag.Span{Off: label.Off, Len: end - label.Off})
			}
		}
		w.pieces.Own("}\n")
	}
}
