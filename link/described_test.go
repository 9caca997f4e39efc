package link_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"ptxlink/link"
	"ptxlink/link/report"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// TestDescribesOutput checks that Symbols and Edges are those that a reader finds in the
// output, with their sizes, for the links of the scripts and for the modules of testdata/ptx.
func TestDescribesOutput(t *testing.T) {
	sets := allLinks(t)
	ways := []link.Optimize{{}, {Level: 1}, {Level: 2, Fold: true}, {Inline: []string{"*"}, Interposable: true}, {Fold: true}}
	linked := make([]int, len(ways))
	for _, set := range sets {
		if slices.ContainsFunc(set, undeclares) {
			continue
		}
		for i, way := range ways {
			o := link.Options{Inputs: set, AllowUndefined: []string{"*"}, Optimize: way, KeepUnused: i%2 == 1}
			r, err := link.Link(t.Context(), o)
			if err != nil {
				continue // some scripts are about that
			}
			linked[i]++
			symbols, edges := readBack(t, r)
			if d := gocmp.Diff(symbols, described(r)); d != "" {
				t.Fatalf("%s with %+v: symbols (-output +map)\n%s", inputNames(set), way, d)
			}
			got := slices.Clone(r.Edges())
			sortEdges(got)
			if d := gocmp.Diff(edges, got); d != "" {
				t.Fatalf("%s with %+v: calls (-output +map)\n%s", inputNames(set), way, d)
			}
		}
	}
	for i, n := range linked {
		if n < 200 {
			t.Errorf("only %d links with %+v", n, ways[i])
		}
	}
}

// TestSameMessages links modules several times, with the modules of another command too, and compares the messages,
// which must not follow the order of a map.
func TestSameMessages(t *testing.T) {
	said := func(set []link.Input) string {
		r, err := link.Link(t.Context(), link.Options{Inputs: set, DedupeIdentical: true, Verbose: true})
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		diag.Write(&b, r.Messages, diag.Style{})
		return b.String()
	}
	sets := allLinks(t)
	for i, set := range sets {
		set = append(slices.Clip(set), sets[(i+1)%len(sets)]...)
		first := said(set)
		for range 3 {
			if d := gocmp.Diff(first, said(set)); d != "" {
				t.Fatalf("%s\n%s", inputNames(set), d)
			}
		}
	}
}

// undeclares reports whether a module uses a name that it does not declare, such as a function of OptiX. The output may
// declare the name for another module.
func undeclares(in link.Input) bool {
	m, err := ptx.Parse(&diag.Source{Name: in.Name, Text: in.Text})
	return err == nil && len(m.Undeclared) > 0
}

// allLinks returns the modules of the scripts, and those of testdata/ptx one by one and
// together.
func allLinks(t *testing.T) [][]link.Input {
	sets := scriptLinks(t)
	for _, glob := range []string{"example/*.ptx", "nvcc-rdc/*.ptx", "nvcc-lineinfo/*.ptx", "nvcc-debug/*.ptx", "clang-debug/*.ptx", "rust/*.ptx"} {
		paths, err := filepath.Glob("../testdata/ptx/" + glob)
		if err != nil || len(paths) == 0 {
			t.Fatal(glob, err)
		}
		var set []link.Input
		for _, path := range paths {
			set = append(set, link.Input{Path: path})
			sets = append(sets, []link.Input{{Path: path}})
		}
		sets = append(sets, set)
	}
	return sets
}

// scriptLinks returns the modules that each command of a script names.
func scriptLinks(t *testing.T) (sets [][]link.Input) {
	scripts, err := filepath.Glob("../testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, f := range archive.Files {
			files[f.Name] = f.Data
		}
		known := map[string]bool{}
		for line := range strings.Lines(string(archive.Comment)) {
			var set []link.Input
			if words := strings.Fields(line); slices.Contains(words, "ptxlink") {
				for _, word := range words {
					if text, ok := files[word]; ok && filepath.Ext(word) == ".ptx" {
						set = append(set, link.Input{Name: word, Text: text})
					}
				}
			}
			if key := inputNames(set); len(set) > 0 && !known[key] {
				known[key] = true
				sets = append(sets, set)
			}
		}
	}
	return sets
}

func inputNames(set []link.Input) string {
	var list []string
	for _, in := range set {
		list = append(list, cmp.Or(in.Name, in.Path))
	}
	return strings.Join(list, " ")
}

// described returns a line for each symbol of a result, sorted.
func described(r *link.Result) (list []string) {
	for _, s := range r.Symbols() {
		if s.Module != "" && s.Kind != "alias" {
			list = append(list, fmt.Sprintf("%s %s %q %s %d %d", s.Name, s.Kind, s.Linkage, s.Space, s.Size, s.Align))
		} else {
			list = append(list, s.Name+" "+s.Kind)
		}
	}
	slices.Sort(list)
	return list
}

// readBack returns the lines of described and the calls, as the output has them.
func readBack(t *testing.T, r *link.Result) (symbols []string, edges []link.Edge) {
	m, invalid := ptx.Parse(&diag.Source{Name: "the output", Text: r.PTX})
	if invalid != nil {
		t.Fatal(invalid)
	}
	records, err := report.Inspect(t.Context(), []link.Input{{Name: "output", Text: r.PTX}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]bool{}
	for _, s := range records[0].Symbols {
		functions[s.Name] = s.Kind != "object"
		if s.Defined && s.Kind != "alias" {
			linkage := strings.Replace(s.Linkage, "local", "", 1)
			symbols = append(symbols, fmt.Sprintf("%s %s %q %s %d %d", s.Name, s.Kind, linkage, s.Space, s.Size, s.Align))
		} else {
			symbols = append(symbols, s.Name+" "+s.Kind)
		}
	}
	slices.Sort(symbols)
	count := map[[2]string]*link.Edge{}
	direct := map[int32]bool{}
	for _, c := range m.Calls {
		direct[c.Use] = true
	}
	for _, d := range m.Decls {
		for u := d.FirstUse; u < d.EndUse; u++ {
			from, to := m.Names[d.Name], m.Names[m.Uses[u].Name]
			if !functions[to] || !d.Defines() {
				continue
			}
			e := count[[2]string{from, to}]
			if e == nil {
				e = &link.Edge{From: from, To: to}
				count[[2]string{from, to}] = e
			}
			if direct[u] {
				e.Calls++
			} else {
				e.Addresses++
			}
		}
	}
	for _, e := range count {
		edges = append(edges, *e)
	}
	sortEdges(edges)
	return symbols, edges
}

func sortEdges(list []link.Edge) {
	slices.SortFunc(list, func(a, b link.Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
}
