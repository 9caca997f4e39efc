//go:build linux

package link_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/mapped"
	"ptxlink/link"
)

// TestCloseUnmaps checks that a large input stays mapped until Close, or until Link
// returns an error that says nothing about it.
func TestCloseUnmaps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.ptx")
	text := ".version 7.8\n.target sm_75\n.address_size 64\n.visible .func f() { ret; }\n" + strings.Repeat("// comment\n", mapped.Least/8)
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
