package link

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// lineTable is the .file table of the output. Its indexes are dense from 1, because
// ptxas writes its line table by position and keeps the index in the line program.
type lineTable struct {
	rows  []fileRow
	index map[fileRow]int64
	// of maps, for each input, its file indexes to those of the output.
	of []map[int64]int64
	// same marks the inputs whose .loc lines stay unchanged.
	same   []bool
	strip  bool
	warned []bool // by input: a missing .file has been reported
	// inlines is set if a line is inlined at another. Then written holds the places
	// of all lines so far, with file indexes of the output, and inlined the lines of each
	// input.
	inlines bool
	written map[ptx.LocPlace]bool
	inlined map[int32]*ptx.InlinedLines

	// ordered is set if the lines must be rewritten in the order of the output: a line
	// may repeat others, or warn.
	ordered bool

	files []*object.File
	log   *diag.Log
}

// newLineTable numbers the files of all inputs. The input whose DWARF is copied
// comes first and keeps its own numbers, with gaps filled, because DW_AT_decl_file
// refers to them.
func newLineTable(t *resolve.Table, debug *debugSections, o Options, log *diag.Log) *lineTable {
	n := len(t.Files)
	flags := make([]bool, 2*n)
	l := &lineTable{
		index: map[fileRow]int64{}, of: make([]map[int64]int64, n), same: flags[:n], warned: flags[n:],
		strip: o.StripDebug && !o.KeepLines, files: t.Files, log: log,
	}
	l.number(debug.verbatim)
	for i, f := range l.files {
		same := true
		for index, n := range l.of[i] {
			same = same && index == n
		}
		for _, file := range f.Files {
			same = same && file.In < 0
		}
		last, known := int64(0), false
		for k := range f.Locs {
			loc := &f.Locs[k]
			if loc.File != last || k == 0 { // else that of the line before
				last = loc.File
				_, known = l.of[i][last]
				same = same && known
				l.ordered = l.ordered || !known
			}
			if loc.Inlining != nil {
				_, known := l.of[i][loc.InlinedAt.File]
				same = same && known && int32(i) == debug.verbatim
				l.inlines = !l.strip
			}
		}
		l.same[i] = same
	}
	if l.inlines {
		l.written, l.inlined = map[ptx.LocPlace]bool{}, map[int32]*ptx.InlinedLines{}
	}
	l.ordered = (l.ordered || l.inlines) && !l.strip
	return l
}

// any reports whether the output has .loc lines.
func (l *lineTable) any() bool {
	for i, f := range l.files {
		if f.LineInfo && len(l.of[i]) > 0 {
			return true
		}
	}
	return false
}

type fileRow struct {
	path       string
	time, size int64
}

// stamp returns the text after the path: the time and size of the file, if given.
func (r fileRow) stamp() string {
	switch {
	case r.time < 0:
		return ""
	case r.size < 0:
		return ", " + itoa(r.time)
	}
	return ", " + itoa(r.time) + ", " + itoa(r.size)
}

// number assigns the indexes of files. keep is the input that keeps its own; -1 if
// there is none.
func (l *lineTable) number(keep int32) {
	for i := range l.of {
		if len(l.files[i].Files) > 0 {
			l.of[i] = map[int64]int64{}
		}
	}
	if l.strip {
		return
	}
	var own []ownFile
	if keep >= 0 {
		own = l.ownFiles(l.files[keep])
		l.addExact(own)
	}
	for i, f := range l.files {
		list := own
		if int32(i) != keep {
			list = l.ownFiles(f)
		}
		for _, file := range list {
			row := rowOf(file.Path, file.Time, file.Size)
			n, ok := l.index[row]
			if !ok {
				n = l.add(row)
			}
			if int32(i) == keep {
				n = file.Index
			}
			l.of[i][file.Index] = n
		}
	}
}

// ownFile is a .file of one input.
type ownFile struct {
	Index      int64
	Path       string
	Time, Size int64
}

// ownFiles returns the usable .file directives of an input, sorted by index. ptxas
// ignores index 0, and keeps 16 bits of the others.
func (l *lineTable) ownFiles(f *object.File) []ownFile {
	if len(f.Files) == 0 {
		return nil
	}
	list := make([]ownFile, 0, len(f.Files))
	seen := map[int64]diag.Span{}
	for _, file := range f.Files {
		if file.Index <= 0 || file.Index > 65535 {
			continue
		}
		if first, ok := seen[file.Index]; ok {
			if f.Src.String(first) != f.Src.String(file.Span) {
				l.log.Error(diag.FileIndex, f.At(file.Span), fmt.Sprintf("file index %d is used twice", file.Index)).
					Note(f.At(first), "first given here")
			}
			continue
		}
		seen[file.Index] = file.Span
		if strings.ContainsFunc(file.Path, func(r rune) bool { return r > unicode.MaxASCII }) {
			l.log.Warn(diag.FileName, f.At(file.Span), "ptxas 12.4 crashes on a file name that is not ASCII, and ptxas 13 refuses it").
				WithHelp("compile the source under another name")
		}
		list = append(list, ownFile{file.Index, file.Path, file.Time, file.Size})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Index < list[j].Index })
	return list
}

// rowOf replaces the empty path, which corrupts the line table that ptxas
// writes.
func rowOf(path string, time, size int64) fileRow {
	if path == "" {
		path = "<unknown>"
	}
	return fileRow{path, time, size}
}

func (t *lineTable) add(row fileRow) int64 {
	t.rows = append(t.rows, row)
	n := int64(len(t.rows))
	if _, ok := t.index[row]; !ok {
		t.index[row] = n
	}
	return n
}

func (t *lineTable) addExact(files []ownFile) {
	for _, file := range files {
		for int64(len(t.rows)) < file.Index-1 {
			t.add(fileRow{"<unknown>", -1, -1})
		}
		t.add(rowOf(file.Path, file.Time, file.Size))
	}
}

// edits rewrites the .loc and .file directives in a span of one input. If the lines are
// ordered, it must be called in the order of the output; if not, from several goroutines.
func (l *lineTable) edits(edits []ptx.Edit, file int32, span diag.Span, debug *mergedDebug) []ptx.Edit {
	if l.same[file] && !l.inlines {
		return edits
	}
	f := l.files[file]
	first, end := f.LocsIn(span)
	edits = slices.Grow(edits, end-first)
	var s speller
	for i := first; i < end; i++ {
		if l.inlines {
			if text := l.missing(file, i, i == first, debug); text != "" {
				edits = append(edits, ptx.Edit{Span: diag.Span{Off: f.Locs[i].Span.Off}, Text: text})
			}
		}
		if !l.same[file] {
			edits = l.line(edits, file, i, debug, &s)
		}
		if l.inlines {
			l.write(file, i)
		}
	}
	own := f.Files // gcc writes them in bodies, where ptxas does not accept them
	for _, own := range own[sort.Search(len(own), func(i int) bool { return own[i].Span.Off >= span.Off }):] {
		if own.Span.Off >= span.End() {
			break
		}
		if own.In >= 0 {
			edits = append(edits, f.Erase(own.Span))
		}
	}
	return edits
}

// speller returns the text of an index. Most lines have that of the line before them.
type speller struct {
	index int64
	text  string
}

func (s *speller) spell(index int64) string {
	if index != s.index {
		s.index, s.text = index, itoa(index)
	}
	return s.text
}

// line rewrites one .loc. It drops the .loc if the module does not declare the file,
// because in the merged table the number may belong to another module's file.
func (l *lineTable) line(edits []ptx.Edit, file int32, i int, debug *mergedDebug, s *speller) []ptx.Edit {
	f, loc := l.files[file], &l.files[file].Locs[i]
	if l.strip {
		return append(edits, f.Erase(loc.Span))
	}
	n, ok := l.of[file][loc.File]
	if !ok {
		l.warnUndeclared(file, loc.FileSpan)
		return append(edits, f.Erase(loc.Span))
	}
	if n != loc.File {
		edits = append(edits, ptx.Edit{Span: loc.FileSpan, Text: s.spell(n)})
	}
	if loc.Inlining == nil {
		return edits
	}
	m, name, ok := l.inlinedAt(file, loc, debug)
	if !ok {
		return append(edits, f.Erase(loc.Tail))
	}
	if name != "" {
		edits = append(edits, ptx.Edit{Span: loc.FunctionSpan, Text: name})
	}
	if m != loc.InlinedAt.File {
		edits = append(edits, ptx.Edit{Span: loc.Inlined, Text: s.spell(m)})
	}
	return edits
}

// inlinedAt returns the output index of the file that a line is inlined at, and the
// replacement for the label of the function, which is a label in .debug_str. ok is
// false if one of them is not in the output.
func (l *lineTable) inlinedAt(file int32, loc *ptx.Loc, debug *mergedDebug) (n int64, name string, ok bool) {
	n, known := l.of[file][loc.InlinedAt.File]
	name, kept := debug.inlinedName(file, loc)
	return n, name, known && kept
}

// missing returns the lines that a line is inlined at and that are not in the output yet:
// their body was dropped, or comes later. first is set if the line is the first of its body.
func (l *lineTable) missing(file int32, i int, first bool, debug *mergedDebug) string {
	if l.inlined[file] == nil {
		l.inlined[file] = ptx.NewInlinedLines(l.files[file].Module)
	}
	chain := l.inlined[file].Missing(i, func(loc *ptx.Loc) bool {
		n, _, ok := l.inlinedAt(file, loc, debug)
		return !ok || l.written[ptx.LocPlace{File: n, Line: loc.InlinedAt.Line, Column: loc.InlinedAt.Column}]
	})
	if len(chain) == 0 {
		return ""
	}
	var at *ptx.LocPlace
	if first {
		loc := l.files[file].Locs[i].LocPlace
		at = &ptx.LocPlace{File: l.of[file][loc.File], Line: loc.Line, Column: loc.Column}
	}
	var s speller
	text := l.inlined[file].Repeat(chain, at, func(i int) []ptx.Edit { return l.line(nil, file, i, debug, &s) })
	for _, i := range chain {
		l.write(file, i)
	}
	return text
}

// write records that a line is in the output.
func (l *lineTable) write(file int32, i int) {
	place := l.files[file].Locs[i].LocPlace
	if n, ok := l.of[file][place.File]; ok {
		place.File = n
		l.written[place] = true
	}
}

func (l *lineTable) warnUndeclared(file int32, span diag.Span) {
	if l.warned[file] {
		return
	}
	l.warned[file] = true
	f := l.files[file]
	l.log.Warn(diag.Loc, f.At(span), "no .file "+f.Src.String(span)+" in this module; its .loc lines are dropped")
}
