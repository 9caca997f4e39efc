package resolve

import (
	"context"
	"slices"

	"ptxlink/internal/diag"
	"ptxlink/internal/hashed"
	"ptxlink/internal/parallel"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// debugNames makes the names unique that debug sections look up, and then the edits
// of all functions. A name keeps its spelling if no other function of the output
// declares it, and no earlier link derived a new name from it: adding modules to
// the output of -r gives the same result as linking all at once.
func (r *renamer) debugNames(lookedUp []LocalName) {
	alone := r.alone(lookedUp)
	plain := r.searched(lookedUp, alone)
	r.local = make([]string, len(lookedUp))
	r.Locals = slices.Grow(r.Locals, len(lookedUp))
	for i, l := range lookedUp {
		r.local[i] = l.Name
		p := r.plans[l.DeclID]
		switch {
		case p != nil:
			if k, ok := p.find(l.Name); ok { // ptxas uses the first
				if p.new[k] == "" && !alone[i] {
					r.renameLocal(l.DeclID, p, k)
				}
				if name := p.new[k]; name != "" {
					r.local[i] = name
				}
			}
		case !alone[i]:
			r.local[i] = r.fresh.name(l.Name)
			r.Locals = append(r.Locals, LocalRename{l.DeclID, l.Name, r.local[i], l.Declared})
		}
	}
	for i, f := range r.t.Files {
		if !r.differ[i] {
			continue // no target is a renamed function
		}
		in := inDecls{f: f}
		for _, list := range f.TargetRanges {
			r.planOf(DeclID{int32(i), in.at(list.Off)})
		}
	}
	for i := range plain {
		if p := &plain[i]; r.plans[p.DeclID] == nil {
			put(&r.edits, p.DeclID, p.edits(r.local))
		}
	}
	var functions []DeclID
	for at := range r.plans { // the order does not matter: functions are independent
		functions = append(functions, at)
	}
	edits := make([][]ptx.Edit, len(functions))
	parallel.Each(context.Background(), len(functions), r.jobs, func(int) string { return "renaming" }, func(i int) {
		edits[i] = r.plans[functions[i]].edits(r.out[functions[i].File])
	})
	for i, at := range functions {
		if len(edits[i]) > 0 {
			put(&r.edits, at, edits[i])
		}
	}
}

// alone reports for each of the names whether it keeps its spelling.
func (r *renamer) alone(lookedUp []LocalName) []bool {
	var table hashed.Table // spellings, and for each of them:
	var first []int32      // an index in lookedUp
	var count []int32      // the functions of the output that declare it
	var last []DeclID      // of these
	find := func(name []byte) int32 {
		return table.Find(hashed.Bytes(name), func(n int32) bool { return lookedUp[first[n]].Name == string(name) })
	}
	if len(lookedUp) == 0 {
		return nil
	}
	among := newTails(len(lookedUp))
	alone := make([]bool, len(lookedUp))
	spelling := make([]int32, len(lookedUp))
	for i, l := range lookedUp {
		hash := hashed.String(l.Name)
		n := table.Find(hash, func(n int32) bool { return lookedUp[first[n]].Name == l.Name })
		if n < 0 {
			n = table.Add(hash)
			among.add(ptx.Tail([]byte(l.Name)))
			first, count, last = append(first, int32(i)), append(count, 0), append(last, DeclID{-1, -1})
		}
		spelling[i] = n
	}
	for i, f := range r.t.Files {
		eachLocal(f, among, func(d int32, span diag.Span) {
			n := find(f.Src.Bytes(span))
			if at := (DeclID{int32(i), d}); n >= 0 && last[n] != at && r.t.LiveDecl(at) {
				last[n] = at
				count[n]++
			}
		})
	}
	kept := make([]bool, len(first))
	for n := range kept {
		kept[n] = count[n] < 2 && !r.linked[lookedUp[first[n]].Name+"$"]
	}
	for i := range alone {
		alone[i] = kept[spelling[i]]
	}
	return alone
}

// EachLocal calls visit with every name that a function of the file declares and that
// debug sections may look up, if it is one of names, and with the declaration of the
// function. It may call it with other names too. The names are labels, parameters and
// objects. It reads no body.
func EachLocal(f *object.File, names []string, visit func(d int32, name diag.Span)) {
	among := newTails(len(names))
	for _, name := range names {
		among.add(ptx.Tail([]byte(name)))
	}
	eachLocal(f, among, visit)
}

func eachLocal(f *object.File, among tails, visit func(d int32, name diag.Span)) {
	in := inDecls{f: f}
	for _, l := range f.Locals {
		if among.has(l.Tail) {
			visit(in.at(l.Off), f.LocalSpan(l))
		}
	}
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
func (r *renamer) searched(lookedUp []LocalName, alone []bool) []plainPlan {
	var list []plainPlan
	index := map[DeclID]int32{}
	for i, l := range lookedUp {
		if alone[i] || r.plans[l.DeclID] != nil {
			continue
		}
		n, ok := index[l.DeclID]
		if !ok {
			n = int32(len(list))
			index[l.DeclID] = n
			list = append(list, plainPlan{DeclID: l.DeclID})
		}
		list[n].names = append(list[n].names, int32(i))
	}
	codes := make([]*ptx.Code, len(list))
	parallel.Each(context.Background(), len(list), r.jobs, func(int) string { return "renaming" }, func(i int) {
		p := &list[i]
		f := r.t.Files[p.File]
		declared := make([]diag.Span, len(p.names))
		for k, n := range p.names {
			declared[k] = lookedUp[n].Declared
		}
		ok := false
		if p.places, ok = f.PlainPlaces(&f.Decls[p.Decl], declared); !ok {
			codes[i] = f.Code(&f.Decls[p.Decl])
		}
	})
	for i := range list {
		if codes[i] == nil {
			continue
		}
		if r.plans == nil {
			r.plans = map[DeclID]*localPlan{}
		}
		r.plans[list[i].DeclID] = &localPlan{code: codes[i], new: map[int32]string{}}
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
