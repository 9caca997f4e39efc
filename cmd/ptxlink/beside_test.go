package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"ptxlink/internal/oracles"
)

// situations are examples of --explain that other linkers can be given, with what is
// wrong in a few words.
var situations = []struct{ id, what string }{
	{"undefined-symbol", "A symbol that no module defines"},
	{"duplicate-symbol", "Two definitions of a function"},
	{"param-count", "A function with another number of parameters"},
	{"param-size", "A parameter that is larger in the definition"},
	{"param-align", "A structure that is aligned differently"},
	{"param-type", "An integer on one side, a float on the other"},
	{"param-space", "Parameters in registers on one side"},
	{"noreturn", "A function that returns, declared `.noreturn`"},
	{"system-call", "`vprintf` with a wrong prototype"},
	{"symbol-kind", "A function that is declared as a variable"},
	{"var-size", "A variable that is larger in the definition"},
	{"var-space", "A variable in constant memory, declared in global memory"},
	{"var-type", "A surface that is declared as a texture"},
	{"align", "A variable that is loaded as a vector and not aligned"},
	{"constant-overflow", "More than 64 KiB of constants"},
	{"texture-mode", "Two texture modes"},
	{"odr", "An inline function with two bodies"},
}

// TestBesideOtherLinkers gives the examples to ptxas -c with nvlink, and to gcc's linker
// with the comments that gcc writes, and compares what they say with docs/errors.md;
// -update writes it. The words of gcc's linker are those of gcc 12: later releases have
// other words, and the same --version but for the copyright.
func TestBesideOtherLinkers(t *testing.T) {
	const page, begin, end = "../../docs/errors.md", "<!-- go test ./cmd/ptxlink -run Beside -update writes this table -->\n", "<!-- end of the table -->\n"
	tools := map[string]string{}
	for _, tool := range []string{"ptxas", "nvlink", "nvptx-none-ld"} {
		tools[tool] = oracles.RequireRelease(t, tool)
	}
	release, err := exec.Command(tools["nvptx-none-ld"], "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	gcc12 := strings.Contains(string(release), "Copyright 2015")
	var b strings.Builder
	b.WriteString("| situation | ptxlink | nvlink 12.4, after `ptxas -c` | nvptx-none-ld of gcc 12 |\n|---|---|---|---|\n")
	for _, s := range situations {
		example, err := txtar.ParseFile("../../testdata/explain/" + s.id + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		run := func(tool string, args ...string) string {
			cmd := exec.Command(tools[tool], args...)
			cmd.Dir = dir
			said, err := cmd.CombinedOutput()
			if err == nil && len(said) == 0 {
				return ""
			}
			lines := strings.Split(strings.TrimSpace(string(said)), "\n")
			return strings.Join(strings.Fields(lines[0]), " ")
		}
		ours, cubins, objects, refused := "", []string{"-arch=sm_75"}, []string(nil), ""
		for _, f := range example.Files {
			path := filepath.Join(dir, f.Name)
			if f.Name == "want.txt" {
				ours, _, _ = strings.Cut(string(f.Data), "\n")
				continue
			}
			if strings.HasPrefix(f.Name, "fixed/") { // where the advice is followed
				continue
			}
			if err := os.WriteFile(path, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+".o", asGCC(f.Data), 0o666); err != nil {
				t.Fatal(err)
			}
			objects = append(objects, f.Name+".o")
			cubin := strings.TrimSuffix(f.Name, ".ptx") + ".cubin"
			cubins = append(cubins, cubin)
			if said := run("ptxas", "-c", "-arch=sm_75", f.Name, "-o", cubin); said != "" && refused == "" {
				refused = "`" + said + "` (ptxas)"
			}
		}
		theirs := refused
		if theirs == "" {
			theirs = "links"
			if said := run("nvlink", append(cubins, "-o", "out.cubin")...); said != "" {
				theirs = "`" + said + "`"
			}
		}
		gcc := "links"
		if said := run("nvptx-none-ld", append(objects, "-o", "out.ptx")...); said != "" {
			gcc = "`" + said + "`"
		}
		fmt.Fprintf(&b, "| %s | [`%s`](#%s) | %s | %s |\n", s.what, ours, s.id, theirs, gcc)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	have, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s lacks %s or %s", page, begin, end)
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	case !gcc12 && withoutLast(have) == withoutLast(b.String()):
		t.Log("compared without nvptx-none-ld, which is of a later release")
	case have != b.String():
		t.Errorf("%s says otherwise; run go test ./cmd/ptxlink -run Beside -update:\n%s", page, b.String())
	}
}

// withoutLast removes the last column of a table.
func withoutLast(table string) string {
	return regexp.MustCompile(`(?m)[^|]*\|$`).ReplaceAllString(table, "")
}

// asGCC adds the comments from which gcc's linker reads the symbols of a module.
func asGCC(text []byte) []byte {
	var b strings.Builder
	for i, line := range strings.SplitAfter(string(text), "\n") {
		if i == 0 {
			b.WriteString("// BEGIN PREAMBLE\n")
		}
		if m := regexp.MustCompile(`^\.(extern|visible|weak|common)\s+\.(func|entry|global|const)\s(?:\s*\([^)]*\)\s*)?(?:\.attribute\([^)]*\)|\.align\s+\d+|\.\w+|\s)*([\w$]+)`).FindStringSubmatch(line); m != nil {
			linkage, kind, what := "GLOBAL", "VAR", "DEF"
			if m[1] == "weak" {
				linkage = "WEAK"
			}
			if m[2] == "func" || m[2] == "entry" {
				kind = "FUNCTION"
			}
			if m[1] == "extern" {
				what = "DECL"
			}
			fmt.Fprintf(&b, "// BEGIN %s %s %s: %s\n", linkage, kind, what, m[3])
		}
		b.WriteString(line)
		if strings.HasPrefix(line, ".address_size") {
			b.WriteString("// END PREAMBLE\n")
		}
	}
	return []byte(b.String())
}
