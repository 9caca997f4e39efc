package ptxas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/tool"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// keyOf returns a key for a number.
func keyOf(i int) string { return fmt.Sprintf("%064x", i) }

// keeper is a Store.
type keeper struct {
	mu    sync.Mutex
	kept  map[string][]byte
	err   error
	asked int

	unread error // of Get
}

func (m *keeper) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	return m.kept[key], cmp.Or(m.err, m.unread)
}

func (m *keeper) Put(_ context.Context, key string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if m.err == nil {
		m.kept[key] = data
	}
	return m.err
}

func (m *keeper) Close(context.Context) error { return nil }
func (m *keeper) String() string              { return "prog:cache" }

// TestShared keeps entries in a cache that machines share, and trusts nothing that it returns.
func TestShared(t *testing.T) {
	store := &keeper{kept: map[string][]byte{}}
	want := result{said: "info: 1", cubin: oracles.LeastCubin}
	load := func(c *Cache, i int) (result, bool) { return c.load(t.Context(), keyOf(i), container.CheckCubin) }
	finish := func(c *Cache) string {
		var log diag.Log
		c.Finish(&log)
		var said []string
		for _, m := range log.Messages {
			said = append(said, m.Text)
		}
		return strings.Join(said, "\n")
	}
	first := &Cache{Dir: t.TempDir(), Shared: store}
	first.store(t.Context(), keyOf(1), want)
	if said := finish(first); said != "" || len(store.kept) != 1 {
		t.Fatalf("%d entries, %s", len(store.kept), said)
	}
	// Another machine finds it, and keeps it.
	dir := t.TempDir()
	for _, c := range []*Cache{{Shared: store}, {Dir: dir, Shared: store}, {Dir: dir}} {
		if got, ok := load(c, 1); !ok || got.said != want.said || string(got.cubin) != string(want.cubin) || c.Hits != 1 {
			t.Errorf("%+v: %v, %q", c.Dir, ok, got.said)
		}
		if said := finish(c); said != "" {
			t.Error(said)
		}
	}
	// A server that lies: the entry of another key, damage, and what is no cubin.
	damaged := []byte(string(store.kept[keyOf(1)]))
	damaged[len(damaged)-1] ^= 1
	for name, data := range map[string][]byte{"found damaged by the store": nil, "another": store.kept[keyOf(1)], "damaged": damaged, "no cubin": encodeEntry(keyOf(2), result{cubin: []byte("text")}), "empty": {}} {
		store := &keeper{kept: map[string][]byte{}}
		c := &Cache{Dir: t.TempDir(), Shared: store}
		for i := range 5 {
			if store.kept[keyOf(2)] = data; data == nil {
				store.unread = tool.ErrDamaged
			}
			if _, ok := load(c, 2); ok {
				t.Errorf("%s: it is taken", name)
			}
			c.Dir = ""
			c.store(t.Context(), keyOf(2), want)
			said, want := finish(c), "the cache prog:cache returned a damaged entry, which is rewritten"
			if i == mostDamaged {
				want = "cannot use the cache prog:cache: it has returned several damaged entries"
			}
			if i > mostDamaged {
				want = ""
			}
			if said != want {
				t.Errorf("%s, %d times: %q", name, i, said)
			}
			if again := string(store.kept[keyOf(2)]) != string(data); again != (i < mostDamaged) {
				t.Errorf("%s, %d times: written again: %t", name, i, again)
			}
		}
	}
	// After the first error it is left alone, and the link has its cubins.
	lost := &keeper{err: errors.New("connection refused")}
	c := &Cache{Dir: t.TempDir(), Shared: lost}
	for i := range 3 {
		load(c, i)
		c.store(t.Context(), keyOf(i), want)
		if got, ok := load(c, i); !ok || string(got.cubin) != string(want.cubin) {
			t.Errorf("%d is not there", i)
		}
	}
	if said := finish(c) + finish(c); said != "cannot use the cache prog:cache: connection refused" || lost.asked != 1 {
		t.Errorf("asked %d times: %q", lost.asked, said)
	}
	if _, err := OpenCache("http://user:secret@host"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
