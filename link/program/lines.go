package program

import (
	"cmp"
	"slices"
	"sort"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// lineTable is the .file table of the output. Its indexes must be dense from 1, because ptxas
// writes its line table by position and keeps the index in the line program.
type lineTable struct {
	rows  []fileRow
	index map[fileRow]int64
	// of maps, for each input, its file indexes to the indexes in the output.
	of []map[int64]int64
	// editors has an editor for each input whose .loc lines change or may be repeated; nil for the
	// others.
	editors []*ptx.LineEditor
	strip   bool

	// written is nil unless lines may repeat others.
	written *ptx.WrittenLines

	files []*object.File
	debug *Debug // must be set before edits is called
}

// newLineTable numbers the files of all inputs. The input whose DWARF is copied must come first and
// keep its own numbers, with gaps filled, because DW_AT_decl_file refers to them.
func newLineTable(t *resolve.Table, sections *DebugSections, o Options) *lineTable {
	n := len(t.Files)
	l := &lineTable{
		index: map[fileRow]int64{}, of: make([]map[int64]int64, n), editors: make([]*ptx.LineEditor, n),
		strip: o.StripDebug && !o.KeepLines, files: t.Files,
	}
	if l.strip {
		return l
	}
	l.number(sections.verbatim)
	inlines := false
	for i, f := range l.files {
		same := true
		for index, n := range l.of[i] {
			same = same && index == n
		}
		for _, file := range f.Files {
			same = same && file.In < 0
		}
		last := int64(-1)
		for k := range f.Locs {
			loc := &f.Locs[k]
			if loc.File != last { // otherwise the file of the line before
				last = loc.File
				_, known := l.of[i][last]
				same = same && known
			}
			inlines = inlines || loc.Inlining != nil
		}
		if !same {
			l.editors[i] = &ptx.LineEditor{Module: f.Module, Names: fileLines{l, int32(i)}}
		}
	}
	if inlines {
		l.repeatLines()
	}
	return l
}

// repeatLines makes lines appear again if lines are inlined at them and they would be missing.
func (l *lineTable) repeatLines() {
	l.written = &ptx.WrittenLines{}
	for i, f := range l.files {
		if l.editors[i] == nil {
			l.editors[i] = &ptx.LineEditor{Module: f.Module, Names: fileLines{l, int32(i)}}
		}
		l.editors[i].Inlined, l.editors[i].Written = ptx.NewInlinedLines(f.Module), l.written
	}
}

// any reports whether the output has .loc lines, since ptxas must then get -lineinfo.
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

// number assigns the indexes of files. The input keep must keep its own; -1 if there is none.
func (l *lineTable) number(keep int32) {
	var own []ptx.File
	if keep >= 0 {
		own = ownFiles(l.files[keep])
		for _, file := range own {
			for int64(len(l.rows)) < file.Index-1 {
				l.add(fileRow{"<unknown>", -1, -1})
			}
			l.add(rowOf(file))
		}
	}
	for i, f := range l.files {
		list := own
		if int32(i) != keep {
			list = ownFiles(f)
		}
		if len(list) > 0 {
			l.of[i] = make(map[int64]int64, len(list))
		}
		for _, file := range list {
			row := rowOf(file)
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

// ownFiles returns the usable .file directives of an input, sorted by index; the first of each.
func ownFiles(f *object.File) []ptx.File {
	if len(f.Files) == 0 {
		return nil
	}
	list := make([]ptx.File, 0, len(f.Files))
	for _, file := range f.Files {
		if usable(file) {
			list = append(list, file)
		}
	}
	index := func(a, b ptx.File) int { return cmp.Compare(a.Index, b.Index) }
	slices.SortStableFunc(list, index)
	return slices.CompactFunc(list, func(a, b ptx.File) bool { return a.Index == b.Index })
}

// usable reports whether lines can refer to a file: ptxas ignores index 0, and keeps 16 bits of the others.
func usable(file ptx.File) bool { return file.Index > 0 && file.Index <= 65535 }

// rowOf replaces the empty path, because it would corrupt the line table that ptxas writes.
func rowOf(f ptx.File) fileRow { return fileRow{cmp.Or(f.Path, "<unknown>"), f.Time, f.Size} }

func (t *lineTable) add(row fileRow) int64 {
	t.rows = append(t.rows, row)
	n := int64(len(t.rows))
	if _, ok := t.index[row]; !ok {
		t.index[row] = n
	}
	return n
}

// alone reports whether the edits of the lines in a span do not depend on earlier lines of the
// output, so that they can be made in any order.
func (l *lineTable) alone(file int32, span diag.Span) bool {
	return l.written == nil || l.editors[file].SelfContained(span)
}

// edits rewrites the .loc and .file directives in a span of one input. It must be called in the
// order of the output unless the span is alone.
func (l *lineTable) edits(edits []ptx.Edit, file int32, span diag.Span, alone bool) []ptx.Edit {
	f, e := l.files[file], l.editors[file]
	switch {
	case l.strip:
		for first, end := f.LocsIn(span); first < end; first++ {
			edits = append(edits, f.Erase(f.Locs[first].Span))
		}
	case e == nil:
		return edits
	case alone:
		edits = e.Edits(edits, span)
	default:
		edits = e.Next(edits, span)
	}
	own := f.Files // because gcc writes them in bodies, where ptxas refuses them
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

// fileLines gives the lines of one input their names in the output.
type fileLines struct {
	*lineTable
	file int32
}

func (l fileLines) FileIndex(index int64) (n int64, ok bool) {
	n, ok = l.of[l.file][index]
	return n, ok
}

func (l fileLines) InlinedLabel(loc *ptx.Loc) (label string, ok bool) {
	return l.debug.inlinedName(l.file, loc)
}
