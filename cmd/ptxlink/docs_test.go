package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestABITable compares docs/abi.md with the tree: each row of its tables names a
// script or Go test and functions, all of which must exist.
func TestABITable(t *testing.T) {
	exists := existing(t)
	text, err := os.ReadFile(filepath.Join(root, "docs/abi.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`^(abi|debug|var|weak|common)_\w+$`)
	rows := 0
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 8 {
			if strings.HasPrefix(line, "|") {
				t.Errorf("line %d has %d columns", i+1, len(cells)-2)
			}
			for _, name := range quoted.FindAllStringSubmatch(line, -1) {
				if script.MatchString(name[1]) && !exists(name[1]) {
					t.Errorf("line %d: no script %s", i+1, name[1])
				}
			}
			continue
		}
		if strings.HasPrefix(cells[1], " Rule") || strings.HasPrefix(cells[1], "---") {
			continue
		}
		rows++
		where, tests := quoted.FindAllStringSubmatch(cells[3], -1), quoted.FindAllStringSubmatch(cells[4], -1)
		if len(tests) == 0 {
			t.Errorf("line %d names no test", i+1)
		}
		for _, name := range append(where, tests...) {
			if !exists(name[1]) {
				t.Errorf("line %d: there is no %s", i+1, name[1])
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d rows", rows)
	}
}

// TestAgingTable checks that the files and tests that docs/aging.md names exist.
func TestAgingTable(t *testing.T) {
	exists := existing(t)
	text, err := os.ReadFile(filepath.Join(root, "docs/aging.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| ") || cells[1] == " list " {
			continue
		}
		if rows++; len(cells) != 6 {
			t.Errorf("line %d has %d columns", i+1, len(cells)-2)
			continue
		}
		for _, file := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if _, err := os.Stat(filepath.Join(root, file[1])); err != nil {
				t.Errorf("line %d: %v", i+1, err)
			}
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[4], -1) {
			if !exists(name[1]) && !strings.HasPrefix(name[1], "make ") {
				t.Errorf("line %d: there is no test %s", i+1, name[1])
			}
		}
	}
	if rows < 40 {
		t.Errorf("%d rows", rows)
	}
}

const root = "../.."

var quoted = regexp.MustCompile("`([^`]+)`")

// existing returns whether a script, a Go test, or a function of the name package.Name exists.
func existing(t *testing.T) func(name string) bool {
	functions := map[string]bool{} // tests by name, others as package.Name
	function := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range function.FindAllStringSubmatch(string(text), -1) {
			if strings.HasSuffix(path, "_test.go") {
				functions[name[1]] = true
			} else {
				functions[filepath.Base(filepath.Dir(path))+"."+name[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) bool {
		if functions[name] {
			return true
		}
		_, err := os.Stat(filepath.Join(root, "testdata/script", name+".txtar"))
		return err == nil
	}
}

// TestContributing checks that the files, functions and tests that CONTRIBUTING.md
// names exist.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`^[\w.-]+(/[\w.*-]+)+$|^[\w-]+\.(txtar|go|md)$`)
	inFile := regexp.MustCompile("`(\\w+)` in\\s+`([\\w./-]+\\.go)`")
	files := 0
	for _, quoted := range regexp.MustCompile("`([^`\n]+)`|\\]\\(([^)]+)\\)").FindAllStringSubmatch(string(text), -1) {
		name := quoted[1] + quoted[2]
		if !path.MatchString(name) || name == "testdata/fuzz" {
			continue
		}
		files++
		if filepath.Ext(name) == ".txtar" && !strings.Contains(name, "/") {
			name = "testdata/script/" + name
		}
		if found, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(found) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	if files < 30 {
		t.Errorf("only %d names of files were found", files)
	}
	for _, in := range inFile.FindAllStringSubmatch(string(text), -1) {
		code, err := os.ReadFile(filepath.Join(root, in[2]))
		if err != nil || !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )`+in[1]+`\b`).Match(code) {
			t.Errorf("%s does not declare %s", in[2], in[1])
		}
	}
}
