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
// written, or earlier where a thread is idle.
func TestInputBecomesShorterWhileWritten(t *testing.T) {
	const header = ".version 7.8\n.target sm_75\n.address_size 64\n"
	dir := t.TempDir()
	keeps, first, large := filepath.Join(dir, "keeps.ptx"), filepath.Join(dir, "first.ptx"), filepath.Join(dir, "large.ptx")
	for try := 0; ; try++ {
		for path, text := range map[string]string{
			keeps: header + ".visible .entry k() { ret; }\n",
			first: header + strings.Repeat("// to hash it takes longer than the link\n", 1<<19),
			// The output holds nothing of it, so that only the digest reads it.
			large: header + strings.Repeat("// comment\n", mapped.Least/2) + ".func f() { ret; }\n",
		} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Path: keeps}, {Path: first}, {Path: large}}, MapInputs: true, Stream: true, Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(large, 0); err != nil {
			t.Fatal(err)
		}
		fault, err := faultOf(t, r, filepath.Join(dir, "out.ptx"))
		if fault != nil {
			if !strings.Contains(fault.Error(), large) {
				t.Errorf("error %v", fault)
			}
			return
		}
		if err != nil || try == 20 {
			t.Fatalf("no fault in %d links, error %v", try+1, err) // its digest was known each time
		}
	}
}

// faultOf writes an output and returns the error of the input that became shorter.
func faultOf(t *testing.T, r *link.Result, path string) (fault, err error) {
	mapped.PanicOnFault()
	defer func() {
		if what := recover(); what != nil {
			if fault = mapped.Fault(what); fault == nil {
				panic(what)
			}
		}
		r.Close()
	}()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_, err = r.WriteTo(out)
	return nil, err
}
