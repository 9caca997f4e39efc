package resolve

import "ptxlink/internal/sets"

// Hide makes definitions local in the output: those that local matches (path.Match). If
// global matches too, the more specific wins, as in a version script of GNU ld: a name,
// then a pattern, then "*". Equally specific ones, and names in cubins, stay
// global.
func (t *Table) Hide(local, global []string) {
	if len(local) == 0 {
		return
	}
	hide, keep := sets.NewGlobs(local), sets.NewGlobs(global)
	for i := range t.Symbols {
		s := &t.Symbols[i]
		s.Hidden = s.Defined() && !t.Cubins.Knows(s.Name) && hide.Rank(s.Name) > keep.Rank(s.Name)
	}
}
