package resolve

import (
	"strconv"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Names says what everything is called in the output.
type Names struct {
	out     [][]string // by file and NameID
	Renamed []object.ID
	Labels  []LabelRename
	taken   map[string]bool
	ranges  []ptx.Range    // of registers that look like ours
	next    map[string]int // the last suffix given to a base name
}

// LabelRename is a label of one function that must not be spelled as it is: a
// forward branch to it would find a module-scope name of another input.
type LabelRename struct {
	File     int32
	Decl     int32
	Old, New string
	Spans    []diag.Span // definitions and uses, in order
}

// Of is the output name of a name of a file.
func (n *Names) Of(id object.ID) string { return n.out[id.File][id.Name] }

// Rename gives every name its spelling in the output:
//
//  1. External names, defined or not, keep theirs.
//  2. The first module-local name of a spelling keeps it if no external name
//     has it; later ones get a suffix: $str, $str$1, $str$2.
//  3. No new name is one that any input spells at module scope, or that a
//     function declares: the renamed symbol would bind to the local, silently.
//
// Only names that t.Wins take part. Command-line order decides, never a map.
func Rename(t *Table) *Names {
	n := &Names{out: make([][]string, len(t.Files)), taken: map[string]bool{}, next: map[string]int{}}
	spelled := 0
	for _, f := range t.Files {
		spelled += len(f.Names)
	}
	first := make(map[string]bool, spelled)
	for i := range t.Symbols {
		first[t.Symbols[i].Name] = true
	}
	for _, f := range t.Files {
		for _, name := range f.Reserved {
			n.taken[name] = true
		}
		n.ranges = append(n.ranges, f.ReservedRanges...)
		for _, name := range f.Names {
			if ptx.Suffixed([]byte(name)) {
				n.taken[name] = true
			}
		}
	}
	for i, f := range t.Files {
		n.out[i] = make([]string, len(f.Names))
		for j, name := range f.Names {
			id := object.ID{File: int32(i), Name: ptx.NameID(j)}
			n.out[i][j] = name
			if t.of[i][j] != None {
				continue
			}
			if first[name] {
				n.out[i][j] = n.Unused(name)
				n.Renamed = append(n.Renamed, id)
			}
			first[name] = true
		}
	}
	n.renameLabels(t, first)
	return n
}

// Unused makes a name of the given base that nothing else has.
func (n *Names) Unused(base string) string {
	for {
		n.next[base]++
		name := base + "$" + strconv.Itoa(n.next[base])
		if n.taken[name] || n.inRange(name) {
			continue
		}
		n.taken[name] = true
		return name
	}
}

func (n *Names) inRange(name string) bool {
	for _, r := range n.ranges {
		if r.Has(name) {
			return true
		}
	}
	return false
}

// renameLabels changes labels that are the target of a branch and spelled like
// a module-scope name of the output (testdata/script/label_forward.txtar).
func (n *Names) renameLabels(t *Table, spelled map[string]bool) {
	for i, f := range t.Files {
		if len(f.Branches) == 0 {
			continue
		}
		decl := 0
		done := map[string]bool{} // of the declaration at hand
		for _, span := range f.Branches {
			name := f.Src.Bytes(span)
			if !spelled[string(name)] {
				continue
			}
			for f.Decls[decl].Span.End() <= span.Off {
				decl++
				clear(done)
			}
			if label := string(name); !done[label] {
				done[label] = true
				n.Labels = append(n.Labels, LabelRename{
					File: int32(i), Decl: int32(decl), Old: label, New: n.Unused(label),
					Spans: f.LabelSpans(&f.Decls[decl], label),
				})
			}
		}
	}
}
