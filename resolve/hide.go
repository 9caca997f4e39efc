package resolve

import "path"

// Hide takes the linkage of definitions away in the output: of those that match a
// pattern (path.Match) of local and none of global. As in a version script of GNU
// ld, a name goes before a pattern and any pattern before "*"; what is in both lists
// alike stays global.
func (t *Table) Hide(local, global []string) {
	if len(local) == 0 {
		return
	}
	hide, keep := newRanked(local), newRanked(global)
	for i := range t.Symbols {
		s := &t.Symbols[i]
		s.Hidden = s.Defined() && hide.rank(s.Name) > keep.rank(s.Name)
	}
}

// ranked holds the patterns of one list of a version script.
type ranked struct {
	names map[string]bool
	globs []string
	all   bool // "*" is among them
}

func newRanked(list []string) ranked {
	r := ranked{names: map[string]bool{}}
	for _, pattern := range list {
		switch {
		case pattern == "*":
			r.all = true
		default:
			r.names[pattern] = true
			r.globs = append(r.globs, pattern)
		}
	}
	return r
}

// rank returns 3 for a name of the list, 2 for a match, 1 for "*", and 0 for none.
func (r *ranked) rank(name string) int {
	if r.names[name] {
		return 3
	}
	for _, glob := range r.globs {
		if match, _ := path.Match(glob, name); match {
			return 2
		}
	}
	if r.all {
		return 1
	}
	return 0
}
