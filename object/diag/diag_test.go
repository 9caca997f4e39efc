package diag

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func find(src *Source, word string) Span {
	return Span{int32(strings.Index(string(src.Text), word)), int32(len(word))}
}

func TestWriteTwoPlaces(t *testing.T) {
	a := &Source{Name: "a.ptx", Text: []byte("one\n.extern .func\thelper;\n")}
	b := &Source{Name: "b.ptx", Text: []byte("helper")}
	var log Log
	log.Error(SymbolKind, At(a, find(a, "helper")), "helper differs").
		Note(At(b, Span{0, 6}), "defined here").
		WithHelp("rebuild a.ptx")
	log.Warn(ODR, At(b, Span{}), "odd")
	var out strings.Builder
	if err := Write(&out, log.Messages, Style{}); err != nil {
		t.Fatal(err)
	}
	want := "a.ptx:2:15: error: helper differs [symbol-kind]\n" +
		"    2 | .extern .func\thelper;\n" +
		"      |              \t^^^^^^\n" +
		"b.ptx:1:1: note: defined here\n" +
		"    1 | helper\n" +
		"      | ^^^^^^\n" +
		"help: rebuild a.ptx\n" +
		"b.ptx: warning: odd [-Wodr]\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestErrorLimit(t *testing.T) {
	var log Log
	for range 5 {
		log.Error(Usage, Place{}, "bad")
	}
	var out strings.Builder
	Write(&out, log.Messages, Style{ErrorLimit: 2})
	want := "ptxlink: error: bad\nptxlink: error: bad\nptxlink: note: 3 more errors not shown\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestLongAndBinaryLines(t *testing.T) {
	text := strings.Repeat("x", 5000) + "\x1b[31mname\xff" + strings.Repeat("y", 5000)
	src := &Source{Name: "long.ptx", Text: []byte(text)}
	var log Log
	log.Error(Syntax, At(src, find(src, "name")), "here")
	var out strings.Builder
	Write(&out, log.Messages, Style{})
	lines := strings.Split(out.String(), "\n")
	if len(lines[1]) > 200 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("excerpt not bounded or not cleaned:\n%s", out.String())
	}
	at := strings.Index(lines[2], "^")
	if got := lines[1][at : at+4]; got != "name" {
		t.Errorf("marker stands under %q", got)
	}
}

func TestLineColumnCountsCharacters(t *testing.T) {
	src := &Source{Text: []byte("a\r\n// é x\n")}
	line, column := src.LineColumn(find(src, "x").Off)
	if line != 2 || column != 6 {
		t.Errorf("got %d:%d, want 2:6", line, column)
	}
	long := &Source{Text: []byte(strings.Repeat("é\xff\t", 700) + "\n" + strings.Repeat("ab ü\xc3", 700))}
	for off := range int32(len(long.Text)) {
		line, column := long.LineColumn(off)
		start := long.LineSpan(line).Off
		if want := 1 + utf8.RuneCount(long.Text[start:off]); column != want {
			t.Fatalf("byte %d is in column %d, want %d", off, column, want)
		}
	}
	if got := src.String(src.LineSpan(1)); got != "a" {
		t.Errorf("line 1 is %q", got)
	}
}

// TestLines compares lines with those of a text that is split, for texts whose lines end near
// the ends of blocks.
func TestLines(t *testing.T) {
	for _, line := range []string{"", "a", "b\r", strings.Repeat("c", lineBlock-2), strings.Repeat("d", lineBlock-1), strings.Repeat("e", lineBlock), strings.Repeat("f", 3*lineBlock)} {
		for _, other := range []string{"", "g", strings.Repeat("h\n", lineBlock/2)} {
			for _, text := range []string{line, line + "\n", line + "\n" + other, other + "\n" + line + "\n" + other + line} {
				src := &Source{Text: []byte(text)}
				lines := strings.Split(text, "\n")
				off := 0
				for i, want := range lines {
					span := src.LineSpan(i + 1)
					if int(span.Off) != off || src.String(span) != strings.TrimSuffix(want, "\r") {
						t.Fatalf("line %d of %.20q is at %v, want %d", i+1, text, span, off)
					}
					for _, at := range []int{off, off + len(want)} {
						if n := src.Line(int32(at)); n != i+1 {
							t.Fatalf("byte %d of %.20q is in line %d, want %d", at, text, n, i+1)
						}
					}
					off += len(want) + 1
				}
				if span := src.LineSpan(len(lines) + 1); span != (Span{}) {
					t.Fatalf("%.20q has a line too many, at %v", text, span)
				}
			}
		}
	}
}
