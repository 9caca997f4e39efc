package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"ptxlink/object/diag"
)

// TestExplain runs the examples of --explain, which are scripts in testdata/explain: the
// first line is the command that is shown, want.txt is what it prints, and the script
// checks the ID. object/diag/examples.txt, which is part of the program, has the same
// text; -update writes it.
func TestExplain(t *testing.T) {
	const dir, embedded = "../../testdata/explain/", "../../object/diag/examples.txt"
	t.Run("run", func(t *testing.T) {
		params := scripts(dir)
		testscript.Run(t, params)
	})
	// Nothing else can cause these without a bug, a signal or a compiler.
	typed := map[string]bool{"internal-error": true, "interrupted": true, "split": true, "libdevice-sqrt": true}
	var b strings.Builder
	ids := 0
	for _, kind := range []diag.Kind{diag.Error, diag.Warning} {
		for _, r := range diag.Rules(kind) {
			ids++
			name := string(r.ID)
			file := name + ".txtar"
			if name == "nul" {
				file = "nul_.txtar" // Windows, and so a module of Go, has no file nul.txtar
			}
			text, err := os.ReadFile(dir + file)
			if err != nil {
				t.Errorf("%s has no example", name)
				continue
			}
			script, want, _ := strings.Cut(string(text), "-- want.txt --\n")
			command, rest, _ := strings.Cut(script, "\n")
			command = strings.TrimPrefix(command, "# ")
			b.WriteString("-- " + name + " --\n" + command + "\n" + strings.ReplaceAll(want, "$WORK/", "/usr/local/cuda/bin/"))
			if typed[name] {
				continue
			}
			for _, line := range []string{strings.TrimPrefix(command, "$ ") + "\ncmp stderr want.txt\n", "\nstderr '^{\"id\":\"" + name + "\""} {
				if !strings.Contains(strings.Replace(rest, "cmpenv ", "cmp ", 1), line) {
					t.Errorf("the script of %s lacks %q", name, line)
				}
			}
		}
	}
	if found, err := filepath.Glob(dir + "*"); err != nil || len(found) != ids {
		t.Errorf("%d examples of %d IDs, %v", len(found), ids, err)
	}
	if *update {
		if err := os.WriteFile(embedded, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(embedded)
	if err != nil || string(text) != b.String() {
		t.Errorf("%s does not have the examples (%v); run go test ./cmd/ptxlink -run TestExplain -update", embedded, err)
	}
}
