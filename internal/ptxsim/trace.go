package ptxsim

import (
	"bytes"
	"fmt"
)

// Store is one store of a thread to global memory. Vector stores are one Store.
type Store struct {
	Launch, Thread int    // Thread counts through the grid
	Op             string // "st", or the operation of an atomic: "add.u32"
	Object         string
	Offset         int64
	// Value holds the bytes stored, or the operands of the atomic. A pointer to a
	// .global object or a function depends on its name alone.
	Value []byte
}

func (s Store) String() string {
	return fmt.Sprintf("launch %d thread %d: %s %s+%d %x", s.Launch, s.Thread, s.Op, s.Object, s.Offset, s.Value)
}

// equal reports whether two stores are the same.
func (s Store) equal(t Store) bool {
	return s.Launch == t.Launch && s.Thread == t.Thread && s.Op == t.Op && original(s.Object) == original(t.Object) && s.Offset == t.Offset && bytes.Equal(s.Value, t.Value)
}

// DiffStores returns the first difference between two traces, or "". The order of
// stores counts within a thread, but not between threads. A number that the linker
// added to the name of an object (x$1) does not count. Of runs that are not whole, as they may
// have ended with an error, only the stores count that a thread came to in both.
func DiffStores(want, got []Store, whole bool) string {
	type key struct{ launch, thread int }
	rest := map[key][]Store{}
	for _, s := range want {
		k := key{s.Launch, s.Thread}
		rest[k] = append(rest[k], s)
	}
	for _, s := range got {
		k := key{s.Launch, s.Thread}
		list := rest[k]
		if len(list) == 0 && !whole {
			continue
		}
		if len(list) == 0 {
			return fmt.Sprintf("%s\nwant no more stores", s)
		}
		if !s.equal(list[0]) {
			return fmt.Sprintf("%s\nwant %s", s, list[0])
		}
		rest[k] = list[1:]
	}
	// The first one of those that are missing.
	for _, s := range want {
		if list := rest[key{s.Launch, s.Thread}]; whole && len(list) > 0 && s.equal(list[0]) {
			return fmt.Sprintf("no store\nwant %s", s)
		}
	}
	return ""
}
