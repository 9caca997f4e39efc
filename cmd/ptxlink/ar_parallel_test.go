//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestParallelArchive checks that processes that change one archive at the same
// time, as make -j starts them, lose nothing, whatever name they use for the
// archive.
func TestParallelArchive(t *testing.T) {
	const runs = 20
	dir := t.TempDir()
	if err := os.Symlink("libj.a", filepath.Join(dir, "link.a")); err != nil {
		t.Fatal(err)
	}
	var commands []*exec.Cmd
	var said [runs]bytes.Buffer
	for i := range runs {
		name := fmt.Sprintf("m%d.ptx", i)
		text := fmt.Sprintf(".version 7.0\n.target sm_80\n.address_size 64\n.visible .func f%d () { ret; }\n", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("ptxlink", "ar", "rc", []string{"libj.a", "link.a"}[i%2], name) // TestMain puts it on PATH
		cmd.Dir, cmd.Stderr = dir, &said[i]
		commands = append(commands, cmd)
	}
	for _, cmd := range commands {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", cmd, err, &said[i])
		}
	}
	list := exec.Command("ptxlink", "ar", "t", "libj.a")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if members := len(strings.Fields(string(out))) - 1; members != runs {
		t.Errorf("%d members, want %d:\n%s", members, runs, out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != runs+2 {
		t.Errorf("files besides: %q", left)
	}
}
