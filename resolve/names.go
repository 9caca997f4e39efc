package resolve

import (
	"strconv"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Names says what everything is called in the output.
type Names struct {
	out     [][]string // by file and NameID
	Renamed []object.ID
	Locals  []LocalRename
	taken   map[string]bool
	ranges  []ptx.Range    // of registers that look like ours
	next    map[string]int // the last suffix given to a base name
}

// LocalRename is a name inside one function that must not be spelled as it is:
// another input has a module-scope name of that spelling, and ptxas may take the
// one for the other, without a word. Base and Count are those of a register range;
// Count is -1 for a single name.
type LocalRename struct {
	File     int32
	Decl     int32
	Old, New string
	Count    int64
	Span     diag.Span // where it is declared
}

// Rename is what a token of the function is called, empty if it keeps its name.
func (r LocalRename) Rename(token string) string {
	switch {
	case token == r.Old:
		return r.New
	case r.Count >= 0 && (ptx.Range{Base: r.Old, Count: r.Count}).Has(token):
		return r.New + token[len(r.Old):]
	}
	return ""
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
	n.renameLocals(t)
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

// renameLocals changes names inside functions that are spelled like a
// module-scope name of another input. By the rules of PTX the inner name hides
// the outer one, but ptxas resolves a forward branch, and under conditions that
// nobody wrote down parameters, call objects and registers too, to what stands
// earlier in the module (testdata/script/local_capture.txtar,
// label_forward.txtar).
func (n *Names) renameLocals(t *Table) {
	owner := map[string]int32{} // a file that has the output name at module scope; -1 for several
	for i, f := range t.Files {
		for j := range f.Names {
			name := n.out[i][j]
			if other, ok := owner[name]; ok && other != int32(i) {
				owner[name] = -1
			} else {
				owner[name] = int32(i)
			}
		}
	}
	for i, f := range t.Files {
		// A name of the file itself counts if it is declared behind the function:
		// the output has it in front.
		decl := 0
		foreign := func(name string) bool {
			o, ok := owner[name]
			if !ok || o != int32(i) {
				return ok
			}
			id, own := f.Lookup(name)
			return own && f.NamePlace(id).Span.Off >= f.Decls[decl].Span.End()
		}
		done := map[string]bool{} // of the declaration at hand
		at := func(span diag.Span) {
			for f.Decls[decl].Span.End() <= span.Off {
				decl++
				clear(done)
			}
		}
		for _, span := range f.Locals {
			at(span)
			if name := f.Src.Bytes(span); foreign(string(name)) {
				if old := string(name); !done[old] {
					done[old] = true
					n.Locals = append(n.Locals, LocalRename{int32(i), int32(decl), old, n.Unused(old), -1, span})
				}
			}
		}
		decl = 0
		clear(done)
		for _, r := range f.LocalRanges {
			at(r.Base)
			base := f.Src.String(r.Base)
			for name := range owner {
				if strings.HasPrefix(name, base) && foreign(name) && (ptx.Range{Base: base, Count: r.Count}).Has(name) {
					n.Locals = append(n.Locals, LocalRename{int32(i), int32(decl), base, n.Unused(base) + "_", r.Count, r.Base})
					break
				}
			}
		}
	}
}
