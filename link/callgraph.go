package link

import (
	"sort"

	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Edge is an edge of the call graph: the uses of a function by a function, entry or variable.
type Edge struct {
	From  string `json:"from"` // names in the output
	To    string `json:"to"`
	Calls int    `json:"calls"` // direct calls
	// Addresses counts the other uses: the address is taken, or listed in .calltargets, so that an
	// indirect call may lead to the function.
	Addresses int `json:"addresses"`
}

// Edges returns the call graph of the output, in the order of the functions in it.
func (r *Result) Edges() []Edge { return r.describer().edges }

func (d describer) edges() (edges []Edge) {
	add := func(at resolve.DeclID) {
		f := d.Table.Files[at.File]
		decl := &f.Decls[at.Decl]
		from := d.Names.Of(object.ID{File: at.File, Name: decl.Name})
		edges = appendEdges(edges, f.Module, decl, from, func(name ptx.NameID) (string, bool) {
			return d.function(object.ID{File: at.File, Name: name})
		})
	}
	for _, at := range d.Variables {
		add(at)
	}
	var variables map[string]bool
	changed := func(m *ptx.Module, decl *ptx.Decl) {
		edges = appendEdges(edges, m, decl, m.Names[decl.Name], func(name ptx.NameID) (string, bool) {
			return m.Names[name], !variables[m.Names[name]]
		})
	}
	if c := d.Changes; c != nil {
		variables = d.variables()
		for _, v := range c.Variables {
			for i := range v.Module.Decls {
				changed(v.Module, &v.Module.Decls[i])
			}
		}
	}
	for i, at := range d.Bodies {
		if m, decl, optimized := d.Program.Function(i); optimized {
			changed(m, decl)
		} else {
			add(at)
		}
	}
	return edges
}

func (d describer) variables() map[string]bool {
	list := map[string]bool{}
	for _, s := range d.Externs {
		if decl := d.Table.Files[s.Mentions[0].File].DeclOf(s.Mentions[0].Name); decl != nil && decl.Kind == ptx.Variable {
			list[s.Name] = true
		}
	}
	for _, at := range d.Variables {
		list[d.Names.Of(d.Table.Declared(at))] = true
	}
	for _, m := range d.Changes.Moved {
		list[m.Name] = true
	}
	return list
}

// appendEdges appends the edges from a declaration. function returns the output name of the
// function that a name refers to; ok is false for a variable, which has no edges.
func appendEdges(edges []Edge, m *ptx.Module, decl *ptx.Decl, from string, function func(ptx.NameID) (name string, ok bool)) []Edge {
	first := len(edges)
	index := map[string]int{}
	for name, call := range m.References(decl) {
		to, ok := function(name)
		if !ok {
			continue
		}
		n, known := index[to]
		if !known {
			n = len(edges)
			index[to] = n
			edges = append(edges, Edge{From: from, To: to})
		}
		if call {
			edges[n].Calls++
		} else {
			edges[n].Addresses++
		}
	}
	sort.SliceStable(edges[first:], func(i, j int) bool { return edges[first+i].To < edges[first+j].To })
	return edges
}

// function returns the output name of the function that a name refers to. ok is false
// for a variable.
func (d describer) function(id object.ID) (name string, ok bool) {
	id = d.Table.Main(id)
	f := d.Table.Files[id.File]
	if decl := f.DeclOf(id.Name); decl != nil && decl.Kind == ptx.Variable {
		return "", false
	}
	return d.Names.Of(id), true
}
