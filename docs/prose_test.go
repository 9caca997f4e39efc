package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// vague matches words that make a reader look for a noun: "those of the module", "what is left", "behind" for "after".
var vague = regexp.MustCompile(`(?i)\b(those of|that of|of which|what is|behind|anew)\b`)

// TestPlainComments reads the comments of everything that ships. A name in code, such as that of a function, is not meant.
func TestPlainComments(t *testing.T) {
	read := 0
	for _, root := range []string{"abicheck", "cmd", "link", "object", "resolve"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, group := range f.Comments {
				read++
				if found := vague.FindString(group.Text()); found != "" && !strings.HasPrefix(group.Text(), found+" ") {
					t.Errorf("%s: name the thing in place of %q:\n%s", files.Position(group.Pos()), found, group.Text())
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 1000 {
		t.Errorf("read %d comments", read)
	}
}

// TestPlainPages reads the pages that are written by hand.
func TestPlainPages(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	vague := regexp.MustCompile(`(?i)\b(those of|that of|of which|behind|anew)\b`) // "What is linked" is a good title
	for _, page := range append(pages, "../README.md", "../DESIGN.md", "../CONTRIBUTING.md") {
		switch page {
		case "advice.md", "errors.md", "options.md", "benchmarks.md", "codegen.md", "gpu.md", "real-programs.md": // written by programs
			continue
		}
		for i, line := range strings.Split(read(t, page), "\n") {
			if found := vague.FindString(line); found != "" {
				t.Errorf("%s:%d: name the thing in place of %q", page, i+1, found)
			}
		}
	}
}
