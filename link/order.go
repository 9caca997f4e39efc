package link

import (
	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// order sorts variables so that each stands after those that its initialiser
// names. A cycle is broken by declaring an external member of it ahead.
func (pl *planner) order(variables []resolve.DeclID) (ordered, forwards []resolve.DeclID) {
	index := make(map[resolve.DeclID]int32, len(variables))
	for i, v := range variables {
		index[v] = int32(i)
	}
	g := graph{next: make([][]int32, len(variables)), local: make([]bool, len(variables))}
	for i, v := range variables {
		g.local[i] = pl.linkage(v) == ptx.Local
		f := pl.table.Files[v.File]
		d := &f.Decls[v.Decl]
		for _, use := range f.Uses[d.FirstUse:d.EndUse] {
			if to, ok := pl.table.Definition(object.ID{File: v.File, Name: use.Name}); ok {
				if n, ok := index[to]; ok {
					g.next[i] = append(g.next[i], n)
				}
			}
		}
	}
	sorted, forward, stuck := g.order()
	for _, n := range stuck {
		// One module alone cannot say this: ptxas has no forward declaration of a
		// module-local variable.
		v := variables[n]
		f := pl.table.Files[v.File]
		pl.log.Error(diag.InitialiserCycle, f.At(f.Decls[v.Decl].NameSpan), "initialisers of module-local variables refer to each other in a cycle")
	}
	for _, n := range sorted {
		v := variables[n]
		ordered = append(ordered, v)
		if forward[n] {
			forwards = append(forwards, v)
		}
	}
	return ordered, forwards
}
