package link

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// lineTable is the .file table of the output: dense from 1, since ptxas writes
// its line table by position and keeps the index in the line program.
type lineTable struct {
	rows  []fileRow
	index map[fileRow]int64
	// of maps, per input, the input's index to the output's.
	of []map[int64]int64
	// same marks the inputs whose .loc lines need no change at all.
	same   []bool
	strip  bool
	warned []bool // by input: a .file that is not there has been reported

	files []*object.File
	log   *diag.Log
}

// newLineTable numbers the files of all inputs. The input whose DWARF is copied
// goes first and keeps its own numbers, gaps filled, because DW_AT_decl_file
// refers to them.
func newLineTable(t *resolve.Table, debug *debugSections, o Options, log *diag.Log) *lineTable {
	n := len(t.Files)
	l := &lineTable{
		index: map[fileRow]int64{}, of: make([]map[int64]int64, n), same: make([]bool, n), warned: make([]bool, n),
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
		for k := 0; same && k < len(f.Locs); k++ {
			loc := &f.Locs[k]
			_, known := l.of[i][loc.File]
			_, knownInlined := l.of[i][loc.InlinedAt]
			same = known && (loc.Tail.Len == 0 || knownInlined && int32(i) == debug.verbatim)
		}
		l.same[i] = same
	}
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

// stamp is what follows the path: the time and size of the file, where given.
func (r fileRow) stamp() string {
	switch {
	case r.time < 0:
		return ""
	case r.size < 0:
		return ", " + itoa(r.time)
	}
	return ", " + itoa(r.time) + ", " + itoa(r.size)
}

// number gives each file its index; keep is the input that keeps its own, -1 if
// there is none.
func (l *lineTable) number(keep int32) {
	for i := range l.of {
		l.of[i] = map[int64]int64{}
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

// ownFiles are the usable .file directives of an input by their index. ptxas
// drops index 0, and keeps 16 bits of the others.
func (l *lineTable) ownFiles(f *object.File) []ownFile {
	list := make([]ownFile, 0, len(f.Files))
	seen := map[int64]diag.Span{}
	for _, file := range f.Files {
		if file.Index <= 0 || file.Index > 65535 {
			continue
		}
		if first, ok := seen[file.Index]; ok {
			if f.Src.String(first) != f.Src.String(file.Span) {
				l.log.Error(diag.FileIndex, f.At(file.Span), fmt.Sprintf("file index %d is given twice", file.Index)).
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

// edits rewrites the .loc and .file directives in a span of one input. A .loc
// of a file that its module never declared is dropped: in the merged table the
// number may be another module's file.
func (l *lineTable) edits(edits []ptx.Edit, file int32, span diag.Span, debug *mergedDebug) []ptx.Edit {
	if l.same[file] {
		return edits
	}
	f := l.files[file]
	mapping := l.of[file]
	locs := f.Locs
	locs = locs[sort.Search(len(locs), func(i int) bool { return locs[i].Span.Off >= span.Off }):]
	for i := range locs {
		loc := &locs[i]
		if loc.Span.Off >= span.End() {
			break
		}
		if l.strip {
			edits = append(edits, erase(f.Src, loc.Span))
			continue
		}
		n, ok := mapping[loc.File]
		if !ok {
			l.warnUndeclared(file, loc.FileSpan)
			edits = append(edits, erase(f.Src, loc.Span))
			continue
		}
		if n != loc.File {
			edits = append(edits, ptx.Edit{Span: loc.FileSpan, Text: itoa(n)})
		}
		if loc.Tail.Len == 0 {
			continue
		}
		// function_name leads into .debug_str.
		m, ok := mapping[loc.InlinedAt]
		name, kept := debug.inlinedName(file, loc)
		if !ok || !kept {
			edits = append(edits, erase(f.Src, loc.Tail))
			continue
		}
		if name != "" {
			edits = append(edits, ptx.Edit{Span: loc.FunctionSpan, Text: name})
		}
		if m != loc.InlinedAt {
			edits = append(edits, ptx.Edit{Span: loc.Inlined, Text: itoa(m)})
		}
	}
	own := f.Files // gcc writes them into bodies, where ptxas takes none
	for _, own := range own[sort.Search(len(own), func(i int) bool { return own[i].Span.Off >= span.Off }):] {
		if own.Span.Off >= span.End() {
			break
		}
		if own.In >= 0 {
			edits = append(edits, erase(f.Src, own.Span))
		}
	}
	return edits
}

func (l *lineTable) warnUndeclared(file int32, span diag.Span) {
	if l.warned[file] {
		return
	}
	l.warned[file] = true
	f := l.files[file]
	l.log.Warn(diag.Loc, f.At(span), "no .file "+f.Src.String(span)+" in this module; its .loc lines are dropped")
}
