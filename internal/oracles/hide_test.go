package oracles

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHidden checks what tests see of a machine with a toolkit.
func TestHidden(t *testing.T) {
	dir, first, second := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "bin", "ptxas"))
	for _, name := range append(strings.Fields(decoys), "make", "optipng", "both") {
		put(t, filepath.Join(first, name))
	}
	put(t, filepath.Join(second, "both"))
	put(t, filepath.Join(second, "ptxlink"))
	t.Setenv("PTXLINK_ORACLES", dir)
	t.Setenv("PATH", strings.Join([]string{filepath.Join(dir, "none"), first, second}, string(filepath.ListSeparator)))
	t.Setenv("PYTHONUSERBASE", first)
	vars := append(slices.Clone(toolkitVars), buildVars...)
	for _, name := range vars {
		t.Setenv(name, first)
	}
	defer func(before string) { Machine = before }(Machine)
	Hidden{run(func() int {
		if got, err := exec.LookPath("ptxas"); got != filepath.Join(dir, "bin", "ptxas") {
			t.Errorf("ptxas is %s (%v)", got, err)
		}
		for tool, want := range map[string]string{"make": first, "optipng": first, "both": first, "ptxlink": second} {
			got, err := exec.LookPath(tool)
			if real, _ := filepath.EvalSymlinks(got); real != filepath.Join(want, tool) {
				t.Errorf("%s is %s (%v)", tool, real, err)
			}
		}
		for _, name := range strings.Fields(decoys)[1:] {
			if got, err := exec.LookPath(name); err == nil {
				t.Errorf("%s is %s", name, got)
			}
		}
		for _, name := range vars {
			if value, set := os.LookupEnv(name); set {
				t.Errorf("%s is %s", name, value)
			}
		}
		if value := os.Getenv("PYTHONUSERBASE"); value != Machine {
			t.Errorf("PYTHONUSERBASE is %s", value)
		}
		return 0
	})}.Run()
	if _, err := os.Stat(Machine); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", Machine, err)
	}
}

type run func() int

func (r run) Run() int { return r() }

func TestDecoys(t *testing.T) {
	t.Setenv("PTXLINK_ORACLES", t.TempDir())
	for range 2 { // the second does not report what the first found
		d, err := LayDecoys()
		if err != nil {
			t.Fatal(err)
		}
		if ran, err := d.Ran(); ran != "" || err != nil {
			t.Errorf("%q, %v", ran, err)
		}
		for _, v := range d.Env() {
			name, value, _ := strings.Cut(v, "=")
			t.Setenv(name, value)
		}
		path, err := exec.LookPath("nvcc")
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(path, "-c", "a.cu").Run(); err == nil {
			t.Error("a decoy succeeds")
		}
		if ran, err := d.Ran(); ran != path+" -c a.cu\n" || err != nil {
			t.Errorf("%q, %v", ran, err)
		}
	}
}

// TestEveryPackageHides checks that the tests of each package that runs programs, itself or in a package that it
// imports, start with Main or Hidden.
func TestEveryPackageHides(t *testing.T) {
	root := filepath.Join("..", "..")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module := regexp.MustCompile(`(?m)^module (\S+)`).FindStringSubmatch(string(mod))[1] + "/"
	type files struct {
		imports []string
		runs    bool
	}
	code, tests, hides := map[string]files{}, map[string]files{}, map[string]bool{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".git")):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		in := code
		if strings.HasSuffix(path, "_test.go") {
			in = tests
		}
		f := in[dir]
		for _, i := range file.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			f.runs = f.runs || strings.HasSuffix(path, "/testscript")
			if imported, ours := strings.CutPrefix(path, module); ours {
				f.imports = append(f.imports, filepath.FromSlash(imported))
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				switch x, _ := s.X.(*ast.Ident); {
				case x == nil:
				case x.Name == "exec" && slices.Contains([]string{"Command", "CommandContext", "LookPath"}, s.Sel.Name):
					f.runs = true
				case x.Name == "oracles" && (s.Sel.Name == "Main" || s.Sel.Name == "Hidden"):
					hides[dir] = true
				}
			}
			return true
		})
		in[dir] = f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for changed := true; changed; {
		changed = false
		for _, in := range []map[string]files{code, tests} {
			for dir, f := range in {
				if !f.runs && (slices.ContainsFunc(f.imports, func(i string) bool { return code[i].runs }) || code[dir].runs) {
					f.runs, changed = true, true
					in[dir] = f
				}
			}
		}
	}
	hides[filepath.Join("internal", "oracles")] = true // main_test.go, without the name of the package
	checked := 0
	for dir, f := range tests {
		if f.runs && !hides[dir] {
			t.Errorf("%s: its tests run programs and see the tools of this machine: add func TestMain(m *testing.M) { oracles.Main(m) }", dir)
		}
		if f.runs {
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d packages run programs", checked)
	}
}
