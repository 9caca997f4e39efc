package pack

import (
	"bytes"
	"strings"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// prototype returns the header of a function for a forward declaration, without
// tuning directives, which ptxas accepts only on definitions.
func prototype(f *object.File, decl *ptx.Decl, edits []ptx.Edit) []byte {
	for _, a := range decl.Attrs {
		if decl.Kind == ptx.Func && a.Word != ".pragma" || a.Word == ".attribute" {
			continue
		}
		lines := bytes.Count(f.Src.Bytes(a.Span), []byte{'\n'})
		edits = append(edits, ptx.Edit{Span: a.Span, Text: strings.Repeat("\n", lines)})
	}
	ptx.SortEdits(edits)
	return ptx.Apply(nil, f.Src.Text, decl.Header, edits)
}

// shape returns the dimensions of an object: [2][3].
func shape(f *object.File, decl *ptx.Decl) string { return string(ptx.Compact(f.Src.Bytes(decl.Dims))) }
