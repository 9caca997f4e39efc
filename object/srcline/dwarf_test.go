package srcline

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

var locLine = regexp.MustCompile(`(?m)^\s*\.loc\s.*$`)

// TestDWARF compares the lines that DWARF has for functions, in modules whose .loc lines
// are taken out, with those lines: a function starts at its first line or above.
func TestDWARF(t *testing.T) {
	functions, variables := 0, 0
	for _, set := range []string{"nvcc-debug", "clang-debug", "rust-debug", "debug-types-c"} {
		paths, err := filepath.Glob("../../testdata/ptx/" + set + "/*.ptx")
		if err != nil || len(paths) == 0 {
			t.Fatal(set, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			with := parse(t, &diag.Source{Name: path, Text: text})
			without := parse(t, &diag.Source{Name: path, Text: locLine.ReplaceAll(text, nil)})
			if len(without.Locs) > 0 {
				t.Fatal("lines are left")
			}
			f, g := Finder{}, Finder{}
			f.Know(with)
			g.Know(without)
			for i := range without.Decls {
				d := &without.Decls[i]
				name := without.Names[d.Name]
				if d.Linkage != ptx.Visible && d.Linkage != ptx.Weak {
					continue
				}
				m := &diag.Message{Kind: diag.Error, Place: diag.At(without.Src, d.NameSpan)}
				g.Explain(m)
				if len(m.Notes) != 1 || m.Notes[0].Text != "source line of "+(diag.Spelling{}).Demangle(name) {
					t.Errorf("%s: %s: %+v", path, name, m.Notes)
					continue
				}
				file, line, _ := m.Notes[0].Place.Position()
				if d.Storage != nil {
					variables++
					if line == 0 || !strings.HasPrefix(filepath.Base(file), strings.TrimSuffix(filepath.Base(path), ".ptx")) && set == "nvcc-debug" {
						t.Errorf("%s: %s: %s:%d", path, name, file, line)
					}
					continue
				}
				if !d.HasBody {
					continue
				}
				functions++
				first := slices.IndexFunc(with.Locs, func(l ptx.Loc) bool { return l.Span.Off > with.Decls[i].Body.Off })
				at, ok := f.place(f.modules[with.Src], with.Locs[first].LocPlace)
				if file2, line2, _ := at.Position(); !ok || file != file2 || line > line2 || line < line2-3 {
					t.Errorf("%s: %s is at %s:%d, and its first .loc at %s:%d", path, name, file, line, file2, line2)
				}
				inside := &diag.Message{Kind: diag.Error, Place: diag.At(without.Src, diag.Span{Off: d.Body.Off + 1, Len: 1})}
				g.Explain(inside)
				if len(inside.Notes) != 1 || !same(diag.Remark{Place: inside.Notes[0].Place}, diag.Remark{Place: m.Notes[0].Place}) || !strings.HasPrefix(inside.Notes[0].Text, "in "+(diag.Spelling{}).Demangle(name)+", which") {
					t.Errorf("%s: %s: %+v", path, name, inside.Notes)
				}
			}
		}
	}
	if functions < 20 || variables < 5 {
		t.Errorf("only %d functions and %d variables were compared", functions, variables)
	}
}

func parse(t *testing.T, src *diag.Source) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
