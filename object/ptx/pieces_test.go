package ptx

import (
	"bytes"
	"strings"
	"testing"

	"ptxlink/object/diag"
)

// TestPieces checks the text of pieces, their sizes, and where each line comes from.
func TestPieces(t *testing.T) {
	src := &diag.Source{Name: "a.ptx", Text: []byte("one\ntwo three\nfour\nfive\n")}
	at := func(word string) diag.Span {
		return diag.Span{Off: int32(bytes.Index(src.Text, []byte(word))), Len: int32(len(word))}
	}
	var l Pieces
	l.Own("// own\n")
	l.Line(src, at("five").Off, "declared")
	l.Add(Piece{Src: src, Span: at("two three\nfour"), Text: ".visible ", Before: true, After: true, Edits: []Edit{
		{Span: at("three"), Text: "3"}, {Span: at("hree\nf"), Text: "overlaps"}, {Span: diag.Span{Off: at("four").Off + 4}, Text: ";"},
	}})
	l.Copy(src, at("one"))
	text, lines := l.Text()
	if want := "// own\ndeclared;\n\n.visible two 3\nfour;\none\n"; string(text) != want {
		t.Errorf("%q, want %q", text, want)
	}
	if l.Size() != len(text) {
		t.Errorf("%d bytes, Size is %d", len(text), l.Size())
	}
	if n := l[2].SizeOf(at("two three")); n != int64(len("two 3")) {
		t.Errorf("a part has %d bytes", n)
	}
	part := at("three")
	for i, e := range []struct {
		off, len int32
		more     int64
	}{
		{off: -1, len: 1},             // before the part
		{off: 0},                      // inserted where it starts
		{off: 0, len: 1, more: 4 - 1}, // replaces its first byte
		{off: 2, more: 4},             // inserted inside
		{off: 4, len: 1, more: 4 - 1}, // replaces its last byte
		{off: 5},                      // inserted where it ends
		{off: 5, len: 1},              // behind the part
		{off: -1, len: 7},             // replaces more than the part
	} {
		p := Piece{Src: src, Edits: []Edit{{Span: diag.Span{Off: part.Off + e.off, Len: e.len}, Text: "edit"}}}
		if n := p.SizeOf(part); n != int64(part.Len)+e.more {
			t.Errorf("edit %d: the part has %d bytes, want %d", i, n, int64(part.Len)+e.more)
		}
	}
	var parts []byte
	for part := range l.Parts {
		parts = append(parts, part...)
	}
	if strings.ReplaceAll(string(parts), "\n", "") != strings.ReplaceAll(string(text), "\n", "") {
		t.Errorf("the parts are %q", parts)
	}
	for i, want := range []int{0, 4, 0, 2, 3, 1, 0} { // lines of the source
		got := 0
		if place, ok := lines.Origin(i + 1); ok {
			got = place.Source.Line(place.Span.Off)
		}
		if got != want {
			t.Errorf("line %d comes from line %d, want %d", i+1, got, want)
		}
	}
}
