package sets

import (
	"path"
	"slices"
	"strings"
)

// Globs holds names and patterns of path.Match. It looks patterns up by the text that names start
// with, because there may be many. The zero Globs matches nothing.
type Globs struct {
	names    map[string]bool
	patterns map[string][]string // other than "*", by the text that names start with
	longest  int                 // bytes of such a text
	all      bool                // "*" is among them
}

// NewGlobs returns the list of some names and patterns.
func NewGlobs(values []string) Globs {
	var l Globs
	for _, value := range values {
		l.Add(value)
	}
	return l
}

// Add adds a name or pattern.
func (l *Globs) Add(value string) {
	switch {
	case value == "*":
		l.all = true
	case IsPattern(value):
		start := start(value)
		Put(&l.patterns, start, append(l.patterns[start], value))
		l.longest = max(l.longest, len(start))
	default:
		l.AddName(value)
	}
}

// AddName adds a name, even if it looks like a pattern.
func (l *Globs) AddName(name string) {
	Put(&l.names, name, true)
}

// IsPattern reports whether a value is a pattern rather than a name.
func IsPattern(value string) bool { return strings.ContainsAny(value, special) }

const special = `*?[\`

// start returns the text with which the names that match a pattern start.
func start(pattern string) string { return pattern[:strings.IndexAny(pattern, special)] }

// EscapeGlob returns a pattern that matches only the name.
func EscapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// CheckGlob returns an error if a value is an invalid pattern.
func CheckGlob(value string) error {
	_, err := path.Match(value, "")
	return err
}

// Rank is what matches a name, in the order in which GNU ld compares the lists of a
// version script.
type Rank uint8

const (
	None Rank = iota
	All       // the pattern "*"
	Pattern
	Name
)

// Rank returns the highest rank of the values that match the name.
func (l *Globs) Rank(name string) Rank {
	switch {
	case l.names[name]:
		return Name
	case l.matches(name):
		return Pattern
	case l.all:
		return All
	}
	return None
}

// Match reports whether a value matches the name.
func (l *Globs) Match(name string) bool { return l.all || l.Rank(name) != None }

// Drop removes the values that match the name, apart from "*".
func (l *Globs) Drop(name string) {
	delete(l.names, name)
	if len(l.patterns) == 0 {
		return
	}
	for n := range min(l.longest, len(name)) + 1 {
		start := name[:n]
		if l.patterns[start] = slices.DeleteFunc(l.patterns[start], matches(name)); len(l.patterns[start]) == 0 {
			delete(l.patterns, start)
		}
	}
}

// Empty reports whether the list has no values, apart from "*".
func (l *Globs) Empty() bool { return len(l.names)+len(l.patterns) == 0 }

// Has reports whether the list has the value, which is not "*".
func (l *Globs) Has(value string) bool {
	return l.names[value] || IsPattern(value) && slices.Contains(l.patterns[start(value)], value)
}

func (l *Globs) matches(name string) bool {
	if len(l.patterns) == 0 {
		return false
	}
	for n := range min(l.longest, len(name)) + 1 {
		if slices.ContainsFunc(l.patterns[name[:n]], matches(name)) {
			return true
		}
	}
	return false
}

func matches(name string) func(pattern string) bool {
	return func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	}
}
