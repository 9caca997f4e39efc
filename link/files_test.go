//go:build linux

package link_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ptxlink/internal/infile"
	"ptxlink/link"
)

// TestUnchanged checks that an input that is written in place is noticed, mapped or not,
// and one that is replaced is not.
func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ptx")
	text := []byte(".version 7.8\n.target sm_75\n.address_size 64\n.visible .func f() { ret; }\n")
	for _, maps := range []bool{false, true} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		os.Chtimes(path, old, old)
		r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Path: path}}, Relocatable: true, MapInputs: maps})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Unchanged(); err != nil {
			t.Error(err)
		}
		os.WriteFile(path, make([]byte, len(text)), 0o666)
		if err := r.Unchanged(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("written in place: %v", err)
		}
		os.WriteFile(path+".new", text, 0o666)
		os.Rename(path+".new", path)
		if err := r.Unchanged(); err != nil {
			t.Errorf("replaced: %v", err)
		}
		r.Close()
	}
}

// TestCloseUnmaps checks that a large input stays mapped until Close, or until Link
// returns an error that says nothing about it.
func TestCloseUnmaps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.ptx")
	text := ".version 7.8\n.target sm_75\n.address_size 64\n.visible .func f() { ret; }\n" + strings.Repeat("// comment\n", infile.LeastMapped/8)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	isMapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(maps), file)
	}
	o := link.Options{Inputs: []link.Input{{Path: file}}, MapInputs: true}
	r, err := link.Link(t.Context(), o)
	if err != nil || !isMapped() {
		t.Fatalf("error %v, mapped %v", err, isMapped())
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil || isMapped() {
		t.Errorf("closed: error %v, mapped %v", err, isMapped())
	}
	if !strings.Contains(string(r.PTX), "ret;") {
		t.Errorf("output:\n%s", r.PTX)
	}

	o.RequireDefined = []string{"g"}
	_, err = link.Link(t.Context(), o)
	var errs *link.Errors
	if !errors.As(err, &errs) || !isMapped() {
		t.Fatalf("error %v, mapped %v", err, isMapped())
	}
	if err := errs.Close(); err != nil || isMapped() {
		t.Errorf("closed: error %v, mapped %v", err, isMapped())
	}

	o.RequireDefined = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := link.Link(ctx, o); !errors.Is(err, context.Canceled) || isMapped() {
		t.Errorf("error %v, mapped %v", err, isMapped())
	}
	o.MapInputs = false
	if r, err := link.Link(t.Context(), o); err != nil || isMapped() || r.Close() != nil {
		t.Errorf("not mapped: error %v", err)
	}
}

// TestWriteToFile writes an output whose inputs are hashed meanwhile: into a new file,
// behind what a file has, to one open for appending, and into a pipe.
func TestWriteToFile(t *testing.T) {
	text := ".version 7.8\n.target sm_75\n.address_size 64\n.visible .func f() { ret; }\n" + strings.Repeat("// comment\n", 1<<17)
	inputs := []link.Input{{Name: "a.ptx", Text: []byte(text)}}
	want, err := link.Link(t.Context(), link.Options{Inputs: inputs, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := link.Link(t.Context(), link.Options{Inputs: inputs, Jobs: 4, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	const old = "what was there\n"
	for _, flags := range []int{os.O_TRUNC, 0, os.O_APPEND} {
		name := filepath.Join(t.TempDir(), "out.ptx")
		if err := os.WriteFile(name, []byte(old), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		expected := string(want.PTX)
		if flags != os.O_TRUNC {
			expected = old + expected
			if _, err := f.Seek(int64(len(old)), io.SeekStart); err != nil {
				t.Fatal(err)
			}
		}
		n, err := streamed.WriteTo(f)
		if err := errors.Join(err, f.Close()); err != nil || int(n) != len(want.PTX) {
			t.Errorf("flags %#x: %d bytes, error %v", flags, n, err)
		}
		if got, _ := os.ReadFile(name); string(got) != expected {
			t.Errorf("flags %#x: %d bytes differ from the %d expected", flags, len(got), len(expected))
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		streamed.WriteTo(w)
		w.Close()
	}()
	if got, err := io.ReadAll(r); err != nil || string(got) != string(want.PTX) {
		t.Errorf("pipe: %d bytes, error %v", len(got), err)
	}
}
