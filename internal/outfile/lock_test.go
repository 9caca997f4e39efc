//go:build linux

package outfile_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"ptxlink/internal/outfile"
)

// TestLock checks that a second lock of a folder waits until the first is released,
// or until its context ends.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	slow := func() {}
	unlock, err := outfile.Lock(context.Background(), filepath.Join(dir, "a.a"), slow)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := outfile.Lock(ctx, filepath.Join(dir, "b.a"), slow); !errors.Is(err, context.Canceled) {
		t.Errorf("a second lock: %v, want %v", err, context.Canceled)
	}
	unlock()
	if unlock, err = outfile.Lock(context.Background(), filepath.Join(dir, "b.a"), slow); err != nil {
		t.Errorf("after unlock: %v", err)
	}
	unlock()
	// Nothing to lock: the write reports the error.
	if unlock, err = outfile.Lock(context.Background(), filepath.Join(dir, "none", "b.a"), slow); err != nil {
		t.Errorf("no folder: %v", err)
	}
	unlock()
}
