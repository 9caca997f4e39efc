package link_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/api.txt and the column of imports of DESIGN.md")

// TestImports compares the column "imports" of DESIGN.md's table of directories with
// the imports of the packages, apart from those of tests. A package imports only those
// in rows above its own, also with -update.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Module", "ptxlink/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
			Module     struct{ Path string }
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		var ours []string
		for _, imported := range p.Imports {
			if name, ok := strings.CutPrefix(imported, p.Module.Path+"/"); ok {
				ours = append(ours, name)
			}
		}
		packages[strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")] = ours
	}

	text, err := os.ReadFile("../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^(\\| `([^`]+)` \\|.*\\| )(.*)( \\|)$")
	above := map[string]bool{}
	want := row.ReplaceAllStringFunc(string(text), func(line string) string {
		m := row.FindStringSubmatch(line)
		imports, known := packages[m[2]]
		if !known || above[m[2]] {
			t.Errorf("DESIGN.md lists %s, which is not a package or is listed above", m[2])
		}
		above[m[2]] = true
		column := "-"
		for i, name := range imports {
			if !above[name] {
				t.Errorf("%s imports %s, whose row in DESIGN.md is not above its own", m[2], name)
			}
			imports[i] = strings.TrimPrefix(name, "internal/")
		}
		if len(imports) > 0 {
			column = strings.Join(imports, ", ")
		}
		return m[1] + column + m[4]
	})
	for name := range packages {
		if !above[name] {
			t.Errorf("%s is not in DESIGN.md's table of directories", name)
		}
	}
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile("../DESIGN.md", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		have := strings.Split(string(text), "\n")
		for i, line := range strings.Split(want, "\n") {
			if line != have[i] {
				t.Errorf("DESIGN.md:%d is out of date (-update writes it); want\n%s", i+1, line)
			}
		}
	}
}

// TestNoCgo checks that nothing brings the C library into the program: it would take
// longer to start and need more memory.
func TestNoCgo(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "ptxlink/cmd/ptxlink").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		switch name {
		case "runtime/cgo", "os/user", "net":
			t.Errorf("ptxlink depends on %s", name)
		}
	}
}
