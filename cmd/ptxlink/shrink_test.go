//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/mapped"
)

// shorten makes a file empty when it is read.
type shorten struct{ path string }

func (s shorten) Read([]byte) (int, error) {
	if err := os.Truncate(s.path, 0); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// TestInputBecomesShorter: a large input is mapped, and its memory is gone once
// another program has made the file shorter.
func TestInputBecomesShorter(t *testing.T) {
	dir := t.TempDir()
	large, out := filepath.Join(dir, "large.ptx"), filepath.Join(dir, "out.ptx")
	text := ".version 7.8\n.target sm_75\n.address_size 64\n" + strings.Repeat("// comment\n", mapped.Least/8) + ".visible .func f() { ret; }\n"
	if err := os.WriteFile(large, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	code := run(t.Context(), []string{"-j1", "-o", out, large, "-"}, shorten{large}, io.Discard, &said)
	want := large + ": an input became shorter while it was linked; link again"
	if code != exitIO || !strings.Contains(said.String(), want) {
		t.Errorf("exit code %d, want %d:\n%s", code, exitIO, said.String())
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is an output")
	}
}
