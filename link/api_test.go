package link_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestAPI compares what the packages of docs/api.md export with docs/api.txt, so that each change of the API is seen
// in a review. -update writes the file.
func TestAPI(t *testing.T) {
	const file = "../docs/api.txt"
	var b strings.Builder
	for _, dir := range []string{"link", "link/dlink", "link/libdevice", "link/llvm", "link/pack", "link/ptxas", "object/diag"} {
		names := exported(t, filepath.FromSlash("../"+dir))
		fmt.Fprintf(&b, "%s: %d\n\t%s\n", dir, len(names), strings.Join(names, "\n\t"))
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(text), b.String()); d != "" {
		t.Errorf("docs/api.txt is out of date (go test ./link -run API -update writes it)\n%s", d)
	}
}

// exported returns what a package exports: functions and methods with their types, and types with their fields.
func exported(t *testing.T, dir string) (list []string) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	text := func(node ast.Node) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(f)
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				d.Body, d.Doc = nil, nil
				list = append(list, text(d))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						fields, isStruct := s.Type.(*ast.StructType)
						if !isStruct {
							list = append(list, "type "+text(s))
							continue
						}
						list = append(list, "type "+s.Name.Name+" struct")
						for _, field := range fields.Fields.List {
							names := field.Names
							if len(names) == 0 {
								list = append(list, "type "+s.Name.Name+" struct, "+text(field.Type))
							}
							for _, name := range names {
								list = append(list, "type "+s.Name.Name+" struct, "+name.Name+" "+text(field.Type))
							}
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							list = append(list, d.Tok.String()+" "+name.Name)
						}
					}
				}
			}
		}
	}
	slices.Sort(list)
	return list
}
