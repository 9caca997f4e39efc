package diag

import (
	"regexp"
	"slices"
	"testing"
)

// TestFacts checks that each fact has the lines that its readers expect, and that a name has one fact.
func TestFacts(t *testing.T) {
	const notPTX = "texts that are not PTX"
	lines := map[string]int{"suffixes of other outputs": 2, notPTX: 3}
	for title := range sections(factsText) {
		var names []string
		for _, f := range Facts(title) {
			if n := lines[title]; len(f.Names) == 0 || n > 0 && len(f.Lines) != n {
				t.Errorf("%s: %q has %d lines", title, f.Names, len(f.Lines))
			}
			names = append(names, f.Names...)
			if title == notPTX {
				regexp.MustCompile(f.Lines[0])
			}
		}
		count := len(names)
		slices.Sort(names)
		if title != notPTX && len(slices.Compact(names)) != count {
			t.Errorf("%s: several facts have one name", title)
		}
	}
	if len(Facts("options of compilers")) < 20 {
		t.Error("facts are missing")
	}
}
