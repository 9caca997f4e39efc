package partition

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/object/ptx"
)

// sourcePlace describes the source place of a .loc by the names of its files and of the
// function that it is inlined from.
func sourcePlace(t *testing.T, m *ptx.Module, l *ptx.Loc) string {
	t.Helper()
	file := func(index int64) string {
		for i := range m.Files {
			if m.Files[i].Index == index {
				text := m.Src.String(m.Files[i].Span)
				return text[strings.IndexByte(text, '"'):]
			}
		}
		t.Errorf("no .file %d in\n%s", index, m.Src.Text)
		return "?"
	}
	text := fmt.Sprintf("%s %d %d", file(l.File), l.Line, l.Column)
	if in := l.Inlining; in != nil {
		at := ""
		if in.Inlined.Len > 0 {
			at = fmt.Sprintf("%s %d %d", file(in.InlinedAt.File), in.InlinedAt.Line, in.InlinedAt.Column)
		}
		text += fmt.Sprintf(" %s at %s", nameAt(t, m, m.Src.String(in.Function)), at)
	}
	return text
}

// nameAt returns the bytes behind a label of .debug_str, up to the next label.
func nameAt(t *testing.T, m *ptx.Module, label string) string {
	t.Helper()
	for i := range m.Sections {
		s := &m.Sections[i]
		for k, at := range s.Labels {
			end := s.Body.End()
			if k+1 < len(s.Labels) {
				end = s.Labels[k+1].Off
			}
			if m.Src.String(at) == label {
				return strings.Trim(string(m.Src.Text[at.End():end]), ": \n\t}")
			}
		}
	}
	t.Errorf("no %s in\n%s", label, m.Src.Text)
	return "?"
}

// TestLines checks that the lines of each part name the same files, functions and
// callers as in the module, and that a part has the files and names of its lines only.
func TestLines(t *testing.T) {
	var b strings.Builder
	b.WriteString(".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 x;\n")
	for i := range 8 {
		fmt.Fprintf(&b, ".visible .func f%d()\n{\n\t.loc %d %d 1\n\tbar.sync %d;\n\t.loc %d 7 2, function_name $name%d, inlined_at %d %d 1\n%s\tret;\n}\n",
			i, i+2, 10+i, i, (i+3)%8+2, i, i+2, 10+i, strings.Repeat("\tbar.sync 0;\n", 50))
	}
	// ptxas refuses an inlined_at without a .loc; it must not become another file.
	b.WriteString(".visible .func g()\n{\n\t.loc 2 90 1, function_name $name1, inlined_at 20 91 1\n\tret;\n}\n.file 20 \"only.cu\"\n")
	for i := range 8 {
		fmt.Fprintf(&b, ".file %d \"f%d.cu\"\n", i+2, i)
	}
	b.WriteString(".section .debug_str {\n")
	for i := range 8 {
		fmt.Fprintf(&b, "$name%d:\n.b8 %d, 0\n", i, 65+i)
	}
	b.WriteString("}\n")
	m := parse(t, b.String())
	parts := New(m).Cut(Options{Parts: 4})
	if len(parts) != 4 {
		t.Fatalf("%d parts", len(parts))
	}
	found := 0
	for _, part := range parts {
		cut := parse(t, string(part.Text))
		files, names := map[string]bool{}, map[string]bool{}
		for i := range cut.Locs {
			l := &cut.Locs[i]
			files[fmt.Sprint(l.File)] = true
			if l.Inlining != nil {
				files[fmt.Sprint(l.Inlining.InlinedAt.File)] = true
				names[cut.Src.String(l.Inlining.Function)] = true
			}
			line := part.Line(cut.Src.Line(l.Span.Off))
			at := slices.IndexFunc(m.Locs, func(l ptx.Loc) bool { return m.Src.Line(l.Span.Off) == line })
			if at < 0 {
				t.Errorf("%s comes from line %d", cut.Src.String(l.Span), line)
				continue
			}
			if got, want := sourcePlace(t, cut, l), sourcePlace(t, m, &m.Locs[at]); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			found++
		}
		if n := strings.Count(string(part.Text[:bytes.LastIndexByte(part.Text, '}')]), "\n"); part.Line(n+1) != 0 {
			t.Errorf("the end of a section that ptxlink writes comes from line %d", part.Line(n+1))
		}
		labels := 0
		for i := range cut.Sections {
			labels += len(cut.Sections[i].Labels)
		}
		if len(cut.Files) != len(files) || labels != len(names) {
			t.Errorf("%d files and %d names, want %d and %d in\n%s", len(cut.Files), labels, len(files), len(names), part.Text)
		}
		for i := range cut.Files {
			if cut.Files[i].Index != int64(i+1) {
				t.Errorf(".file %d is number %d", cut.Files[i].Index, i+1)
			}
		}
	}
	if found != len(m.Locs) {
		t.Errorf("%d lines of %d", found, len(m.Locs))
	}
}

// TestFirstLine checks that a part repeats the lines that the first line of a body is
// inlined at, between two copies of that line: ptxas assigns the first instructions to the
// first line.
func TestFirstLine(t *testing.T) {
	const from = ".loc 2 20 1, function_name $name, inlined_at 1 10 1"
	const inner = ".loc 3 30 1, function_name $name, inlined_at 2 20 1"
	parts := New(parse(t, ".version 7.8\n.target sm_80\n.address_size 64\n"+
		".visible .func f()\n{\n\t.loc 1 10 1\n"+strings.Repeat("\tbar.sync 0;\n", 50)+"\tret;\n}\n"+
		".visible .func g()\n{\n\t"+from+"\n"+strings.Repeat("\tbar.sync 1;\n", 50)+"\tret;\n}\n"+
		".visible .func h()\n{\n\t"+inner+"\n"+strings.Repeat("\tbar.sync 2;\n", 50)+"\tret;\n}\n"+
		".file 1 \"a.cu\"\n.file 2 \"b.cu\"\n.file 3 \"c.cu\"\n.section .debug_str {\n$name:\n.b8 65, 0\n}\n")).Cut(Options{Parts: 8})
	for name, want := range map[string]string{
		"g": "\t.loc 2 20 1 .loc 1 10 1 " + from + "\n",
		"h": "\t.loc 3 30 1 .loc 1 10 1 " + from + " " + inner + "\n",
	} {
		at := slices.IndexFunc(parts, func(p *Part) bool { return slices.Equal(p.Names, []string{name}) })
		if at < 0 || !strings.Contains(string(parts[at].Text), want) {
			t.Errorf("no %s in a part of its own:\n%s", want, parts[max(at, 0)].Text)
		}
	}
}

// TestNamesByOffset checks that a part has the whole section of names if a line refers to
// one by its offset.
func TestNamesByOffset(t *testing.T) {
	for _, name := range []string{"$first+2", ".debug_str", ".debug_str+2"} {
		text := ".version 7.8\n.target sm_80\n.address_size 64\n"
		for i := range 2 {
			text += fmt.Sprintf(".visible .func f%d()\n{\n\t.loc 1 10 1\n\tbar.sync 0;\n\t.loc 1 20 1, function_name %s, inlined_at 1 10 1\n%s\tret;\n}\n",
				i, name, strings.Repeat("\tbar.sync 0;\n", 50))
		}
		section := "$first:\n.b8 65, 0\n$second:\n.b8 66, 0\n}"
		parts := New(parse(t, text+".file 1 \"a.cu\"\n.section .debug_str {\n"+section+"\n")).Cut(Options{Parts: 2})
		if len(parts) != 2 {
			t.Fatalf("%d parts", len(parts))
		}
		for _, part := range parts {
			if !strings.Contains(string(part.Text), section) {
				t.Errorf("%s is not in\n%s", name, part.Text)
			}
		}
	}
}

// TestVariables checks that each variable is in a part that uses it, itself or through
// a variable whose initialiser names it.
func TestVariables(t *testing.T) {
	var b strings.Builder
	b.WriteString(".version 7.8\n.target sm_80\n.address_size 64\n")
	const n = 24
	for i := range n {
		fmt.Fprintf(&b, ".global .u32 low%d;\n.global .u64 middle%d = low%d;\n.global .u64 high%d = middle%d;\n", i, i, i, i, i)
	}
	for i := range n {
		fmt.Fprintf(&b, ".visible .func f%d()\n{\n\t.reg .b64 %%a;\n\tmov.u64 %%a, high%d;\n%s\tret;\n}\n", i, i, strings.Repeat("\tbar.sync 0;\n", 20))
	}
	parts := New(parse(t, b.String())).Cut(Options{Parts: 6})
	if len(parts) != 6 {
		t.Fatalf("%d parts", len(parts))
	}
	for _, part := range parts {
		if strings.Contains(string(part.Text), ".extern") || len(part.Exposed) > 0 {
			t.Errorf("a variable of this part is in another one:\n%s", part.Text)
		}
	}
	// What two parts use is in one of them, not always in the same.
	homes := map[int]bool{}
	for i := range n {
		text := ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 only;\n" + fmt.Sprintf(".global .u32 both%d;\n", i)
		for k := range 4 {
			text += fmt.Sprintf(".visible .func f%d()\n{\n\t.reg .b32 %%v;\n%s\tret;\n}\n", k, strings.Repeat("\tbar.sync 0;\n", 20))
			if k < 2 {
				text = strings.Replace(text, "\tret;\n}\n", fmt.Sprintf("\tld.global.u32 %%v, [both%d];\n\tst.global.u32 [both%d], %%v;\n\tret; }\n", i, i), 1)
			}
		}
		users := 0
		for at, part := range New(parse(t, text)).Cut(Options{Parts: 4}) {
			uses := strings.Contains(string(part.Text), fmt.Sprintf("[both%d]", i))
			if uses {
				users++
			}
			if strings.Contains(string(part.Text), fmt.Sprintf(".visible .global .u32 both%d;", i)) {
				homes[at] = true
				if !uses {
					t.Errorf("a part that does not use both%d has it:\n%s", i, part.Text)
				}
			}
		}
		if users != 2 {
			t.Errorf("%d parts use both%d", users, i)
		}
	}
	if len(homes) != 2 {
		t.Errorf("the variables that two parts use are in parts %v", homes)
	}
}
