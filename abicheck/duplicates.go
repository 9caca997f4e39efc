package abicheck

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Duplicates compares second strong definitions of a name with the first. With dedupe it reports them: with a note for
// each two modules if they have the text of the first, which then stands for both, and as errors otherwise.
// Without, Resolve has reported them, and it marks those that have the text of the first.
func Duplicates(t *resolve.Table, dedupe bool, log *diag.Log) {
	same := map[[2]int32]map[ptx.NameID]ptx.NameID{} // by the two files
	notes, more := map[[2]int32]*diag.Message{}, map[[2]int32]int{}
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if len(s.Mentions) < 2 || !s.Defined() || !t.Strong(s.Def) {
			continue
		}
		for _, id := range s.Mentions {
			if id == s.Def || !t.Strong(id) {
				continue
			}
			files := [2]int32{s.Def.File, id.File}
			c := copies{t: t, log: log, a: s.Def.File, b: id.File, same: same[files], pairs: map[ptx.NameID]ptx.NameID{}}
			reason := c.differ(s.Def.Name, id.Name)
			switch {
			case !dedupe:
				t.Duplicates[id].Same = reason == ""
			case reason != "":
				t.Duplicate(s, id, log).Note(diag.Place{}, log.Option("--dedupe-identical")+" keeps both apart: "+reason)
			}
			if reason != "" {
				continue
			}
			if same[files] == nil {
				same[files] = c.pairs
			} else {
				maps.Copy(same[files], c.pairs)
			}
			if !dedupe {
				continue
			}
			if notes[files] != nil {
				more[files]++
				continue
			}
			notes[files] = log.Note(t.Files[id.File].NamePlace(id.Name), fmt.Sprintf("%s is defined with the same text in %s, whose definition is used", log.Name(s.Name), t.Files[s.Def.File].Name))
		}
	}
	for files, n := range more {
		notes[files].Text += "; the same holds for " + Plural(n, "more definition")
	}
}

// copies compares definitions of two modules with all that is private to the modules
// and that they use.
type copies struct {
	t     *resolve.Table
	log   *diag.Log
	a, b  int32
	pairs map[ptx.NameID]ptx.NameID // names of a, and the names of b that they stand for
	same  map[ptx.NameID]ptx.NameID // such pairs of earlier definitions, which were copies
}

// differ returns why two definitions are not copies of each other, or "".
func (c *copies) differ(a, b ptx.NameID) string {
	f, g := c.t.Files[c.a], c.t.Files[c.b]
	x, y := f.Symbols[a], g.Symbols[b]
	if x.Def < 0 || y.Def < 0 {
		return "one is an alias"
	}
	d, e := &f.Decls[x.Def], &g.Decls[y.Def]
	if d.Kind != e.Kind || !bytes.Equal(declared(f, d), declared(g, e)) {
		return "they are declared differently"
	}
	at, other := resolve.DeclID{File: c.a, Decl: x.Def}, resolve.DeclID{File: c.b, Decl: y.Def}
	if !sameMeaning(contents(c.t, at), contents(c.t, other)) {
		return "what they use is declared differently"
	}
	m, same := match(c.t, at, other)
	if !same {
		return "their text differs"
	}
	for _, p := range slices.Sorted(maps.Keys(m.statics)) { // so that the reason is the same each time
		q := m.statics[p]
		known, ok := c.same[p]
		if !ok {
			known, ok = c.pairs[p]
		}
		if ok {
			if known != q {
				return "their text differs"
			}
			continue
		}
		c.pairs[p] = q
		if reason := c.differPrivate(p, q); reason != "" {
			return reason
		}
	}
	return ""
}

// differPrivate compares names that are private to the modules. A variable that could be written,
// and that other code of its module uses, has two values in the program, but the copies would use
// only one. Nothing writes to the tables of libdevice, which sin and cos read.
func (c *copies) differPrivate(a, b ptx.NameID) string {
	f, g := c.t.Files[c.a], c.t.Files[c.b]
	d := f.DeclOf(a)
	if d == nil || f.Symbols[a].Def < 0 || g.Symbols[b].Def < 0 {
		return ""
	}
	if reason := c.differ(a, b); reason != "" {
		return fmt.Sprintf("they use %s, which is private to each module, and of that %s", c.log.Name(f.Names[a]), reason)
	}
	constant := d.Kind != ptx.Variable || d.Space == ".const" || strings.Contains(f.Names[a], "$") || strings.HasPrefix(f.Names[a], "__unnamed_") || strings.HasPrefix(f.Names[a], "__cudart_")
	if !constant {
		return fmt.Sprintf("they use %s, which is private to each module and can change", c.log.Name(f.Names[a]))
	}
	return ""
}

// declared returns the declaration of a definition without linkage, name, body and
// value, in one spelling.
func declared(f *object.File, d *ptx.Decl) []byte {
	if d.Kind == ptx.Variable {
		return fmt.Appendf(nil, "%s %s %v %v", ptx.Compact(f.Src.Bytes(d.Prefix)), ptx.Compact(f.Src.Bytes(d.Dims)), d.Managed, d.Unified)
	}
	edits := []ptx.Edit{{Span: d.NameSpan}}
	return ptx.Compact(ptx.Apply(nil, f.Src.Text, d.Header, edits))
}
