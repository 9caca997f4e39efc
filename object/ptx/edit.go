package ptx

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"ptxlink/object/diag"
)

// Edit replaces a span of text.
type Edit struct {
	Span diag.Span
	Text string
}

// SortEdits sorts edits by place, and keeps the order of those at one place.
func SortEdits(edits []Edit) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Span.Off, b.Span.Off) })
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

// Erase returns the edit that removes a span except for its line ends.
func (m *Module) Erase(span diag.Span) Edit {
	return Edit{Span: span, Text: strings.Repeat("\n", bytes.Count(m.Src.Bytes(span), []byte{'\n'}))}
}

// Prototype returns the header of a function for a forward declaration, with the
// edits applied, without what PrototypeEdits removes. The result may be text of the
// module.
func (m *Module) Prototype(d *Decl, edits []Edit) []byte {
	if edits = m.PrototypeEdits(d, edits); len(edits) == 0 {
		return m.Src.Bytes(d.Header)
	}
	return Apply(nil, m.Src.Text, d.Header, edits)
}

// PrototypeEdits sorts the edits of the header of a function for a forward declaration,
// and adds those that remove tuning directives, which ptxas accepts only on
// definitions.
func (m *Module) PrototypeEdits(d *Decl, edits []Edit) []Edit {
	for _, a := range d.Attrs {
		if (d.Kind != Func || a.Word == ".pragma" || a.Word == ".local_maxnreg") && a.Word != ".attribute" {
			edits = append(edits, m.Erase(a.Span))
		}
	}
	SortEdits(edits)
	return edits
}

// Declaration returns what declares a variable or function, on one line, with another name
// and without linkage and semicolon.
func (m *Module) Declaration(d *Decl, name string) string {
	if d.Kind == Variable {
		return string(Compact(m.Src.Bytes(d.Prefix))) + " " + name + m.Shape(d)
	}
	var edits []Edit
	if name != m.Names[d.Name] {
		edits = append(edits, Edit{Span: d.NameSpan, Text: name})
	}
	return string(Compact(m.Prototype(d, edits)))
}

// Shape returns the dimensions of a variable: [2][3].
func (m *Module) Shape(d *Decl) string { return string(Compact(m.Src.Bytes(d.Dims))) }
