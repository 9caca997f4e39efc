package optimize

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// lineInfo keeps the .loc lines of inlined functions right, as nvcc does: a line of the callee
// records the line of the caller at which it is inlined, and the name of the callee. A line that
// was inlined into the callee before refers to one of the callee's lines, which must come before
// it.
type lineInfo struct {
	// labels maps functions to the labels of their names in .debug_str.
	labels map[string]string
	added  []string // functions with labels, in order
}

func locAt(m *ptx.Module, off int32) *ptx.Loc {
	i, _ := m.LocsIn(ptx.Span{Off: off, Len: 1})
	return &m.Locs[i]
}

// inlineLocs returns the edits of the .loc lines of a callee, and the line that follows the call.
// If the call has no line, the callee's lines are removed, because they would otherwise hold for
// the rest of the caller.
func (s *state) inlineLocs(at *site) (edits []edit, after string) {
	call := at.loc
	for _, loc := range locsOf(at.code) {
		if call == nil {
			edits = append(edits, edit{span: loc.Span})
			continue
		}
		after = "\n" + at.caller.src.String(call.Span) + "\n"
		if s.labelled(loc) {
			edits = append(edits, edit{span: ptx.Span{Off: loc.Span.End()}, text: fmt.Sprintf(", function_name %s, inlined_at %d %d %d",
				s.locs.labels[at.callee.name], call.File, call.Line, call.Column)})
		}
	}
	return edits, after
}

func locsOf(c *ptx.Code) (list []*ptx.Loc) {
	for _, st := range c.Statements {
		if st.Kind == ptx.Directive && c.Opcode(st) == ".loc" {
			list = append(list, locAt(c.Module, c.Span(st).Off))
		}
	}
	return list
}

// labelled reports whether a line that is inlined gets the name of its function.
func (s *state) labelled(loc *ptx.Loc) bool {
	return loc.Inlining == nil && !s.p.Version.Less(ptx.Version{Major: 7, Minor: 2})
}

// labelLines gives a callee a label for its name in .debug_str, if its lines must have the name.
func (s *state) labelLines(at *site) {
	name := at.callee.name
	if at.loc != nil && s.locs.labels[name] == "" && slices.ContainsFunc(locsOf(at.code), s.labelled) {
		s.locs.added = append(s.locs.added, name)
		s.locs.labels[name] = fmt.Sprintf("$%sname%d", s.word, len(s.locs.added))
	}
}

// names returns the text for .debug_str: the names of the functions with labels.
func (s *state) names() string {
	var b strings.Builder
	for _, function := range s.locs.added {
		fmt.Fprintf(&b, "\n%s:", s.locs.labels[function])
		for i, ch := range []byte(function + "\x00") {
			sep := ","
			if i%40 == 0 {
				sep = "\n.b8 "
			}
			fmt.Fprintf(&b, "%s%d", sep, ch)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
