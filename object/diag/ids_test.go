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
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/errors.md")

// TestRules checks that every ID has its own rule, and that errors come first.
func TestRules(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[ID]bool{}
	for i, r := range rules() {
		if !name.MatchString(string(r.ID)) || r.About == "" || strings.HasSuffix(r.About, ".") || seen[r.ID] {
			t.Errorf("rule %d: %+v", i, r)
		}
		seen[r.ID] = true
		if i > 0 && r.Kind < rules()[i-1].Kind {
			t.Errorf("%s stands among the other kind", r.ID)
		}
		if r.Cure == "" || !strings.HasSuffix(r.Cure, ".") || r.See == "" || strings.HasSuffix(r.See, ".") || !strings.HasPrefix(r.Example(), "$ ptxlink ") {
			t.Errorf("%s: %+v, example %q", r.ID, r, r.Example())
		}
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
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "diag" && ids[n.Sel.Name] != "" {
					used[ids[n.Sel.Name]] = true
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) != 3 || !slices.Contains([]string{"Error", "Warn", "New"}, f.Sel.Name) {
					break
				}
				arg, ok := n.Args[0].(*ast.SelectorExpr)
				if !ok {
					break // a function of the difference
				}
				if r, ok := ids[arg.Sel.Name].Rule(); !ok || (r.Kind == Warning) != (f.Sel.Name == "Warn") {
					t.Errorf("%s: %s with diag.%s", set.Position(n.Pos()), f.Sel.Name, arg.Sel.Name)
				}
			case *ast.CompositeLit:
				if messageLiteral(n) {
					t.Errorf("%s: a message that is not made by New or a Log, which escape its texts", set.Position(n.Pos()))
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

// messageLiteral reports whether a literal makes a diag.Message with a text.
func messageLiteral(lit *ast.CompositeLit) bool {
	typ, ok := lit.Type.(*ast.SelectorExpr)
	if !ok || typ.Sel.Name != "Message" || len(lit.Elts) == 0 {
		return false
	}
	x, ok := typ.X.(*ast.Ident)
	return ok && (x.Name == "diag" || x.Name == "link")
}

// idsByGoName returns the constants of type ID by their names in Go.
func idsByGoName(t *testing.T) map[string]ID {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "ids.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]ID{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				name, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				ids[spec.Names[0].Name] = ID(name)
			}
		}
		return true
	})
	if len(ids) != len(rules()) {
		t.Fatalf("%d constants, %d rules", len(ids), len(rules()))
	}
	return ids
}

// TestMessagesPage compares docs/errors.md with the rules.
func TestMessagesPage(t *testing.T) {
	const page, mark = "../../docs/errors.md", "<!-- go test ./object/diag -update writes what follows -->\n"
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
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", r.ID, r.ID, r.About)
		}
	}
	for _, kind := range []Kind{Error, Warning} {
		for _, r := range Rules(kind) {
			fmt.Fprintf(&b, "\n### %s\n%s:\n```\n%s```\n%s\n\nSee %s.\n", r.ID, Sentence(r.About), r.Example(), Wrap(r.Cure, 0, 160), r.See)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != b.String() {
		t.Errorf("%s does not list the rules as they are; run go test ./object/diag -update", page)
	}
}
