package sets

import (
	"hash/maphash"
	"strings"
)

var seed = maphash.MakeSeed()

// HashBytes returns the hash of a name. It differs from process to process.
func HashBytes(name []byte) uint64 { return maphash.Bytes(seed, name) }

// Hash returns the hash of a name, the same as HashBytes does.
func Hash(name string) uint64 { return maphash.String(seed, name) }

// Table is an open hash table that numbers names from 0, in the order of Add. The names themselves
// stay where they are. The zero Table is empty.
type Table struct {
	slots  []int32 // number+1; 0 is a free slot. Its length is a power of two
	hashes []uint64
}

// Hash returns the hash of a numbered name.
func (t *Table) Hash(n int32) uint64 { return t.hashes[n] }

// Find returns the number of the name with this hash for which same returns true,
// or -1.
func (t *Table) Find(hash uint64, same func(n int32) bool) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if n := t.slots[at] - 1; t.hashes[n] == hash && same(n) {
			return n
		}
	}
	return -1
}

// Add gives a name that Find does not find the next number.
func (t *Table) Add(hash uint64) int32 {
	n := int32(len(t.hashes))
	t.hashes = append(t.hashes, hash)
	if 2*len(t.hashes) <= len(t.slots) {
		t.insert(n)
		return n
	}
	t.slots = Slots(max(16, 2*len(t.slots)))
	for i := range t.hashes {
		t.insert(int32(i))
	}
	return n
}

// Clear removes all names. It keeps memory for a few.
func (t *Table) Clear() {
	if len(t.slots) > 1<<10 {
		*t = Table{}
	}
	clear(t.slots)
	t.hashes = t.hashes[:0]
}

// Reserve makes room for a number of names.
func (t *Table) Reserve(names int) {
	if len(t.slots) >= 2*names || len(t.hashes) > 0 {
		return
	}
	slots := 16
	for slots < 2*names {
		slots *= 2
	}
	t.slots, t.hashes = Slots(slots), make([]uint64, 0, names)
}

// Slots returns zeroed memory for a table. Fresh memory that is read before it is written
// gets two page faults, and the second one interrupts the other threads.
func Slots(n int) []int32 {
	slots := make([]int32, n)
	clear(slots)
	return slots
}

func (t *Table) insert(n int32) {
	mask := uint64(len(t.slots) - 1)
	at := t.hashes[n] & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = n + 1
}

// Text holds names, many of them in one string: that is one allocation for all of them.
type Text struct{ text strings.Builder }

// Keep returns a name as a string.
func (t *Text) Keep(name []byte) string {
	if t.text.Cap()-t.text.Len() < len(name) {
		size := min(max(64, 2*t.text.Cap()), 1<<16)
		t.text = strings.Builder{}
		t.text.Grow(max(size, len(name)))
	}
	t.text.Write(name)
	all := t.text.String()
	return all[len(all)-len(name):]
}
