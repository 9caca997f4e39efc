package resolve

import (
	"maps"
	"sort"
	"strconv"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Names says what everything is called in the output. Nothing in it changes after
// Rename.
type Names struct {
	// Renamed are the module-scope names that are not spelled as in their input.
	Renamed []object.ID
	// Locals are the names inside functions that are not spelled as in their input,
	// in the order of the files.
	Locals []LocalRename

	out    [][]string // by file and NameID
	differ []bool     // by file: some name of it is in Renamed
	edits  map[DeclID][]ptx.Edit
	local  map[LocalName]string // of Locals that debug sections look up
}

// LocalName is a name that a function declares.
type LocalName struct {
	DeclID
	Name string
}

// LocalRename is a name inside one function, or a range of names, that must not be
// spelled as in the input: another input has a module-scope name of that spelling,
// or one that debug sections look up.
type LocalRename struct {
	DeclID
	Old, New string
	Span     diag.Span // where it is declared
}

// Of returns the output name of a module-scope name of a file.
func (n *Names) Of(id object.ID) string { return n.out[id.File][id.Name] }

// Differ reports whether some module-scope name of a file is not spelled as in it.
func (n *Names) Differ(file int32) bool { return n.differ[file] }

// LocalEdits returns the edits that rename what a function declares, in its
// header and body, in the order of the text.
func (n *Names) LocalEdits(at DeclID) []ptx.Edit { return n.edits[at] }

// Local returns the output name of a local that Rename was told of.
func (n *Names) Local(l LocalName) string {
	if name, ok := n.local[l]; ok {
		return name
	}
	return l.Name
}

// Rename gives every name its spelling in the output:
//
//  1. External names, defined or not, keep theirs.
//  2. The first module-local name of a spelling keeps it if no external name
//     has it; later ones get a suffix: $str, $str$1, $str$2.
//  3. A name inside a function that is spelled like a module-scope name of another
//     input gets one (see renamer.captured).
//  4. So does a name in lookedUp, which debug sections look up, if another function
//     of the output declares the spelling: ptxas looks it up over the whole module.
//  5. No new name is one that any input spells at module scope, or that a
//     function declares: the renamed symbol would bind to the local, silently.
//
// Command-line order decides, never a map.
func Rename(t *Table, lookedUp []LocalName) *Names {
	n := &Names{out: make([][]string, len(t.Files)), differ: make([]bool, len(t.Files)), edits: map[DeclID][]ptx.Edit{}, local: map[LocalName]string{}}
	r := &renamer{Names: n, t: t, fresh: newFresh(t.Files)}
	r.linked = maps.Clone(r.fresh.bases)
	r.moduleNames()
	r.captured()
	r.debugNames(lookedUp)
	sort.SliceStable(n.Locals, func(i, j int) bool {
		a, b := n.Locals[i], n.Locals[j]
		return a.File < b.File || a.File == b.File && a.Span.Off < b.Span.Off
	})
	return n
}

// renamer is the work of one Rename.
type renamer struct {
	*Names
	t     *Table
	fresh *fresh
	plans map[DeclID]*localPlan
	// linked are the names, with their $, that an input has made-up names of.
	linked map[string]bool
}

func (r *renamer) moduleNames() {
	spelled := 0
	for _, f := range r.t.Files {
		spelled += len(f.Names)
	}
	first := make(map[string]bool, spelled)
	for i := range r.t.Symbols {
		first[r.t.Symbols[i].Name] = true
	}
	for i, f := range r.t.Files {
		r.out[i] = make([]string, len(f.Names))
		for j, name := range f.Names {
			r.out[i][j] = name
			if r.t.of[i][j] != None {
				continue
			}
			if first[name] {
				r.out[i][j] = r.fresh.name(name)
				r.differ[i] = true
				r.Renamed = append(r.Renamed, object.ID{File: int32(i), Name: ptx.NameID(j)})
			}
			first[name] = true
		}
	}
}

// fresh makes names that no input has.
type fresh struct {
	taken map[string]bool
	// ranges are the bases of register ranges, with their counts, and bases those
	// of the names taken: neither may declare what the other has.
	ranges map[string]int64
	bases  map[string]bool
	next   map[string]int // the last suffix given to a base name
}

func newFresh(files []*object.File) *fresh {
	n := &fresh{taken: map[string]bool{}, ranges: map[string]int64{}, bases: map[string]bool{}, next: map[string]int{}}
	for _, f := range files {
		for _, name := range f.Reserved {
			n.take(name)
		}
		for _, r := range f.ReservedRanges {
			n.ranges[r.Base] = max(r.Count, n.ranges[r.Base])
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
	n.taken[name] = true
	if base, _, ok := ptx.SplitNumber(name); ok {
		n.bases[base] = true
	}
}

// name makes a name from the one that it replaces.
func (n *fresh) name(old string) string {
	for {
		n.next[old]++
		name := old + "$" + strconv.Itoa(n.next[old])
		base, number, _ := ptx.SplitNumber(name)
		if count, ok := n.ranges[base]; n.taken[name] || ok && number < count {
			continue
		}
		n.take(name)
		return name
	}
}

// base makes the base of a range from the one that it replaces. It ends in $, so
// that its members look like the other names made here.
func (n *fresh) base(old string, count int64) string {
	for {
		n.next[old]++
		base := old + "$" + strconv.Itoa(n.next[old]) + "$"
		if _, ok := n.ranges[base]; ok || n.bases[base] {
			continue
		}
		n.ranges[base] = count
		return base
	}
}
