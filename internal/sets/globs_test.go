package sets

import (
	"path"
	"slices"
	"testing"
)

var values = []string{"", "a", "b", "a1", "a*", "*", "**", "?", "[ab]", "a?", `\a`, "[", `a\`}

func TestCheck(t *testing.T) {
	for _, value := range values {
		if err := CheckGlob(value); (err == nil) != (value != "[" && value != `a\`) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// TestList compares lists of two values with path.Match.
func TestList(t *testing.T) {
	for _, one := range values {
		for _, two := range values {
			for _, name := range []string{"a", "b", "c", "a1", "a12"} {
				l := NewGlobs([]string{one, two})
				var matched []string
				rank := None
				for _, value := range []string{one, two} {
					if ok, _ := path.Match(value, name); ok {
						matched = append(matched, value)
						switch value {
						case "*":
							rank = max(rank, All)
						case name:
							rank = Name
						default:
							rank = max(rank, Pattern)
						}
					}
				}
				if l.Rank(name) != rank || l.Match(name) != (rank > None) {
					t.Errorf("%q, %q: the rank of %s is %d, want %d", one, two, name, l.Rank(name), rank)
				}
				l.Drop(name)
				for _, value := range []string{one, two} {
					if value != "*" && l.Has(value) == slices.Contains(matched, value) {
						t.Errorf("%q, %q: after %s, %q is left: %v", one, two, name, value, l.Has(value))
					}
				}
			}
		}
	}
}

func TestAddName(t *testing.T) {
	var l Globs
	if l.Match("a") || l.Match("") {
		t.Error("the zero Globs matches a name")
	}
	if l.AddName("*"); l.Match("a") || !l.Match("*") {
		t.Error("a name is read as a pattern")
	}
}
