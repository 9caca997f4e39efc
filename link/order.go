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
	forward := map[resolve.DeclID]bool{}
	for {
		sorted, cycle := pl.sortVariables(variables, forward)
		if cycle == nil {
			ordered = sorted
			break
		}
		at := -1
		for i, v := range cycle {
			if pl.linkage(v) != ptx.Local {
				at = i
				break
			}
		}
		if at < 0 {
			// One module alone cannot say this: ptxas has no forward
			// declaration of a module-local variable.
			f := pl.table.Files[cycle[0].File]
			pl.log.Error(diag.InitialiserCycle, f.At(f.Decls[cycle[0].Decl].NameSpan), "initialisers of module-local variables refer to each other in a cycle")
			return nil, nil
		}
		forward[cycle[at]] = true
	}
	for _, v := range ordered {
		if forward[v] {
			forwards = append(forwards, v)
		}
	}
	return ordered, forwards
}

// sortVariables is a depth-first topological sort that keeps command-line
// order where it can. It returns the first cycle it meets.
func (pl *planner) sortVariables(variables []resolve.DeclID, forward map[resolve.DeclID]bool) (sorted, cycle []resolve.DeclID) {
	const (
		untouched = iota
		open
		done
	)
	state := make(map[resolve.DeclID]int, len(variables))
	var stack []resolve.DeclID
	var visit func(v resolve.DeclID) bool
	visit = func(v resolve.DeclID) bool {
		state[v] = open
		stack = append(stack, v)
		f := pl.table.Files[v.File]
		d := &f.Decls[v.Decl]
		for _, use := range f.Uses[d.FirstUse:d.EndUse] {
			to, ok := pl.table.Definition(object.ID{File: v.File, Name: use.Name})
			if !ok || forward[to] || pl.table.Files[to.File].Decls[to.Decl].Kind != ptx.Variable {
				continue
			}
			switch state[to] {
			case open:
				for i := range stack {
					if stack[i] == to {
						cycle = append(cycle, stack[i:]...)
						return false
					}
				}
			case untouched:
				if !visit(to) {
					return false
				}
			}
		}
		stack = stack[:len(stack)-1]
		state[v] = done
		sorted = append(sorted, v)
		return true
	}
	for _, v := range variables {
		if state[v] == untouched && !visit(v) {
			return nil, cycle
		}
	}
	return sorted, nil
}
