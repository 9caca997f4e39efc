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
	"ptxlink/link"
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

// TestInputBecomesShorterWhileWritten: its digest is computed while the output is
// written.
func TestInputBecomesShorterWhileWritten(t *testing.T) {
	dir := t.TempDir()
	large, used := filepath.Join(dir, "large.ptx"), filepath.Join(dir, "used.ptx")
	// The output holds nothing of it, so that only the digest reads it.
	text := ".version 7.8\n.target sm_75\n.address_size 64\n" + strings.Repeat("// comment\n", mapped.Least/2) + ".func f() { ret; }\n"
	if err := os.WriteFile(large, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(used, []byte(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	defer func() {
		mapped.PanicOnFault()
		if err := mapped.Fault(recover()); err == nil || !strings.Contains(err.Error(), large) {
			t.Errorf("error %v", err)
		}
	}()
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Path: large}, {Path: used}}, MapInputs: true, Stream: true, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 0); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "out.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_, err = r.WriteTo(out)
	t.Errorf("no panic; error %v", err)
}
