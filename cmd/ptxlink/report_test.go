package main

import (
	"strings"
	"testing"

	"ptxlink/link"
	"ptxlink/object/diag"
)

// TestHintOfExplain checks that a terminal gets the IDs of errors, which text has
// nowhere else, and that no other program does.
func TestHintOfExplain(t *testing.T) {
	undefined := &link.Message{Kind: diag.Error, ID: "undefined-symbol", Text: "a"}
	size := &link.Message{Kind: diag.Error, ID: "param-size", Text: "b"}
	usage := &link.Message{Kind: diag.Error, ID: "usage", Text: "c"}
	warning := &link.Message{Kind: diag.Warning, ID: "align", Text: "d"}
	for _, test := range []struct {
		reporter reporter
		messages []*link.Message
		want     string
	}{
		{reporter{hint: true}, []*link.Message{undefined, undefined}, "ptxlink --explain=undefined-symbol says more\n"},
		{reporter{hint: true}, []*link.Message{undefined, size}, "ptxlink --explain=ID says more about undefined-symbol, param-size\n"},
		{reporter{hint: true}, []*link.Message{usage}, ""},
		{reporter{hint: true}, []*link.Message{warning}, ""},
		{reporter{}, []*link.Message{undefined}, ""},
		{reporter{hint: true, style: diag.Style{Format: "json"}}, []*link.Message{undefined}, ""},
	} {
		var b strings.Builder
		test.reporter.w = &b
		test.reporter.write(test.messages)
		before := b.Len()
		test.reporter.close()
		if said := strings.TrimPrefix(b.String()[before:], "ptxlink: note: "); said != test.want {
			t.Errorf("%q, want %q", said, test.want)
		}
	}
}
