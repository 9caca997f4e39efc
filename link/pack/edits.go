package pack

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// edit replaces a span of an input.
type edit struct {
	span diag.Span
	text string
}

func apply(out, text []byte, span diag.Span, edits []edit) []byte {
	at := span.Off
	for _, e := range edits {
		out = append(out, text[at:e.span.Off]...)
		out = append(out, e.text...)
		at = e.span.End()
	}
	return append(out, text[at:span.End()]...)
}

func sortEdits(edits []edit) {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].span.Off < edits[j].span.Off })
}

// prototype is the header of a function as a forward declaration repeats it:
// without tuning directives, which ptxas takes on definitions only.
func prototype(f *object.File, decl *ptx.Decl, edits []edit) []byte {
	for _, a := range decl.Attrs {
		if decl.Kind == ptx.Func && a.Word != ".pragma" || a.Word == ".attribute" {
			continue
		}
		lines := bytes.Count(f.Src.Bytes(a.Span), []byte{'\n'})
		edits = append(edits, edit{a.Span, strings.Repeat("\n", lines)})
	}
	sortEdits(edits)
	return apply(nil, f.Src.Text, decl.Header, edits)
}

// shape prints the dimensions of an object as one: [] or [12].
func shape(t ptx.Type) string {
	switch {
	case t.Unsized:
		return "[]"
	case t.Array:
		return "[" + strconv.FormatInt(t.Count, 10) + "]"
	}
	return ""
}
