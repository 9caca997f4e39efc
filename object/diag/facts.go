package diag

import (
	_ "embed"
	"strings"
	"sync"
)

// Fact is what ptxlink knows of something of other programs: its names, and the lines about it, as many as the readers of its list
// expect. A name that ends in * stands for all names that begin so.
type Fact struct{ Names, Lines []string }

// factsText has a list below each line "-- LIST --". A fact is its names, a colon and its first line; the other lines are indented.
//
//go:embed facts.txt
var factsText string

type factList struct {
	all   []Fact
	exact map[string]int
}

var facts = sync.OnceValue(func() map[string]*factList {
	lists := map[string]*factList{}
	for title, text := range sections(factsText) {
		l, names := &factList{exact: map[string]int{}}, ""
		for line := range strings.Lines(text) {
			if more, ok := strings.CutPrefix(line, "\t"); ok {
				f := &l.all[len(l.all)-1]
				f.Lines = append(f.Lines, strings.TrimSuffix(more, "\n"))
				continue
			}
			more, first, ended := strings.Cut(strings.TrimSuffix(line, "\n")+" ", ": ")
			if names += more + " "; ended {
				f := Fact{strings.Fields(names), []string{strings.TrimSuffix(first, " ")}}
				for _, name := range f.Names {
					l.exact[name] = len(l.all)
				}
				l.all, names = append(l.all, f), ""
			}
		}
		lists[title] = l
	}
	return lists
})

// Facts returns a list.
func Facts(list string) []Fact { return facts()[list].all }

// FactOf returns the lines of the fact of a name in a list: the fact that has the name, or else the first that has the beginning of it;
// nil if there is none.
func FactOf(list, name string) []string {
	l := facts()[list]
	if i, ok := l.exact[name]; ok {
		return l.all[i].Lines
	}
	for _, f := range l.all {
		for _, n := range f.Names {
			if begin, ok := strings.CutSuffix(n, "*"); ok && strings.HasPrefix(name, begin) {
				return f.Lines
			}
		}
	}
	return nil
}

// WithOptions returns a line of a fact, in which with, such as Spelling.With, replaces {OPTION|ADVICE}.
func WithOptions(line string, with func(option, advice string) string) string {
	before, rest, found := strings.Cut(line, "{")
	option, rest, ok := strings.Cut(rest, "|")
	advice, after, closed := strings.Cut(rest, "}")
	if !found || !ok || !closed {
		return line
	}
	return before + with(option, advice) + after
}
