package resolve

import "ptxlink/internal/globs"

// Hide takes the linkage of definitions away in the output: of those that match a
// pattern (path.Match) of local and none of global. As in a version script of GNU
// ld, a name goes before a pattern and any pattern before "*"; what is in both lists
// alike stays global. So do the names in Options.Others.
func (t *Table) Hide(local, global []string) {
	if len(local) == 0 {
		return
	}
	hide, keep := globs.New(local), globs.New(global)
	for i := range t.Symbols {
		s := &t.Symbols[i]
		_, other := t.options.Others[s.Name]
		s.Hidden = s.Defined() && !other && hide.Rank(s.Name) > keep.Rank(s.Name)
	}
}
