package infile

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailuresAreKept checks that a file which could not be read once is not read later, in no way and also inside
// another record, but in a context of its own.
func TestFailuresAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ptx")
	for name, first := range map[string]func(f *Files) error{
		"Stat":        func(f *Files) error { _, err := f.Stat(path); return err },
		"ReadFile":    func(f *Files) error { _, err := f.ReadFile(path, math.MaxInt64); return err },
		"ReadRegular": func(f *Files) error { _, err := f.ReadRegular(path, math.MaxInt64); return err },
		"Head": func(f *Files) error {
			if f.Head(path, 8) != nil {
				return nil
			}
			return fs.ErrNotExist
		},
		"Read": func(f *Files) error {
			_, err := f.Read(path, math.MaxInt64, func(*os.File, fs.FileInfo) ([]byte, error) { return nil, fs.ErrNotExist })
			return err
		},
	} {
		os.Remove(path)
		if name == "Read" { // it is opened
			write(t, path)
		}
		outer, _ := Record(t.Context())
		inner, read := Record(outer)
		if err := first(read); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		write(t, path)
		for _, ctx := range []context.Context{outer, inner} {
			f := Of(ctx)
			_, stat := f.Stat(path)
			_, whole := f.ReadFile(path, math.MaxInt64)
			_, regular := f.ReadRegular(path, math.MaxInt64)
			if stat == nil || whole == nil || regular == nil || f.Head(path, 8) != nil {
				t.Errorf("after %s failed: %v, %v, %v", name, stat, whole, regular)
			}
		}
		_, apart := Record(Apart(inner))
		if _, err := apart.ReadFile(path, math.MaxInt64); err != nil {
			t.Error(err)
		}
	}
	_, f := Record(t.Context())
	if _, err := f.ReadRegular(path, math.MaxInt64); err != nil || f.Changed() != nil {
		t.Errorf("%v, %v", err, f.Changed())
	}
	os.Remove(path)
	if _, err := f.ReadRegular(path, math.MaxInt64); err == nil || f.Changed() == nil || !strings.Contains(f.Changed().Error(), "cannot read it again") {
		t.Errorf("read again: %v, %v", err, f.Changed())
	}
	ctx, f := Record(t.Context())
	if _, err := f.ReadRegular(filepath.Dir(path), math.MaxInt64); err == nil || Of(ctx).failure(filepath.Dir(path)) != nil {
		t.Errorf("a directory: %v; it can be listed", err)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
}
