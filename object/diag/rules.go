package diag

import (
	_ "embed"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Rule describes an ID, and says what to do about its messages.
type Rule struct {
	ID    ID
	Kind  Kind
	About string // one sentence without a full stop
	Cure  string // a few sentences
	See   string // chapters and pages
}

// rulesText has the rules, errors first, as sections whose first line is the kind and About, and
// whose last one is See.
//
//go:embed rules.txt
var rulesText string

var rules = sync.OnceValue(func() (list []Rule) {
	for id, text := range sections(rulesText) {
		kind, text, _ := strings.Cut(text, ": ")
		about, text, _ := strings.Cut(text, "\n")
		cure, see, _ := strings.Cut(text, "\nSee ")
		list = append(list, Rule{ID(id), map[string]Kind{"error": Error, "warning": Warning}[kind], about, cure, strings.TrimSpace(see)})
	}
	return list
})

// sections yields the texts below lines "-- ID --".
func sections(text string) iter.Seq2[string, string] {
	return func(yield func(id, text string) bool) {
		for _, part := range strings.Split("\n"+text, "\n-- ")[1:] {
			if id, text, _ := strings.Cut(part, " --\n"); !yield(id, strings.TrimSuffix(text, "\n")+"\n") {
				return
			}
		}
	}
}

// Rules returns the rules of a kind, sorted by name.
func Rules(kind Kind) []Rule {
	list := slices.DeleteFunc(slices.Clone(rules()), func(r Rule) bool { return r.Kind != kind })
	slices.SortFunc(list, func(a, b Rule) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list
}

var ruleOf = sync.OnceValue(func() map[ID]Rule {
	of := map[ID]Rule{}
	for _, r := range rules() {
		of[r.ID] = r
	}
	return of
})

// Rule returns the rule of an ID; ok is false for a name that ptxlink does not know.
func (id ID) Rule() (r Rule, ok bool) {
	r, ok = ruleOf()[id]
	return r, ok
}

// examples holds a command and its messages for each ID, below a line "-- ID --".
// TestExplain of cmd/ptxlink writes it from testdata/explain.
//
//go:embed examples.txt
var examples string

var exampleOf = sync.OnceValue(func() map[string]string { return maps.Collect(sections(examples)) })

// Example returns a command that gives a message of the rule, and what it prints.
func (r Rule) Example() string { return exampleOf()[string(r.ID)] }

// Explain returns the text of --explain, in lines of at most 80 characters. Only the lines of the
// example may be longer.
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

// Sentence returns the text with a capital letter. The name of a program at its start must stay in
// lower case.
func Sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if text[0] < 'a' || text[0] > 'z' || slices.Contains([]string{"ptxlink", "ptxas", "nvlink", "nvcc", "fatbinary", "llc"}, first) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
