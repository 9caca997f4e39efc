package resolve

import (
	"context"
	"maps"
	"slices"

	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// debugNames makes the names that debug sections look up unique, then computes the rename
// edits of all functions.
//
// DWARF of nvcc and clang locates a variable by the name of its register, and code by the name of a
// label. ptxas looks such a name up in the whole module, and takes the first function that declares
// it: in a linked module that would be the function of another input, so a debugger would show the
// wrong register without any message. Names that DWARF looks up must therefore be unique in the
// output, although PTX lets every function have a %r1.
//
// A name keeps its spelling if no other function of the output declares it, and no earlier link
// derived a new name from it, so that adding modules to the output of -r gives the same result as
// linking all at once. A new name is put in both places, the function and the sections. Only
// functions that declare such a name are read again.
func (r *renamer) debugNames(lookedUp []LocalName) {
	spellings := r.spellings(lookedUp)
	plain := r.searched(lookedUp, spellings)
	r.local, r.debugRenames = make([]string, len(lookedUp)), make([]int32, 0, len(lookedUp))
	for i, l := range lookedUp {
		r.local[i] = l.Name
		alone := spellings.alone[spellings.of[i]]
		p := r.plans[l.DeclID]
		switch {
		case p != nil:
			if k, ok := p.find(l.Name); ok { // because ptxas uses the first
				if p.new[k] == "" && !alone {
					r.renameLocal(l.DeclID, p, k)
				}
				if name := p.new[k]; name != "" {
					r.local[i] = name
				}
			}
		case !alone:
			r.local[i] = r.fresh.name(l.Name)
			r.debugRenames = append(r.debugRenames, int32(i))
		}
	}
	r.lookedUp = lookedUp
	for i, f := range r.t.Files {
		if !r.differ[i] {
			continue // because no target is a renamed function
		}
		in := inDecls{f: f}
		for _, list := range f.TargetRanges {
			r.planOf(DeclID{int32(i), in.at(list.Off)})
		}
	}
	for i := range plain {
		if p := &plain[i]; r.plans[p.DeclID] == nil {
			sets.Put(&r.edits, p.DeclID, p.edits(r.local))
		}
	}
	functions := slices.Collect(maps.Keys(r.plans)) // in any order, because functions are independent
	edits := make([][]ptx.Edit, len(functions))
	parallel.Each(context.Background(), len(functions), r.jobs, func(int) string { return "renaming" }, func(i int) {
		edits[i] = r.plans[functions[i]].edits(r.out[functions[i].File])
	})
	for i, at := range functions {
		if len(edits[i]) > 0 {
			sets.Put(&r.edits, at, edits[i])
		}
	}
}

type spellings struct {
	alone []bool  // no other function declares the spelling, so it is kept
	of    []int32 // by name
}

func (r *renamer) spellings(lookedUp []LocalName) (s spellings) {
	if len(lookedUp) == 0 {
		return s
	}
	var table sets.Table
	names := make([]string, 0, 2*len(r.t.Files[lookedUp[0].File].SectionNames())) // because most modules have the same
	s.of = make([]int32, len(lookedUp))
	for i := range lookedUp {
		l := &lookedUp[i]
		hash := sets.Hash(l.Name)
		n := table.Find(hash, func(n int32) bool { return names[n] == l.Name })
		if n < 0 {
			n = table.Add(hash)
			names = append(names, l.Name)
		}
		s.of[i] = n
	}
	count := make([]int32, len(names)) // functions of the output that declare it
	last := make([]DeclID, len(names)) // of these
	for n := range last {
		last[n].Decl = -1
	}
	find := func(name []byte) int32 {
		return table.Find(sets.HashBytes(name), func(n int32) bool { return names[n] == string(name) })
	}
	among := tailsOf(names)
	type place struct{ spelling, decl int32 }
	found := make([][]place, len(r.t.Files))
	parallel.Each(context.Background(), len(found), r.jobs, func(int) string { return "renaming" }, func(i int) {
		list := make([]place, 0, len(r.t.Files[i].SectionNames()))
		eachLocal(r.t.Files[i], among, find, func(d, n int32, _ ptx.LocalName) { list = append(list, place{n, d}) })
		found[i] = list
	})
	for i, list := range found {
		for _, p := range list {
			if at := (DeclID{int32(i), p.decl}); last[p.spelling] != at && r.t.LiveDecl(at) {
				last[p.spelling] = at
				count[p.spelling]++
			}
		}
	}
	s.alone = make([]bool, len(names))
	for n, name := range names {
		s.alone[n] = count[n] < 2 && (len(r.linked) == 0 || !r.linked[name+"$"])
	}
	return s
}

// SectionLocals calls visit with the names in sections of the file that a function
// declares: with the function, the number of the name (ptx.Module.SectionNames), and the
// place of the declaration. The names are labels, parameters and objects. It reads no
// body.
func SectionLocals(f *object.File, visit func(d, name, off int32)) {
	if len(f.SectionNames()) == 0 {
		return
	}
	eachLocal(f, tailsOf(f.SectionNames()), f.SectionName, func(d, name int32, l ptx.LocalName) { visit(d, name, l.Off) })
}

// plainPlan holds the places of the names in one function that its debug information
// looks up and that are renamed, if no code has to be read for them.
type plainPlan struct {
	DeclID
	names  []int32 // in the list of looked-up names
	places []ptx.NamePlace
}

// searched finds the places of the names that are not alone, in the functions without
// a plan. Where that needs the code of the function, it makes a plan.
func (r *renamer) searched(lookedUp []LocalName, spellings spellings) []plainPlan {
	const together = 32
	var list []plainPlan
	index := map[DeclID]int32{}
	n := int32(-1)
	for i := range lookedUp {
		at := lookedUp[i].DeclID
		if spellings.alone[spellings.of[i]] || r.plans[at] != nil {
			continue
		}
		if n < 0 || list[n].DeclID != at { // otherwise it is the function of the last name
			known := false
			if n, known = index[at]; !known {
				n = int32(len(list))
				index[at] = n
				list = append(list, plainPlan{DeclID: at})
			}
		}
		list[n].names = append(list[n].names, int32(i))
	}
	codes := make([]*ptx.Code, len(list))
	parallel.Chunks(context.Background(), len(list), together, r.jobs, "renaming", func(from, to int) {
		var search ptx.PlaceSearch
		var declared []diag.Span
		for i := from; i < to; i++ {
			p := &list[i]
			f := r.t.Files[p.File]
			declared = declared[:0]
			for _, n := range p.names {
				declared = append(declared, lookedUp[n].Declared)
			}
			ok := false
			if p.places, ok = search.PlainPlaces(f.Module, &f.Decls[p.Decl], declared); !ok {
				codes[i] = f.Code(&f.Decls[p.Decl])
			}
			if i+1 == len(list) || list[i+1].File != p.File {
				f.DropText()
			}
		}
	})
	for i := range list {
		if codes[i] != nil {
			r.plan(list[i].DeclID, codes[i])
		}
	}
	return list
}

// edits renames the names; local holds their new names.
func (p *plainPlan) edits(local []string) []ptx.Edit {
	edits := make([]ptx.Edit, len(p.places))
	for i, at := range p.places {
		edits[i] = ptx.Edit{Span: at.Span, Text: local[p.names[at.Name]]}
	}
	return edits
}
