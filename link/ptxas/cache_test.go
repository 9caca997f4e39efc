//go:build unix

package ptxas

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ptxlink/object/diag"
)

// TestCacheDamage checks that an entry with any byte changed, cut short or renamed
// counts as absent and is replaced.
func TestCacheDamage(t *testing.T) {
	c := &Cache{Dir: t.TempDir()}
	want := result{"ptxas info : x\n", []byte("cubin")}
	c.store(t.Context(), keyOf(1), want)
	whole, err := os.ReadFile(c.file(keyOf(1)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(key string) bool {
		got, ok := c.load(t.Context(), key, anyCubin)
		if ok && (got.said != want.said || !bytes.Equal(got.cubin, want.cubin)) {
			t.Fatalf("read %q", got)
		}
		return ok
	}
	if !read(keyOf(1)) {
		t.Fatal("the entry is not there")
	}
	damage := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(c.file(keyOf(1)), data, 0o666); err != nil {
			t.Fatal(err)
		}
		if read(keyOf(1)) {
			t.Errorf("read although %s", what)
		}
		c.store(t.Context(), keyOf(1), want)
		if !read(keyOf(1)) {
			t.Errorf("not replaced after %s", what)
		}
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 4
		damage(fmt.Sprintf("byte %d is changed", i), data)
		damage(fmt.Sprintf("it is cut to %d bytes", i), whole[:i])
	}
	damage("bytes follow it", append(bytes.Clone(whole), 0))
	if err := os.Rename(c.file(keyOf(1)), c.file(keyOf(2))); err != nil {
		t.Fatal(err)
	}
	if read(keyOf(2)) {
		t.Error("read under another key")
	}
	var log diag.Log
	if c.Finish(&log); len(log.Messages) > 0 {
		t.Error(log.Messages[0].Text)
	}
}

// TestCachePlanted checks that what another program puts in the place of an entry is
// neither read nor followed, and is replaced. Names of entries can be predicted.
func TestCachePlanted(t *testing.T) {
	c := &Cache{Dir: t.TempDir()}
	want := result{"ptxas info : x\n", []byte("cubin")}
	c.store(t.Context(), keyOf(1), want)
	whole, err := os.ReadFile(c.file(keyOf(1)))
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for what, plant := range map[string]func(path string) error{
		"symbolic link":         func(path string) error { return os.Symlink(other, path) },
		"dangling link":         func(path string) error { return os.Symlink(other+".none", path) },
		"link to a device":      func(path string) error { return os.Symlink("/dev/zero", path) },
		"link to an entry":      func(path string) error { os.WriteFile(other, whole, 0o666); return os.Symlink(other, path) },
		"pipe":                  func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"sparse file":           func(path string) error { os.WriteFile(path, nil, 0o666); return os.Truncate(path, maxEntry+1) },
		"entry of another user": func(path string) error { os.WriteFile(path, whole, 0o666); return os.Chown(path, 12345, 12345) },
	} {
		path := c.file(keyOf(1))
		os.Remove(path)
		if err := os.WriteFile(other, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := plant(path); err != nil {
			t.Log(err) // only root gives files away
			continue
		}
		held, _ := os.ReadFile(other)
		if _, ok := c.load(t.Context(), keyOf(1), anyCubin); ok {
			t.Errorf("%s: read", what)
		}
		c.store(t.Context(), keyOf(1), want)
		if got, ok := c.load(t.Context(), keyOf(1), anyCubin); !ok || got.said != want.said {
			t.Errorf("%s: not replaced", what)
		}
		if now, _ := os.ReadFile(other); !bytes.Equal(now, held) {
			t.Errorf("%s: its target is now %.20q", what, now)
		}
		if _, err := os.Stat(other + ".none"); err == nil {
			t.Errorf("%s: its target was made", what)
		}
	}
	var log diag.Log
	if c.Finish(&log); len(log.Messages) > 0 {
		t.Error(log.Messages[0].Text)
	}
}

// TestCacheLimit checks that the entries used least recently go first, and other files
// stay.
func TestCacheLimit(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, make([]byte, 100000), 0o666); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, ".ptxlink-0123abcd.tmp")
	if err := os.WriteFile(left, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	os.Chtimes(left, long, long)
	var log diag.Log
	for i := range 10 {
		c := &Cache{Dir: dir, Size: 10500}
		c.store(t.Context(), keyOf(i), result{cubin: make([]byte, 1000-len(encodeEntry("", result{})))})
		at := long.Add(time.Duration(i) * time.Second)
		os.Chtimes(c.file(keyOf(i)), at, at)
		c.Finish(&log)
	}
	c := &Cache{Dir: dir, Size: 10500}
	if _, ok := c.load(t.Context(), keyOf(0), anyCubin); !ok { // it is now the last that was used
		t.Fatal("the first entry is gone although there is room")
	}
	c.store(t.Context(), keyOf(10), result{cubin: make([]byte, 1000)})
	c.Finish(&log)
	var kept []int
	for i := range 11 {
		if _, ok := c.load(t.Context(), keyOf(i), anyCubin); ok {
			kept = append(kept, i)
		}
	}
	if got := fmt.Sprint(kept); got != "[0 3 4 5 6 7 8 9 10]" {
		t.Errorf("kept %s", got)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("a file of a killed process stays")
	}
	if len(log.Messages) > 0 {
		t.Error(log.Messages[0].Text)
	}
}

// TestCacheDir checks that a directory that cannot be used gives one warning and no
// error.
func TestCacheDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c := &Cache{Dir: file}
	for i := range 3 {
		if _, ok := c.load(t.Context(), keyOf(i), anyCubin); ok {
			t.Error("an entry in a file")
		}
		c.store(t.Context(), keyOf(i), result{})
	}
	var log diag.Log
	c.Finish(&log)
	c.Finish(&log)
	if len(log.Messages) != 1 || log.Errors() > 0 || !strings.Contains(log.Messages[0].Text, "the cache "+file) {
		t.Errorf("%v", log.Messages)
	}
}

// TestCacheConcurrent checks that readers see whole entries or none while others write
// and remove them.
func TestCacheConcurrent(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for w := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			c := &Cache{Dir: dir, Size: 200000}
			for i := range 60 {
				key := (i * (w + 1)) % 20
				want := bytes.Repeat([]byte{byte(key)}, 15000)
				if got, ok := c.load(t.Context(), keyOf(key), anyCubin); ok {
					if !bytes.Equal(got.cubin, want) {
						t.Errorf("entry %d is wrong", key)
					}
					continue
				}
				c.store(t.Context(), keyOf(key), result{cubin: want})
				var log diag.Log
				if c.Finish(&log); len(log.Messages) > 0 {
					t.Error(log.Messages[0].Text)
				}
			}
		}()
	}
	group.Wait()
}

func anyCubin([]byte) error { return nil }
