package resolve

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Names holds the output name of everything. It does not change after Rename.
type Names struct {
	// Renamed lists the module-scope names whose spelling differs from their input.
	Renamed []object.ID

	out    [][]string // by file and NameID
	differ []bool     // by file: some name of it is in Renamed
	edits  map[DeclID][]ptx.Edit

	locals []LocalRename // except the ones in debugRenames
	// lookedUp are the names that debug sections look up, local their names in the output, and
	// debugRenames the indexes of the names that differ.
	lookedUp     []LocalName
	local        []string
	debugRenames []int32
}

// LocalName is a name that a function declares and that debug sections look up.
type LocalName struct {
	DeclID
	Name string
	// Declared is where the function first declares it; the zero Span if that is not
	// known.
	Declared diag.Span
}

// LocalRename renames one name, or a range of names, inside a function. The rename is needed
// because another input has a module-scope name of the old spelling, or a name that debug sections
// look up.
type LocalRename struct {
	DeclID
	Old, New string
	Span     diag.Span // where it is declared
}

// Of returns the output name of a module-scope name of a file.
func (n *Names) Of(id object.ID) string { return n.out[id.File][id.Name] }

// Differ reports whether some module-scope name of a file is renamed.
func (n *Names) Differ(file int32) bool { return n.differ[file] }

// LocalEdits returns the edits that rename the declarations of a function, in its
// header and body, in text order.
func (n *Names) LocalEdits(at DeclID) []ptx.Edit { return n.edits[at] }

// Local returns the output name of the local with an index in the list that was passed
// to Rename.
func (n *Names) Local(i int32) string { return n.local[i] }

// Locals returns the names inside functions whose spelling differs from their input, in
// file order.
func (n *Names) Locals() []LocalRename {
	list := slices.Clone(n.locals)
	for _, i := range n.debugRenames {
		l := &n.lookedUp[i]
		list = append(list, LocalRename{l.DeclID, l.Name, n.local[i], l.Declared})
	}
	slices.SortStableFunc(list, func(a, b LocalRename) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Off, b.Span.Off))
	})
	return list
}

// Rename chooses the spelling of every name in the output:
//
//  1. External names, defined or not, keep theirs; a redirected one is the name of its
//     symbol.
//  2. The first module-local name of a spelling keeps it unless an external name
//     or a cubin has it; later ones get a suffix: $str, $str$1, $str$2.
//  3. A name inside a function that has the spelling of a module-scope name of
//     another input gets a suffix (see renamer.captured).
//  4. So does a name in lookedUp, which debug sections look up, if another function
//     of the output declares the same spelling: ptxas searches the whole module for
//     it.
//  5. A new name must not be a module-scope name of any input, in a cubin or a value of
//     Options.Redirect, or declared in a function: the renamed symbol would silently bind to the
//     local.
//
// No name is in lookedUp twice. The order is always the command-line order, never the order of a
// map. Functions are read in parallel, at most jobs at a time; 0 means one per CPU.
func Rename(t *Table, lookedUp []LocalName, jobs int) *Names {
	n := &Names{out: make([][]string, len(t.Files)), differ: make([]bool, len(t.Files))}
	jobs = parallel.Jobs(jobs, len(t.Symbols) < 500 && len(lookedUp) == 0)
	r := &renamer{Names: n, t: t, fresh: newFresh(t.Files), jobs: jobs}
	r.linked = maps.Clone(r.fresh.bases)
	for name := range t.Cubins.shared {
		r.fresh.take(name)
	}
	for _, name := range t.options.Redirect {
		r.fresh.take(name)
	}
	r.moduleNames()
	r.captured()
	r.debugNames(lookedUp)
	return n
}

// renamer is the state of one call of Rename.
type renamer struct {
	*Names
	t     *Table
	fresh *fresh
	jobs  int // functions read at a time
	plans map[DeclID]*localPlan
	// linked holds the names, including the $, from which an earlier link derived
	// names.
	linked map[string]bool
}

func (r *renamer) moduleNames() {
	local := map[string]bool{} // names of module-local symbols so far
	for i, f := range r.t.Files {
		r.out[i] = make([]string, len(f.Names))
		for j, name := range f.Names {
			r.out[i][j] = name
			if s := r.t.of[i][j]; s != None {
				if to := r.t.Symbols[s].Name; to != name { // Options.Redirect
					r.out[i][j] = to
					r.differ[i] = true
				}
				continue
			}
			if local[name] || r.t.Cubins.Knows(name) || r.t.find(f.NameHash(ptx.NameID(j)), name) != None {
				r.out[i][j] = r.fresh.name(name)
				r.differ[i] = true
				r.Renamed = append(r.Renamed, object.ID{File: int32(i), Name: ptx.NameID(j)})
			}
			local[name] = true
		}
	}
}

// fresh creates names that no input has.
type fresh struct {
	taken map[string]bool
	// ranges holds the bases of register ranges with their counts, and bases the
	// bases of the names taken, because neither may declare a name of the other.
	ranges map[string]int64
	bases  map[string]bool
	last   map[string]int64 // suffixes given, by old name
}

func newFresh(files []*object.File) *fresh {
	n := &fresh{}
	for _, f := range files {
		for _, name := range f.Reserved {
			n.take(name)
		}
		for _, r := range f.ReservedRanges {
			sets.Put(&n.ranges, r.Base, max(r.Count, n.ranges[r.Base]))
		}
		for _, name := range f.Names {
			if ptx.Suffixed([]byte(name)) {
				n.take(name)
			}
		}
	}
	return n
}

func (n *fresh) take(name string) {
	sets.Put(&n.taken, name, true)
	if base, _, ok := ptx.SplitNumber(name); ok {
		sets.Put(&n.bases, base, true)
	}
}

// next returns old+"$"+n and n, where n is the next unused suffix of old.
func (n *fresh) next(old string) (name string, suffix int64) {
	suffix = n.last[old] + 1
	sets.Put(&n.last, old, suffix)
	return old + "$" + strconv.FormatInt(suffix, 10), suffix
}

// name derives a new name from old. New names never collide with each other, because the text
// before the last $ is the old name.
func (n *fresh) name(old string) string {
	for {
		name, suffix := n.next(old)
		if base := name[:len(old)+1]; suffix >= n.ranges[base] && !n.taken[name] {
			sets.Put(&n.bases, base, true) // so that no range gets this base
			return name
		}
	}
}

// base derives a new base of a range from old. It ends in $, so that its members
// have the form of the other new names.
func (n *fresh) base(old string, count int64) string {
	for {
		base, _ := n.next(old)
		base += "$"
		if _, ok := n.ranges[base]; !ok && !n.bases[base] {
			sets.Put(&n.ranges, base, count)
			return base
		}
	}
}
