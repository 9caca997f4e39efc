package program

import (
	"slices"

	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// These are the kinds of metadata of trace.mark. The texts and the events have numbers, and an
// association_table names the function that has the labels of its records.
const (
	eventText   = "string_table_record"
	event       = "event_annotation_record"
	eventsTable = "association_table"
)

// metadata adds one .metadata_section with the nodes of all modules, because ptxas 13.5 accepts
// only one. Numbers continue from module to module, labels are made unique, and nodes that describe
// the trace.mark of removed functions are removed.
func (pl *planner) metadata() {
	var pieces ptx.Pieces
	domain := ""
	next := map[string]int64{} // the least free number of texts and events, and of nodes: ""
	marks := labels{taken: map[string]bool{}, last: map[string]int64{}}
	var live map[resolve.DeclID]bool
	for i, f := range pl.Table.Files {
		for _, o := range f.Others {
			meta, ok := f.Metadata(o)
			if !ok {
				continue
			}
			if live == nil {
				live = map[resolve.DeclID]bool{}
				for _, d := range pl.Bodies {
					live[d] = true
				}
			}
			if meta.Domain.Len > 0 {
				domain = "\t" + f.Src.String(meta.Domain) + "\n"
			}
			nodes := neededNodes(f, meta.Nodes, func(decl int32) bool { return live[resolve.DeclID{File: int32(i), Decl: decl}] })
			renamed := marks.rename(f, nodes)
			if len(renamed) > 0 {
				if pl.marks == nil {
					pl.marks = make([]map[string]string, len(pl.Table.Files))
				}
				pl.marks[i] = renamed
			}
			first := map[string]int64{"": next[""], eventText: next[eventText], event: next[event]}
			for _, n := range nodes {
				pieces = append(pieces, ptx.Piece{Src: f.Src, Span: n.Span, Text: "\t", Edits: pl.nodeEdits(int32(i), n, renamed, first, next), After: true})
			}
		}
	}
	if live == nil {
		return
	}
	pl.own(".metadata_section {\n" + domain)
	for _, piece := range pieces {
		pl.add(piece)
	}
	pl.own("}\n")
}

// neededNodes returns the nodes except tables of functions that are not live, and nodes that only
// these tables refer to.
func neededNodes(f *object.File, nodes []ptx.MetadataNode, live func(decl int32) bool) (needed []ptx.MetadataNode) {
	byNumber := map[int64]int{}
	for k, n := range nodes {
		byNumber[n.Number.Value] = k
	}
	keep, used := make([]bool, len(nodes)), make([]bool, len(nodes))
	for k, n := range slices.Backward(nodes) { // because nodes refer to nodes before them
		if !used[k] {
			keep[k] = true
			if id, ok := tableFunction(f, n); ok {
				keep[k] = live(f.Symbols[id].Def)
			}
		}
		for _, item := range n.Items {
			if at, ok := byNumber[item.Value]; ok && item.Form == ptx.MetadataIndex {
				used[at] = true
				keep[at] = keep[at] || keep[k]
			}
		}
	}
	for k, n := range nodes {
		if keep[k] {
			needed = append(needed, n)
		}
	}
	return needed
}

// tableFunction returns the function that a table describes. ok is false unless the module defines
// it.
func tableFunction(f *object.File, n ptx.MetadataNode) (id ptx.NameID, ok bool) {
	if f.Kind(n) != eventsTable || len(n.Items) < 2 || n.Items[1].Form != ptx.MetadataText {
		return 0, false
	}
	id, ok = f.Lookup(f.Src.String(n.Items[1].Span))
	return id, ok && f.Symbols[id].Def >= 0
}

// nodeEdits renumbers a node. first holds the numbers to add to the numbers of its module, and next
// is raised to the first free number.
func (pl *planner) nodeEdits(file int32, n ptx.MetadataNode, renamed map[string]string, first, next map[string]int64) (edits []ptx.Edit) {
	f := pl.Table.Files[file]
	number := func(item ptx.MetadataItem, of string, defines bool) {
		value := item.Value + first[of]
		if defines {
			next[of] = max(next[of], value+1)
		}
		if first[of] > 0 {
			edits = append(edits, ptx.Edit{Span: item.Span, Text: itoa(value)})
		}
	}
	number(n.Number, "", true)
	for k, item := range n.Items {
		switch kind := f.Kind(n); {
		case item.Form == ptx.MetadataIndex:
			number(item, "", false)
		case item.Form == ptx.MetadataLabel:
			if to := renamed[f.Src.String(item.Span)]; to != "" {
				edits = append(edits, ptx.Edit{Span: item.Span, Text: to})
			}
		case item.Form == ptx.MetadataNumber && k == 1 && (kind == eventText || kind == event):
			number(item, kind, true)
		}
	}
	if id, ok := tableFunction(f, n); ok {
		edits = append(edits, ptx.Edit{Span: n.Items[1].Span, Text: pl.Names.Of(object.ID{File: file, Name: id})})
	}
	ptx.SortEdits(edits)
	return edits
}

// labels holds the labels of the modules so far, so that new ones can be made unique.
type labels struct {
	taken map[string]bool
	last  map[string]int64 // by the name without its number
}

// rename returns new names for the labels of a module that are taken, since labels must be unique
// in the output.
func (l *labels) rename(f *object.File, nodes []ptx.MetadataNode) (renamed map[string]string) {
	renamed = map[string]string{}
	var names []string
	for _, n := range nodes {
		for _, item := range n.Items {
			if item.Form == ptx.MetadataLabel {
				names = append(names, f.Src.String(item.Span))
			}
		}
	}
	for _, name := range names {
		if base, number, ok := ptx.SplitNumber(name); ok {
			l.last[base] = max(l.last[base], number)
		}
	}
	for _, name := range names {
		if l.taken[name] && renamed[name] == "" {
			base, _, ok := ptx.SplitNumber(name)
			if !ok {
				base = name
			}
			l.last[base]++
			renamed[name] = base + itoa(l.last[base])
			l.taken[renamed[name]] = true
		}
	}
	for _, name := range names {
		l.taken[name] = true
	}
	return renamed
}

func (pl *planner) markEdits(file int32, decl *ptx.Decl) (edits []ptx.Edit) {
	if pl.marks == nil || pl.marks[file] == nil {
		return nil
	}
	c := pl.Table.Files[file].Code(decl)
	for _, st := range c.Statements {
		if st.Kind != ptx.Instruction || c.Opcode(st) != "trace" {
			continue
		}
		for i := st.Operands; i < st.End; i++ {
			if to := pl.marks[file][string(c.Text(c.Tokens[i]))]; to != "" && c.Reference(int(i)) == ptx.NoReference {
				edits = append(edits, ptx.Edit{Span: c.Tokens[i].Span(), Text: to})
			}
		}
	}
	return edits
}
