package link

import (
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// order sorts variables so that each comes after those that its initialiser uses.
// Cycles are broken by a forward declaration of an external member.
func (pl *planner) order(variables []resolve.DeclID) (ordered, forwards []resolve.DeclID) {
	index := make(map[resolve.DeclID]int32, len(variables))
	for i, v := range variables {
		index[v] = int32(i)
	}
	g := initialisers{next: make([][]int32, len(variables)), local: make([]bool, len(variables))}
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
		// A single module cannot express this: ptxas has no forward declaration of
		// module-local variables.
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
