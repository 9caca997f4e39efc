//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitOf checks that no page names a commit that is not what was measured.
func TestCommitOf(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Test", "-c", "user.email=test@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "Begin")
	write("page.md")
	if commit, err := commitOf(dir, "page.md", "page.svg"); err != nil || len(commit) < 7 {
		t.Errorf("%q, %v", commit, err)
	}
	write("main.go")
	if commit, err := commitOf(dir, "page.md", "page.svg"); err == nil || !strings.HasSuffix(err.Error(), "\n?? main.go") {
		t.Errorf("%q, %v", commit, err)
	}
}

// TestStrip: the base of the debug sets has the code of the modules, and nothing else.
func TestStrip(t *testing.T) {
	const in = ".version 7.8\n.target sm_80, debug\n\t.file\t1 \"a.cu\"\n.visible .func f()\n{\n\t.loc\t1 2 3\n\t.local .b32 x;\n\tret;\n}\n" +
		"\t.section\t.debug_loc\t{\t}\n.visible .func g()\n{\n\tret;\n}\n.section .debug_info\n{\n.b8 1\n}\n"
	const want = ".version 7.8\n.target sm_80\n.visible .func f()\n{\n\t.local .b32 x;\n\tret;\n}\n.visible .func g()\n{\n\tret;\n}\n"
	path := filepath.Join(t.TempDir(), "in.ptx")
	if err := os.WriteFile(path, []byte(in), 0o666); err != nil {
		t.Fatal(err)
	}
	b := &bench{ctx: t.Context()}
	if err := b.strip(path, path+".out"); err != nil {
		t.Fatal(err)
	}
	if out, err := os.ReadFile(path + ".out"); err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
