package program_test

import (
	"slices"
	"strings"
	"testing"

	"ptxlink/link"
)

const top = ".version 7.8\n.target sm_75\n.address_size 64\n"

func mustLink(t *testing.T, o link.Options) *link.Result {
	t.Helper()
	r, err := link.Link(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFileTable links modules with .file lines that ptxas does not take as they are: the table of
// the output has the files that lines may refer to, by input and then by index.
func TestFileTable(t *testing.T) {
	module := func(name string, files ...string) link.Input {
		text := top + strings.Join(files, "\n") + "\n.visible .func " + name + "()\n{\n\t.loc 1 7 3\n\tret;\n}\n"
		return link.Input{Name: name + ".ptx", Text: []byte(text)}
	}
	for _, test := range []struct {
		what   string
		inputs []link.Input
		want   []string
	}{
		{"in the order of indexes", []link.Input{module("f", `.file 3 "c.cu"`, `.file 1 "a.cu"`, `.file 2 "b.cu"`), module("g", `.file 1 "b.cu"`)},
			[]string{`.file 1 "a.cu"`, `.file 2 "b.cu"`, `.file 3 "c.cu"`}},
		{"index 0, and more than 16 bits", []link.Input{module("f", `.file 0 "zero.cu"`, `.file 65535 "last.cu"`, `.file 65536 "more.cu"`, `.file 1 "a.cu"`), module("g", `.file 1 "g.cu"`)},
			[]string{`.file 1 "a.cu"`, `.file 2 "last.cu"`, `.file 3 "g.cu"`}},
		{"without a path", []link.Input{module("f", `.file 1 ""`), module("g", `.file 1 "g.cu"`)},
			[]string{`.file 1 "<unknown>"`, `.file 2 "g.cu"`}},
		{"of another time or size", []link.Input{module("f", `.file 1 "a.cu", 5, 6`), module("g", `.file 1 "a.cu", 5`), module("h", `.file 1 "a.cu", 5, 6`)},
			[]string{`.file 1 "a.cu", 5, 6`, `.file 2 "a.cu", 5`}},
	} {
		r := mustLink(t, link.Options{Inputs: test.inputs, KeepUnused: true})
		var files []string
		for line := range strings.Lines(string(r.PTX)) {
			if strings.HasPrefix(line, ".file") {
				files = append(files, strings.Join(strings.Fields(line), " "))
			}
		}
		if !slices.Equal(files, test.want) {
			t.Errorf("%s: %q, want %q", test.what, files, test.want)
		}
	}
	stripped := string(mustLink(t, link.Options{Inputs: []link.Input{module("f", `.file 1 "a.cu"`), module("g", `.file 1 "g.cu"`)}, KeepUnused: true, StripDebug: true}).PTX)
	if strings.Contains(stripped, ".file") || strings.Contains(stripped, ".loc") {
		t.Errorf("lines are left in\n%s", stripped)
	}
}

// TestUndeclaredFile links a module whose own files keep their numbers and whose second line is of
// no file: that number belongs to another module in the output. Messages come in the order of inputs.
func TestUndeclaredFile(t *testing.T) {
	module := func(name, lines string) link.Input {
		return link.Input{Name: name + ".ptx", Text: []byte(top + ".file 1 \"" + name + ".cu\"\n.visible .func " + name + "()\n{\n" + lines + "\tret;\n}\n")}
	}
	r := mustLink(t, link.Options{Inputs: []link.Input{module("f", "\t.loc 1 7 3\n\t.loc 2 8 3\n"), module("g", "\t.loc 1 9 3\n"), module("h", "\t.loc 3 8 3\n")}, KeepUnused: true, Jobs: 4})
	if text := string(r.PTX); !strings.Contains(text, ".loc 1 7 3") || strings.Contains(text, " 8 3") || !strings.Contains(text, ".loc 2 9 3") {
		t.Error(text)
	}
	if len(r.Messages) != 2 || r.Messages[0].ID != "loc" || r.Messages[0].Place.Source.Name != "f.ptx" || r.Messages[1].Place.Source.Name != "h.ptx" {
		t.Errorf("messages %v", r.Messages)
	}
}

// TestInlinedLinesInOrder links modules with inlined lines, whose table of lines written so far is
// one: the race detector sees whether they are written in turn.
func TestInlinedLinesInOrder(t *testing.T) {
	o := link.Options{KeepUnused: true, Jobs: 4}
	for _, name := range []string{"f", "g", "h"} {
		o.Inputs = append(o.Inputs, link.Input{Name: name + ".ptx", Text: []byte(top + ".visible .func " + name + "()\n{\n\t.loc 1 7 3\n\t.loc 1 9 3, function_name $n, inlined_at 1 7 3\n\tret;\n}\n" +
			".file 1 \"a.cu\"\n.section .debug_str {\n$n:\n.b8 65, 0\n}\n")})
	}
	many := mustLink(t, o).PTX
	o.Jobs = 1
	if one := mustLink(t, o).PTX; string(one) != string(many) || strings.Count(string(one), "inlined_at 1 7 3") != 3 {
		t.Errorf("%s\nand with one job\n%s", many, one)
	}
}
