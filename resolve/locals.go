package resolve

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// localPlan holds the new names for the declarations of one function.
type localPlan struct {
	code *ptx.Code
	new  map[int32]string // by index in code.Locals
	// first holds the first declaration of each name that is not a register. It is made when it is
	// needed.
	first map[string]int32
}

// find returns the first local of a name that is not a register.
func (p *localPlan) find(name string) (i int32, ok bool) {
	if p.first == nil {
		p.first = map[string]int32{}
		for i := range p.code.Locals {
			if l := &p.code.Locals[i]; l.Kind != ptx.Register && l.Count < 0 {
				spelling := p.code.Module.Src.Bytes(l.Name)
				if _, known := p.first[string(spelling)]; !known {
					p.first[string(spelling)] = int32(i)
				}
			}
		}
	}
	i, ok = p.first[name]
	return i, ok
}

func (r *renamer) planOf(at DeclID) *localPlan {
	if p := r.plans[at]; p != nil {
		return p
	}
	f := r.t.Files[at.File]
	return r.plan(at, f.Code(&f.Decls[at.Decl]))
}

func (r *renamer) plan(at DeclID, code *ptx.Code) *localPlan {
	p := &localPlan{code: code, new: map[int32]string{}}
	sets.Put(&r.plans, at, p)
	return p
}

func (r *renamer) renameLocal(at DeclID, p *localPlan, i int32) {
	f := r.t.Files[at.File]
	l := &p.code.Locals[i]
	old := f.Src.String(l.Name)
	if l.Count >= 0 {
		p.new[i] = r.fresh.base(old, l.Count)
	} else {
		p.new[i] = r.fresh.name(old)
	}
	r.locals = append(r.locals, LocalRename{at, old, p.new[i], l.Name})
}

// captured renames names inside functions that have the spelling of a module-scope
// name of another input, because ptxas may confuse the two. By the rules of PTX the inner name
// hides the outer one, but ptxas resolves a forward branch to the earlier module-scope name. Under
// undocumented conditions it does the same for parameters, call objects and registers
// (testdata/script/local_capture.txtar, label_forward.txtar).
func (r *renamer) captured() {
	o := newOwners(r.t, r.out)
	suspects := make([][]int32, len(r.t.Files))
	parallel.Each(context.Background(), len(suspects), r.jobs, func(int) string { return "renaming" }, func(i int) {
		suspects[i] = o.suspects(r.t.Files[i], int32(i))
	})
	for i, f := range r.t.Files {
		for _, d := range suspects[i] {
			at := DeclID{int32(i), d}
			end := f.Decls[d].Span.End()
			p := r.planOf(at)
			for k := range p.code.Locals {
				l := &p.code.Locals[k]
				name := f.Src.String(l.Name)
				if l.Count < 0 && o.foreign(f.Src.Bytes(l.Name), int32(i), end) || l.Count >= 0 && o.foreignMember(name, l.Count, int32(i), end) {
					r.renameLocal(at, p, int32(k))
				}
			}
			if len(p.new) == 0 {
				delete(r.plans, at)
			}
		}
	}
}

// edits renames every use of a renamed local in the function, and spells out the
// lists of targets that contain one. out holds the output names of the module.
func (p *localPlan) edits(out []string) []ptx.Edit {
	src := p.code.Module.Src
	var edits []ptx.Edit
	rename := func(i int32, name diag.Span) {
		if text, ok := p.new[i]; ok {
			l := &p.code.Locals[i]
			edits = append(edits, ptx.Edit{Span: name, Text: text + src.String(name)[l.Name.Len:]})
		}
	}
	for i := range p.code.Locals {
		if l := &p.code.Locals[i]; l.Kind == ptx.Parameter {
			rename(int32(i), l.Name)
		}
	}
	for i, t := range p.code.Tokens {
		if local, ok := p.code.Reference(i).Local(); ok {
			rename(local, t.Span())
		}
	}
	for _, list := range p.code.TargetRanges {
		name := func(k int) (name string, renamed bool) {
			if i, ok := list.Targets[k].Local(); ok && p.new[i] != "" {
				return p.new[i], true
			}
			name = src.String(list.Base) + strconv.Itoa(k)
			if id, ok := list.Targets[k].Name(); ok && out[id] != name {
				return out[id], true
			}
			return name, false
		}
		var names []string
		changed := false
		for k := range list.Targets {
			target, renamed := name(k)
			names, changed = append(names, target), changed || renamed
		}
		if changed {
			edits = append(edits, ptx.Edit{Span: list.Span, Text: strings.Join(names, ", ")})
		}
	}
	ptx.SortEdits(edits)
	return edits
}

// inDecls finds the declarations that contain places. The places must be in text
// order.
type inDecls struct {
	f *object.File
	d int32
}

func (in *inDecls) at(off int32) int32 {
	for in.f.Decls[in.d].Span.End() <= off {
		in.d++
	}
	return in.d
}

// owners records which file has which module-scope name in the output.
type owners struct {
	t *Table
	// of holds the file of each module-local name in the output, and external the
	// file of all mentions of each symbol, or several if they are in different files.
	of       map[string]int32
	external []int32
	// numbered lists the names that end in a number, by the part before it.
	numbered map[string]*numbered
	percent  bool // some name starts with %
	tails    tails
}

const several = -1

// numbered holds the names base0, base7, ... Once sorted, the fields by index
// record whether the names up to it belong to more than one file and, if not, where
// the last of them is declared.
type numbered struct {
	names  []numberedName
	mixed  []bool
	latest []int32
}

type numberedName struct {
	number    int64
	file, off int32
}

func newOwners(t *Table, out [][]string) *owners {
	o := &owners{t: t, external: make([]int32, len(t.Symbols))}
	for i := range t.Symbols {
		mentions := t.Symbols[i].Mentions
		if o.external[i] = mentions[0].File; mentions[len(mentions)-1].File != mentions[0].File {
			o.external[i] = several
		}
		if o.redirected(SymbolID(i)) {
			o.external[i] = several
		}
	}
	ranges, count := false, 0
	for i, f := range t.Files {
		count += len(out[i])
		ranges = ranges || len(f.LocalRanges) > 0
		for _, name := range out[i] {
			o.percent = o.percent || name[0] == '%'
		}
	}
	o.tails = newTails(count)
	for i, f := range t.Files {
		for j, name := range out[i] {
			o.tails.add(ptx.Tail([]byte(name)))
			if t.of[i][j] == None {
				sets.Put(&o.of, name, int32(i))
			}
			if !ranges && !o.percent {
				continue
			}
			if base, number, ok := ptx.SplitNumber(name); ok {
				if o.numbered[base] == nil {
					sets.Put(&o.numbered, base, &numbered{})
				}
				n := o.numbered[base]
				owner := int32(i)
				if s := t.of[i][j]; s != None && o.redirected(s) {
					owner = several
				}
				n.names = append(n.names, numberedName{number, owner, f.NamePlace(ptx.NameID(j)).Span.Off})
			}
		}
	}
	for _, n := range o.numbered {
		n.sort()
	}
	return o
}

// redirected reports whether another name has become the name of a symbol: a local of this name
// would hide it from text that had the other name.
func (o *owners) redirected(s SymbolID) bool {
	if o.t.options.Redirect == nil && !o.t.twins {
		return false
	}
	symbol := &o.t.Symbols[s]
	return slices.ContainsFunc(symbol.Mentions, func(id object.ID) bool { return o.t.Files[id.File].Names[id.Name] != symbol.Name })
}

// suspects returns the functions of a file that may declare a module-scope name of
// another input.
func (o *owners) suspects(f *object.File, file int32) []int32 {
	var list []int32
	if o.percent { // because registers that start with % are not among Locals
		for d := range f.Decls {
			if f.Decls[d].HasBody {
				list = append(list, int32(d))
			}
		}
		return list
	}
	for _, names := range [][]ptx.LocalName{f.Locals, f.LocalRegisters} {
		in := inDecls{f: f}
		for _, name := range names {
			if !o.tails.has(name.Tail) {
				continue
			}
			if d := in.at(name.Off); o.foreign(f.Src.Bytes(f.LocalSpan(name)), file, f.Decls[d].Span.End()) {
				list = append(list, d)
			}
		}
	}
	in := inDecls{f: f}
	for _, r := range f.LocalRanges {
		if d := in.at(r.Base.Off); o.foreignMember(string(f.Src.Bytes(r.Base)), r.Count, file, f.Decls[d].Span.End()) {
			list = append(list, d)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// foreign reports whether a name is declared before a function of the file, which
// ends at end, in the output but not in the input: it belongs to another file, or
// the file declares it after the function.
func (o *owners) foreign(name []byte, file, end int32) bool {
	owner, ok := o.of[string(name)]
	if s := o.t.byName.Find(sets.HashBytes(name), func(n int32) bool { return o.t.Symbols[n].Name == string(name) }); s >= 0 {
		owner, ok = o.external[s], true
	}
	if !ok || owner != file {
		return ok
	}
	id, ok := o.t.Files[file].Lookup(string(name))
	return ok && o.t.Files[file].NamePlace(id).Span.Off >= end
}

// foreignMember reports whether foreign is true of any member of a range.
func (o *owners) foreignMember(base string, count int64, file, end int32) bool {
	n := o.numbered[base]
	if n == nil {
		return false
	}
	last := sort.Search(len(n.names), func(i int) bool { return n.names[i].number >= count }) - 1
	return last >= 0 && (n.mixed[last] || n.names[0].file != file || n.latest[last] >= end)
}

func (n *numbered) sort() {
	slices.SortStableFunc(n.names, func(a, b numberedName) int { return cmp.Compare(a.number, b.number) })
	mixed, latest := false, int32(0)
	for _, name := range n.names {
		mixed = mixed || name.file != n.names[0].file
		latest = max(latest, name.off)
		n.mixed, n.latest = append(n.mixed, mixed), append(n.latest, latest)
	}
}
