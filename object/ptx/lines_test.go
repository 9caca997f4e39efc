package ptx

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"ptxlink/object/diag"
)

// otherFiles are lines in an output where files have the next index, and the last has none. The
// second function has no name there.
type otherFiles struct{ last int64 }

func (o otherFiles) FileIndex(index int64) (int64, bool)         { return index + 1, index < o.last }
func (o otherFiles) InlinedLabel(l *Loc) (label string, ok bool) { return "", l.Addend == 0 }

// TestLineEditor edits the lines of random modules in two ways: all bodies in order, and those
// first that are self-contained. The edits are the same, and in the output each line that others are
// inlined at comes before them, if it is in the module.
func TestLineEditor(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	place := func() string { return fmt.Sprintf("%d %d 1", 1+random.IntN(3), 1+random.IntN(5)) }
	alone, repeated := 0, 0
	for range 10000 {
		var text strings.Builder
		text.WriteString(".version 8.4 .target sm_80 .address_size 64\n")
		for f := range 1 + random.IntN(5) {
			fmt.Fprintf(&text, ".func f%d() {\n", f)
			for range random.IntN(6) {
				text.WriteString(".loc " + place())
				if random.IntN(3) == 0 {
					text.WriteString(", function_name $L__info_string0" + []string{"", "+4"}[random.IntN(3)/2] + ", inlined_at " + place())
				}
				text.WriteString("\n")
			}
			text.WriteString("ret; }\n")
		}
		m, err := Parse(&diag.Source{Text: []byte(text.String())})
		if err != nil {
			t.Fatal(err)
		}
		last := int64(3 + random.IntN(2))
		newEditor := func() *LineEditor {
			return &LineEditor{Module: m, Names: otherFiles{last}, Inlined: NewInlinedLines(m), Written: &WrittenLines{}}
		}
		inOrder, mixed := newEditor(), newEditor()
		var output string
		for i := range m.Decls {
			if random.IntN(4) == 0 {
				continue // the output does not have it
			}
			span := m.Decls[i].Body
			want := inOrder.Next(nil, span)
			var got []Edit
			if mixed.SelfContained(span) {
				got = mixed.Edits(nil, span)
				mixed.Add(span)
				alone++
			} else {
				got = mixed.Next(nil, span)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v, in order %v\n%s", got, want, &text)
			}
			SortEdits(want)
			first, _ := m.LocsIn(span)
			for k, e := range want {
				lines := locLine.FindAllString(e.Text, -1)
				if len(lines) > 0 && e.Span.Off == m.Locs[first].Span.Off {
					lines = lines[1:] // its own place
				}
				before := output + string(Apply(nil, m.Src.Text, diag.Span{Off: span.Off, Len: e.Span.Off - span.Off}, want[:k]))
				for _, line := range lines {
					if repeated++; strings.Contains(before, line) {
						t.Fatalf("%s is repeated but comes before:\n%s", line, before)
					}
				}
			}
			output += string(Apply(nil, m.Src.Text, span, want))
		}
		checkInlined(t, output, text.String())
	}
	if alone < 1000 || repeated < 100 {
		t.Errorf("%d self-contained bodies, %d lines repeated", alone, repeated)
	}
}

var (
	locLine   = regexp.MustCompile(`\.loc (\d+ \d+ 1)`)
	inlinedAt = regexp.MustCompile(`inlined_at (\d+ \d+ 1)`)
)

// checkInlined checks that the output has each line that others are inlined at before them. One
// that the module does not have in front of them is missing there, too.
func checkInlined(t *testing.T, output, module string) {
	t.Helper()
	for _, at := range inlinedAt.FindAllStringSubmatchIndex(output, -1) {
		place := output[at[2]:at[3]]
		written := false
		for _, loc := range locLine.FindAllStringSubmatch(output[:at[0]], -1) {
			written = written || loc[1] == place
		}
		var file, line int
		fmt.Sscan(place, &file, &line)
		if own := fmt.Sprintf(".loc %d %d 1", file-1, line); !written && strings.Contains(module, own) &&
			strings.Index(module, own) < strings.Index(module, fmt.Sprintf("inlined_at %d %d 1", file-1, line)) {
			t.Errorf("no line %s before the one inlined at it:\n%s\nfrom\n%s", place, output, module)
		}
	}
}
