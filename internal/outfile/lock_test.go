//go:build linux

package outfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// TestLock checks that a second lock of a directory waits until the first is released,
// or until its context ends, by the lock of this system and by that of Windows.
func TestLock(t *testing.T) {
	slow := func() {}
	for _, system := range []string{"linux", "windows"} {
		t.Run(system, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			dir, other := t.TempDir(), t.TempDir()
			take := func(ctx context.Context, directory string) (func(), error) {
				return lock(ctx, filepath.Join(directory, "a.a"), lockOf(directory, system), slow)
			}
			if system == "linux" {
				take = func(ctx context.Context, directory string) (func(), error) {
					return Lock(ctx, filepath.Join(directory, "a.a"), slow)
				}
			}
			ctx, cancel := context.WithCancel(context.Background())
			unlock, err := take(ctx, dir)
			if err != nil {
				t.Fatal(err)
			}
			unlockOther, err := take(ctx, other)
			if err != nil {
				t.Fatal(err)
			}
			defer unlockOther()
			cancel()
			// Another spelling of the directory is the same directory.
			if _, err := take(ctx, filepath.Join(dir, "..", filepath.Base(dir))); !errors.Is(err, context.Canceled) {
				t.Errorf("a second lock: %v, want %v", err, context.Canceled)
			}
			unlock()
			if unlock, err = take(context.Background(), dir); err != nil {
				t.Errorf("after unlock: %v", err)
			}
			unlock()
			for _, directory := range []string{dir, other} {
				if list, _ := os.ReadDir(directory); len(list) > 0 {
					t.Errorf("the lock left %s in the directory", list[0].Name())
				}
			}
			if list, _ := os.ReadDir(temporary); (len(list) == 2) != (system == "windows") {
				t.Errorf("%d files in the temporary directory", len(list))
			}
		})
	}
	// Nothing to lock: the write reports the error.
	unlock, err := Lock(context.Background(), filepath.Join(t.TempDir(), "none", "b.a"), slow)
	if err != nil {
		t.Errorf("no directory: %v", err)
	}
	unlock()
}

// TestLockHeldElsewhere checks that a lock of another process, as flock(1) takes it on
// the directory, is waited for.
func TestLockHeldElsewhere(t *testing.T) {
	dir := t.TempDir()
	held := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	said := make(chan bool)
	go func() {
		<-said
		held.Unlock()
	}()
	unlock, err := Lock(context.Background(), filepath.Join(dir, "a.a"), func() { close(said) })
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	select {
	case <-said:
	default:
		t.Error("the lock was taken while it was held")
	}
}
