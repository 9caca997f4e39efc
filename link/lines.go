package link

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"ptxlink/internal/diag"
	"ptxlink/object"
)

// fileTable is the .file table of the output: dense from 1, since ptxas writes
// its line table by position and keeps the index in the line program.
type fileTable struct {
	rows  []fileRow
	index map[fileRow]int64
	// of maps, per input, the input's index to the output's.
	of []map[int64]int64
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

// mergeFiles numbers the files of all inputs. The input whose DWARF is kept
// goes first and keeps its own numbers, gaps filled, because DW_AT_decl_file
// refers to them; keep is its index, -1 if there is none.
func (l *linker) mergeFiles(keep int) *fileTable {
	t := &fileTable{index: map[fileRow]int64{}, of: make([]map[int64]int64, len(l.files))}
	if l.stripLines() {
		for i := range t.of {
			t.of[i] = map[int64]int64{}
		}
		return t
	}
	if keep >= 0 {
		t.addExact(l.ownFiles(l.files[keep]))
	}
	for i, f := range l.files {
		t.of[i] = map[int64]int64{}
		for _, file := range l.ownFiles(f) {
			row := rowOf(file.Path, file.Time, file.Size)
			n, ok := t.index[row]
			if !ok {
				n = t.add(row)
			}
			if i == keep {
				n = file.Index
			}
			t.of[i][file.Index] = n
		}
	}
	return t
}

// ownFile is a .file of one input.
type ownFile struct {
	Index      int64
	Path       string
	Time, Size int64
}

// ownFiles are the usable .file directives of an input by their index. ptxas
// drops index 0, and keeps 16 bits of the others.
func (l *linker) ownFiles(f *object.File) []ownFile {
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

func (t *fileTable) add(row fileRow) int64 {
	t.rows = append(t.rows, row)
	n := int64(len(t.rows))
	if _, ok := t.index[row]; !ok {
		t.index[row] = n
	}
	return n
}

func (t *fileTable) addExact(files []ownFile) {
	for _, file := range files {
		for int64(len(t.rows)) < file.Index-1 {
			t.add(fileRow{"<unknown>", -1, -1})
		}
		t.add(rowOf(file.Path, file.Time, file.Size))
	}
}

// lineEdits rewrites the .loc and .file directives of one declaration. A .loc
// of a file that its module never declared is dropped: in the merged table the
// number may be another module's file.
func (l *linker) lineEdits(edits []edit, file int32, from, to int32) []edit {
	f := l.files[file]
	mapping := l.fileTable.of[file]
	locs := f.Locs
	locs = locs[sort.Search(len(locs), func(i int) bool { return locs[i].Span.Off >= from }):]
	for _, loc := range locs {
		if loc.Span.Off >= to {
			break
		}
		if l.stripLines() {
			edits = append(edits, erase(f.Src, loc.Span))
			continue
		}
		n, ok := mapping[loc.File]
		if !ok {
			l.warnUndeclaredFile(file, loc.FileSpan)
			edits = append(edits, erase(f.Src, loc.Span))
			continue
		}
		if n != loc.File {
			edits = append(edits, edit{loc.FileSpan, itoa(n)})
		}
		if loc.Tail.Len == 0 {
			continue
		}
		// function_name leads into .debug_str.
		m, ok := mapping[loc.InlinedAt]
		name, kept := l.inlinedName(file, loc.Tail)
		if !ok || !kept {
			edits = append(edits, erase(f.Src, loc.Tail))
			continue
		}
		if name.text != "" {
			edits = append(edits, name)
		}
		if m != loc.InlinedAt {
			edits = append(edits, edit{loc.Inlined, itoa(m)})
		}
	}
	for _, own := range f.Files { // gcc writes them into bodies, where ptxas takes none
		if own.In >= 0 && own.Span.Off >= from && own.Span.Off < to {
			edits = append(edits, erase(f.Src, own.Span))
		}
	}
	return edits
}

func (l *linker) stripLines() bool { return l.options.StripDebug && !l.options.KeepLines }

func (l *linker) warnUndeclaredFile(file int32, span diag.Span) {
	if l.warnedFile[file] {
		return
	}
	l.warnedFile[file] = true
	f := l.files[file]
	l.log.Warn(diag.Loc, f.At(span), "no .file "+f.Src.String(span)+" in this module; its .loc lines are dropped")
}
