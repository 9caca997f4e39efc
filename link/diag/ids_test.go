package diag

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/errors.md")

// TestRules checks that every ID has its own rule, and that errors come first.
func TestRules(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for id := None + 1; int(id) < len(rules); id++ {
		r := id.Rule()
		if !name.MatchString(r.Name) || r.About == "" || strings.HasSuffix(r.About, ".") || seen[r.Name] {
			t.Errorf("rule %d: %+v", id, r)
		}
		seen[r.Name] = true
		if (r.Kind == Error) != (id < ABI) {
			t.Errorf("%s stands among the other kind", r.Name)
		}
	}
	for id := None + 1; int(id) < len(rules); id++ {
		if a := id.Advice(); a.Cure == "" || !strings.HasSuffix(a.Cure, ".") || a.See == "" || strings.HasSuffix(a.See, ".") || !strings.HasPrefix(id.Example(), "$ ptxlink ") {
			t.Errorf("%s: advice %+v, example %q", id, a, id.Example())
		}
	}
	if len(rules) != int(UnusedOption)+1 {
		t.Errorf("%d rules, %d IDs", len(rules)-1, UnusedOption)
	}
}

// TestMessagesHaveRules reads the source and checks that every error and warning
// has a rule of its kind, and that every rule has a message.
func TestMessagesHaveRules(t *testing.T) {
	ids := idsByGoName(t)
	used := map[ID]bool{}
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == "." {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "diag" && ids[n.Sel.Name] != None {
					used[ids[n.Sel.Name]] = true
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) != 3 || f.Sel.Name != "Error" && f.Sel.Name != "Warn" {
					break
				}
				arg, ok := n.Args[0].(*ast.SelectorExpr)
				if !ok {
					break // a function of the difference
				}
				if id := ids[arg.Sel.Name]; id == None || (id.Rule().Kind == Error) != (f.Sel.Name == "Error") {
					t.Errorf("%s: %s with diag.%s", set.Position(n.Pos()), f.Sel.Name, arg.Sel.Name)
				}
			case *ast.CompositeLit:
				if what := messageLiteral(n); what != "" {
					t.Errorf("%s: %s", set.Position(n.Pos()), what)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 50 {
		t.Fatalf("%d files, %v", files, err)
	}
	for name, id := range ids {
		if !used[id] {
			t.Errorf("no message has diag.%s", name)
		}
	}
}

// messageLiteral returns the error in a literal of diag.Message; "" for other
// literals.
func messageLiteral(lit *ast.CompositeLit) string {
	typ, ok := lit.Type.(*ast.SelectorExpr)
	if !ok || typ.Sel.Name != "Message" || len(lit.Elts) == 0 {
		return ""
	}
	if x, ok := typ.X.(*ast.Ident); !ok || x.Name != "diag" {
		return ""
	}
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch key := pair.Key.(*ast.Ident).Name; key {
		case "ID":
			return ""
		case "Kind":
			if kind, ok := pair.Value.(*ast.SelectorExpr); ok && kind.Sel.Name == "Note" {
				return ""
			}
		}
	}
	return "a diag.Message without an ID"
}

// idsByGoName returns the names of the constants, which are numbered from 1.
func idsByGoName(t *testing.T) map[string]ID {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "ids.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]ID{}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for i, spec := range d.Specs {
			if name := spec.(*ast.ValueSpec).Names[0].Name; i > 0 {
				ids[name] = ID(i)
			}
		}
	}
	if len(ids) != len(rules)-1 {
		t.Fatalf("%d constants, %d rules", len(ids), len(rules)-1)
	}
	return ids
}

// TestMessagesPage compares docs/errors.md with the rules.
func TestMessagesPage(t *testing.T) {
	const page, mark = "../../docs/errors.md", "<!-- go test ./link/diag -update writes what follows -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s lacks %s", page, mark)
	}
	var b strings.Builder
	b.WriteString(intro + mark)
	for _, part := range []struct {
		title string
		kind  Kind
	}{{"Errors", Error}, {"Warnings", Warning}} {
		fmt.Fprintf(&b, "\n## %s\n| name | meaning |\n|---|---|\n", part.title)
		for _, r := range Rules(part.kind) {
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", r.Name, r.Name, r.About)
		}
	}
	for _, kind := range []Kind{Error, Warning} {
		for _, r := range Rules(kind) {
			id := Find(r.Name)
			fmt.Fprintf(&b, "\n### %s\n%s:\n```\n%s```\n%s\n\nSee %s.\n", r.Name, Sentence(r.About), id.Example(), wrap(id.Advice().Cure, 0, 160), id.Advice().See)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != b.String() {
		t.Errorf("%s does not list the rules as they are; run go test ./link/diag -update", page)
	}
}
