package diag

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

// examples holds a command and its messages for each ID, below a line "-- ID --".
// TestExplain of cmd/ptxlink writes it from testdata/explain.
//
//go:embed examples.txt
var examples string

var exampleOf = sync.OnceValue(func() map[string]string { return maps.Collect(sections(examples)) })

// Example returns a command that gives a message of the rule, and what it prints.
func (r Rule) Example() string { return exampleOf()[string(r.ID)] }

// Explain returns the text of --explain, in lines of at most 80 characters,
// except those of the example.
func (r Rule) Explain() string {
	name := string(r.ID)
	var b strings.Builder
	b.WriteString(name + " (" + r.Kind.String() + "): ")
	b.WriteString(Wrap(r.About, len(name)+len(r.Kind.String())+5, 80) + "\n\n")
	for line := range strings.Lines(r.Example()) {
		b.WriteString("  " + line)
	}
	b.WriteString("\n" + Wrap(r.Cure, 0, 80) + "\n")
	if r.Kind == Warning {
		b.WriteString(Wrap("-Wno-"+name+" hides the warning, and -Werror="+name+" makes it an error.", 0, 80) + "\n")
	}
	b.WriteString("\nSee " + Wrap(r.See+"; docs/errors.md", 4, 80) + "\n")
	return b.String()
}

// Wrap breaks a text into lines of at most width columns. at is the column at which it starts.
func Wrap(text string, at, width int) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// Sentence returns the text with a capital letter, unless it begins with the name of a
// program.
func Sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if text[0] < 'a' || text[0] > 'z' || slices.Contains([]string{"ptxlink", "ptxas", "nvlink", "nvcc", "fatbinary", "llc"}, first) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
