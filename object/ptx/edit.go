package ptx

import (
	"sort"

	"ptxlink/internal/diag"
)

// Edit replaces a span of text.
type Edit struct {
	Span diag.Span
	Text string
}

// SortEdits sorts edits by place, and keeps the order of those at one place.
func SortEdits(edits []Edit) {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].Span.Off < edits[j].Span.Off })
}

// Apply appends a span of text with its edits applied. The edits must be sorted. An
// edit that overlaps the one before it is skipped.
func Apply(out, text []byte, span diag.Span, edits []Edit) []byte {
	at := span.Off
	for _, e := range edits {
		if e.Span.Off < at {
			continue
		}
		out = append(out, text[at:e.Span.Off]...)
		out = append(out, e.Text...)
		at = e.Span.End()
	}
	return append(out, text[at:span.End()]...)
}
