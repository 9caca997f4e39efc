package program

import (
	"slices"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// order sorts variables so that each comes after the variables its initialiser uses. A cycle must
// be broken by a forward declaration of an external member.
func (pl *planner) order(variables []resolve.DeclID) (ordered, forwards []resolve.DeclID) {
	sorted, forward := newInitialisers(pl.Table, variables).order()
	for _, n := range sorted {
		v := variables[n]
		ordered = append(ordered, v)
		if forward[n] {
			forwards = append(forwards, v)
		}
	}
	return ordered, forwards
}

// initialisers holds variables and, for each, the variables its initialiser uses.
type initialisers struct {
	next  [][]int32
	local []bool // the variable has no linkage, so it cannot have a forward declaration
}

func newInitialisers(t *resolve.Table, variables []resolve.DeclID) *initialisers {
	index := make(map[resolve.DeclID]int32, len(variables))
	for i, v := range variables {
		index[v] = int32(i)
	}
	g := &initialisers{next: make([][]int32, len(variables)), local: make([]bool, len(variables))}
	for i, v := range variables {
		g.local[i] = linkage(t, t.Declared(v)) == ptx.Local
		f := t.Files[v.File]
		d := &f.Decls[v.Decl]
		for _, use := range f.Uses[d.FirstUse:d.EndUse] {
			if to, ok := t.Definition(object.ID{File: v.File, Name: use.Name}); ok {
				if n, ok := index[to]; ok {
					g.next[i] = append(g.next[i], n)
				}
			}
		}
	}
	return g
}

// order returns the variables, each after the variables it uses and otherwise in their
// original order. forward marks variables that must have a forward declaration; edges to them
// do not count. Every cycle must have an external member (Initialisers).
//
// The time is linear in the number of edges:
//
//  1. A depth-first walk computes components and ranks. Only an edge back to a lower
//     rank closes a cycle.
//  2. Edges lead from one external variable to another directly, or through local
//     ones. An external variable with a back edge from its own component gets a
//     forward declaration. Each cycle has such a variable.
//  3. A second walk, without the edges to these variables, computes the order.
func (g *initialisers) order() (sorted []int32, forward []bool) {
	finished, component := g.walk(func(from, to int32) bool { return true })
	rank := make([]int32, len(g.next))
	for i, v := range finished {
		rank[v] = int32(len(finished) - i)
	}

	locals, _ := g.walk(g.betweenLocals)
	highest := make([]int32, len(g.next)) // rank of an external variable that leads here
	spread := func(from, rank int32) {
		for _, to := range g.next[from] {
			if component[to] == component[from] {
				highest[to] = max(highest[to], rank)
			}
		}
	}
	for v := range g.next {
		if !g.local[v] {
			spread(int32(v), rank[v])
		}
	}
	for i := len(locals) - 1; i >= 0; i-- { // each before the variables it uses
		if v := locals[i]; g.local[v] {
			spread(v, highest[v])
		}
	}
	forward = make([]bool, len(g.next))
	for v := range g.next {
		forward[v] = !g.local[v] && highest[v] >= rank[v]
	}
	sorted, _ = g.walk(func(from, to int32) bool { return !forward[to] })
	return sorted, forward
}

func (g *initialisers) betweenLocals(from, to int32) bool { return g.local[from] && g.local[to] }

// stuck returns one variable of each cycle without an external member.
func (g *initialisers) stuck() (list []int32) {
	_, circle := g.walk(g.betweenLocals)
	size := make([]int, len(g.next))
	for _, c := range circle {
		size[c]++
	}
	for v := range g.next {
		if root := circle[v]; root == int32(v) && g.local[v] && (size[root] > 1 || slices.Contains(g.next[root], root)) {
			list = append(list, root)
		}
	}
	return list
}

// walk returns the variables in the order in which a depth-first walk finishes them,
// along the edges that follow allows, and the components (sets.Components).
func (g *initialisers) walk(follow func(from, to int32) bool) (finished, component []int32) {
	return sets.Components(len(g.next), func(from int32) []int32 {
		return slices.DeleteFunc(slices.Clone(g.next[from]), func(to int32) bool { return !follow(from, to) })
	})
}
