package ptx

import (
	"slices"
	"sort"
	"strconv"

	"ptxlink/link/diag"
)

// LineNames are the names that lines of a module have in an output.
type LineNames interface {
	// FileIndex returns the index of a file; ok is false if it is not in the output.
	FileIndex(index int64) (n int64, ok bool)
	// InlinedLabel returns the label behind function_name, or "" if it is the same; ok is false
	// if it is not in the output.
	InlinedLabel(l *Loc) (label string, ok bool)
}

// LineEditor rewrites the .loc lines of a module for an output that has other files and
// labels, or only some of the bodies.
type LineEditor struct {
	Module *Module
	Names  LineNames
	// Inlined and Written are nil if no line of the output is inlined. Written has the places of
	// the lines in the output so far, with its files, and is that of all modules.
	Inlined *InlinedLines
	Written map[LocPlace]bool
	// Undeclared is set to the first line whose file is not in the output.
	Undeclared *Loc
}

// Edits adds the edits of the lines in a span. With Written, the bodies must come in the order
// of the output.
func (e *LineEditor) Edits(edits []Edit, span diag.Span) []Edit {
	first, end := e.Module.LocsIn(span)
	edits = slices.Grow(edits, end-first)
	var s speller
	for i := first; i < end; i++ {
		if e.Written != nil {
			if text := e.missing(i, i == first); text != "" {
				edits = append(edits, Edit{Span: diag.Span{Off: e.Module.Locs[i].Span.Off}, Text: text})
			}
		}
		edits = e.line(edits, i, &s)
		e.write(i)
	}
	return edits
}

// line rewrites one .loc. It drops the .loc if the module does not declare the file,
// because in the output the number may belong to another module's file.
func (e *LineEditor) line(edits []Edit, i int, s *speller) []Edit {
	loc := &e.Module.Locs[i]
	n, ok := e.Names.FileIndex(loc.File)
	if !ok {
		if e.Undeclared == nil {
			e.Undeclared = loc
		}
		return append(edits, e.Module.Erase(loc.Span))
	}
	if n != loc.File {
		edits = append(edits, Edit{Span: loc.FileSpan, Text: s.spell(n)})
	}
	if loc.Inlining == nil {
		return edits
	}
	n, label, ok := e.inlinedAt(loc)
	if !ok {
		return append(edits, e.Module.Erase(loc.Tail))
	}
	if label != "" {
		edits = append(edits, Edit{Span: loc.FunctionSpan, Text: label})
	}
	if n != loc.InlinedAt.File {
		edits = append(edits, Edit{Span: loc.Inlined, Text: s.spell(n)})
	}
	return edits
}

// inlinedAt returns the index of the file that a line is inlined at, and the replacement for
// the label of the function. ok is false if one of them is not in the output.
func (e *LineEditor) inlinedAt(loc *Loc) (n int64, label string, ok bool) {
	n, known := e.Names.FileIndex(loc.InlinedAt.File)
	label, kept := e.Names.InlinedLabel(loc)
	return n, label, known && kept
}

// missing returns the lines that a line is inlined at and that are not in the output yet:
// their body is not in it, or comes later. first is set if the line is the first of its body.
func (e *LineEditor) missing(i int, first bool) string {
	chain := e.Inlined.Missing(i, func(loc *Loc) bool {
		n, _, ok := e.inlinedAt(loc)
		return !ok || e.Written[LocPlace{File: n, Line: loc.InlinedAt.Line, Column: loc.InlinedAt.Column}]
	})
	if len(chain) == 0 {
		return ""
	}
	var at *LocPlace
	if first {
		place := e.Module.Locs[i].LocPlace
		place.File, _ = e.Names.FileIndex(place.File)
		at = &place
	}
	var s speller
	text := e.Inlined.Repeat(chain, at, func(i int) []Edit { return e.line(nil, i, &s) })
	for _, i := range chain {
		e.write(i)
	}
	return text
}

// write records that a line is in the output.
func (e *LineEditor) write(i int) {
	if e.Written == nil {
		return
	}
	place := e.Module.Locs[i].LocPlace
	if n, ok := e.Names.FileIndex(place.File); ok {
		place.File = n
		e.Written[place] = true
	}
}

// speller returns the text of an index. Most lines have that of the line before them.
type speller struct {
	index int64
	text  string
}

func (s *speller) spell(index int64) string {
	if index != s.index {
		s.index, s.text = index, strconv.FormatInt(index, 10)
	}
	return s.text
}

// InlinedLines finds the lines of a module that others are inlined at. ptxas refuses an
// inlined_at whose place has no .loc before it
// (testdata/script/loc_inlined_dropped.txtar), so what leaves out a body repeats them.
type InlinedLines struct {
	m  *Module
	at map[LocPlace][]int32 // Locs by place, once they are needed
}

// NewInlinedLines returns the lines of a module.
func NewInlinedLines(m *Module) *InlinedLines { return &InlinedLines{m: m} }

// Missing returns the lines that Locs[i] is inlined at, directly or indirectly, the outermost
// first, up to one whose place is known.
func (l *InlinedLines) Missing(i int, known func(*Loc) bool) (chain []int) {
	for m := l.m; m.Locs[i].Inlining != nil && !known(&m.Locs[i]); {
		if l.at == nil {
			l.at = make(map[LocPlace][]int32)
			for k := range m.Locs {
				place := m.Locs[k].LocPlace
				l.at[place] = append(l.at[place], int32(k))
			}
		}
		before := l.at[m.Locs[i].InlinedAt]
		k := sort.Search(len(before), func(k int) bool { return int(before[k]) >= i })
		if k == 0 {
			break
		}
		i = int(before[k-1])
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	return chain
}

// Repeat returns the text of some lines to put in front of another one, on its line. If that
// is the first of its body, first is its place: ptxas assigns the first instructions to the
// first line.
func (l *InlinedLines) Repeat(chain []int, first *LocPlace, edits func(i int) []Edit) string {
	var text []byte
	if first != nil {
		text = append(text, ".loc "...)
		text = append(text, first.String()...)
		text = append(text, ' ')
	}
	for _, i := range chain {
		text = append(AppendCompact(text, Apply(nil, l.m.Src.Text, l.m.Locs[i].Span, edits(i))), ' ')
	}
	return string(text)
}
