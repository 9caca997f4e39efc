package ptx

import (
	"slices"
	"sort"
)

// InlinedLines finds the lines of a module that others are inlined at. ptxas refuses an
// inlined_at whose place has no .loc before it
// (testdata/script/loc_inlined_dropped.txtar), so what leaves out a body repeats them.
type InlinedLines struct {
	m  *Module
	at map[LocPlace][]int32 // Locs by place, once they are needed
}

// NewInlinedLines returns the lines of a module.
func NewInlinedLines(m *Module) *InlinedLines { return &InlinedLines{m: m} }

// Missing returns the lines that Locs[i] is inlined at, directly or indirectly, the outermost
// first, up to one whose place is known.
func (l *InlinedLines) Missing(i int, known func(*Loc) bool) (chain []int) {
	for m := l.m; m.Locs[i].Inlining != nil && !known(&m.Locs[i]); {
		if l.at == nil {
			l.at = make(map[LocPlace][]int32)
			for k := range m.Locs {
				place := m.Locs[k].LocPlace
				l.at[place] = append(l.at[place], int32(k))
			}
		}
		before := l.at[m.Locs[i].InlinedAt]
		k := sort.Search(len(before), func(k int) bool { return int(before[k]) >= i })
		if k == 0 {
			break
		}
		i = int(before[k-1])
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	return chain
}

// Repeat returns the text of some lines to put in front of another one, on its line. If that
// is the first of its body, first is its place: ptxas assigns the first instructions to the
// first line.
func (l *InlinedLines) Repeat(chain []int, first *LocPlace, edits func(i int) []Edit) string {
	var text []byte
	if first != nil {
		text = append(text, ".loc "...)
		text = append(text, first.String()...)
		text = append(text, ' ')
	}
	for _, i := range chain {
		text = append(AppendCompact(text, Apply(nil, l.m.Src.Text, l.m.Locs[i].Span, edits(i))), ' ')
	}
	return string(text)
}
