package ptx

import (
	"slices"
	"sort"
	"strconv"

	"ptxlink/object/diag"
)

// LineNames are the names that lines of a module have in an output.
type LineNames interface {
	// FileIndex returns the index of a file; ok is false if it is not in the output.
	FileIndex(index int64) (n int64, ok bool)
	// InlinedLabel returns the label after function_name, or "" if it is the same; ok is false if
	// it is not in the output.
	InlinedLabel(l *Loc) (label string, ok bool)
}

// LineEditor rewrites the .loc lines of a module for an output that has other files and
// labels, or only some of the bodies.
type LineEditor struct {
	Module *Module
	Names  LineNames
	// Inlined and Written are nil if no line of the output is inlined. Written is shared by all
	// modules of the output.
	Inlined *InlinedLines
	Written *WrittenLines
}

// WrittenLines are the places that the lines of an output have so far, with its files.
type WrittenLines struct {
	places map[LocPlace]bool
	later  []writtenLines // not in places yet, because nothing has looked there
}

// writtenLines are Locs[first:end] of a module.
type writtenLines struct {
	e          *LineEditor
	first, end int
}

func (w *WrittenLines) has(place LocPlace) bool {
	if w.places == nil {
		w.places = map[LocPlace]bool{}
	}
	for _, lines := range w.later {
		for i := lines.first; i < lines.end; i++ {
			at := lines.e.Module.Locs[i].LocPlace
			if n, ok := lines.e.Names.FileIndex(at.File); ok {
				at.File = n
				w.places[at] = true
			}
		}
	}
	w.later = w.later[:0]
	return w.places[place]
}

// Add adds the lines in a span to Written.
func (e *LineEditor) Add(span diag.Span) {
	first, end := e.Module.LocsIn(span)
	e.add(first, end)
}

func (e *LineEditor) add(first, end int) {
	e.Written.later = append(e.Written.later, writtenLines{e, first, end})
}

// SelfContained reports whether each line that a line of a span is inlined at comes before it in the
// span. No line is then repeated, whatever is in the output.
func (e *LineEditor) SelfContained(span diag.Span) bool {
	first, end := e.Module.LocsIn(span)
	locs := e.Module.Locs[first:end]
	if !slices.ContainsFunc(locs, func(loc Loc) bool { return loc.Inlining != nil }) {
		return true
	}
	before := make(map[LocPlace]bool, len(locs)/4)
	for i := range locs {
		loc := &locs[i]
		if loc.Inlining != nil && !before[loc.InlinedAt] {
			if _, ok := e.inlinedAt(loc); ok {
				return false
			}
		}
		before[loc.LocPlace] = true
	}
	return true
}

// Edits adds the edits of the lines in a span that is self-contained, or any if Written is nil.
func (e *LineEditor) Edits(edits []Edit, span diag.Span) []Edit {
	first, end := e.Module.LocsIn(span)
	edits = slices.Grow(edits, 2*(end-first))
	for i := first; i < end; i++ {
		edits = e.line(edits, i)
	}
	return edits
}

// Next adds the edits of the lines in a span, and the lines to Written. It must be called in
// the order of the output.
func (e *LineEditor) Next(edits []Edit, span diag.Span) []Edit {
	first, end := e.Module.LocsIn(span)
	if e.Written == nil || e.SelfContained(span) {
		if e.Written != nil {
			e.add(first, end)
		}
		return e.Edits(edits, span)
	}
	for i := first; i < end; i++ {
		if text := e.missing(i, i == first); text != "" {
			edits = append(edits, Edit{Span: diag.Span{Off: e.Module.Locs[i].Span.Off}, Text: text})
		}
		e.add(i, i+1)
		edits = e.line(edits, i)
	}
	return edits
}

// line rewrites one .loc. It drops the .loc if the module does not declare the file,
// because in the output the number may belong to another module's file.
func (e *LineEditor) line(edits []Edit, i int) []Edit {
	loc := &e.Module.Locs[i]
	n, ok := e.Names.FileIndex(loc.File)
	if !ok {
		return append(edits, e.Module.Erase(loc.Span))
	}
	if n != loc.File {
		edits = append(edits, Edit{Span: loc.FileSpan, Text: strconv.FormatInt(n, 10)})
	}
	if loc.Inlining == nil {
		return edits
	}
	n, ok = e.Names.FileIndex(loc.InlinedAt.File)
	label, kept := e.Names.InlinedLabel(loc)
	if !ok || !kept {
		return append(edits, e.Module.Erase(loc.Tail))
	}
	if label != "" {
		edits = append(edits, Edit{Span: loc.FunctionSpan, Text: label})
	}
	if n != loc.InlinedAt.File {
		edits = append(edits, Edit{Span: loc.Inlined, Text: strconv.FormatInt(n, 10)})
	}
	return edits
}

// inlinedAt returns the place that a line is inlined at, with the file of the output. ok is
// false if the output has no such file or no name of the function.
func (e *LineEditor) inlinedAt(loc *Loc) (at LocPlace, ok bool) {
	at = loc.InlinedAt
	n, known := e.Names.FileIndex(at.File)
	_, kept := e.Names.InlinedLabel(loc)
	at.File = n
	return at, known && kept
}

// missing returns the lines that a line is inlined at and that are not in the output yet:
// their body is not in it, or comes later. first is set if the line is the first of its body.
func (e *LineEditor) missing(i int, first bool) string {
	chain := e.Inlined.Missing(i, func(loc *Loc) bool {
		at, ok := e.inlinedAt(loc)
		return !ok || e.Written.has(at)
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
	text := e.Inlined.Repeat(chain, at, func(i int) []Edit { return e.line(nil, i) })
	for _, i := range chain {
		e.add(i, i+1)
	}
	return text
}

// InlinedLines finds the lines of a module that others are inlined at. ptxas refuses an
// inlined_at whose place has no .loc before it
// (testdata/script/loc_inlined_dropped.txtar), so a pass that leaves out a body must repeat them.
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
		if i = l.Caller(i); i < 0 {
			break
		}
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	return chain
}

// Caller returns the line that Locs[i] is inlined at: the last one before it that has the place; -1 if none has.
func (l *InlinedLines) Caller(i int) int {
	if l.at == nil {
		l.at = make(map[LocPlace][]int32)
		for k := range l.m.Locs {
			place := l.m.Locs[k].LocPlace
			l.at[place] = append(l.at[place], int32(k))
		}
	}
	before := l.at[l.m.Locs[i].InlinedAt]
	k := sort.Search(len(before), func(k int) bool { return int(before[k]) >= i })
	if k == 0 {
		return -1
	}
	return int(before[k-1])
}

// Repeat returns the text of some lines to put in front of another one, on its line. If that
// is the first of its body, first is its place, because ptxas assigns the first instructions to the
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
