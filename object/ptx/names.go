package ptx

import (
	"hash/maphash"
	"strings"
)

// nameTable finds the ID of a module-scope name. It is an open hash table without
// deletion.
type nameTable struct {
	slots  []NameID // ID+1; 0 is a free slot. Its length is a power of two
	hashes []uint64 // by ID
	text   strings.Builder
}

// NameHash returns the hash by which Module.NameHash knows a name. It differs
// from process to process.
func NameHash(name string) uint64 { return maphash.String(hashSeed, name) }

// NameHash returns the hash of the name with an ID.
func (m *Module) NameHash(id NameID) uint64 { return m.table.hashes[id] }

// find returns the ID of a name among names.
func find[S string | []byte](t *nameTable, names []string, hash uint64, name S) (NameID, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if id := t.slots[at] - 1; t.hashes[id] == hash && names[id] == string(name) {
			return id, true
		}
	}
	return 0, false
}

// add gives a new name the next ID, and returns it as a string.
func (t *nameTable) add(hash uint64, name []byte) string {
	t.hashes = append(t.hashes, hash)
	if len(t.hashes)*2 > len(t.slots) {
		t.slots = make([]NameID, max(16, 2*len(t.slots)))
		for id, h := range t.hashes {
			t.insert(NameID(id), h)
		}
	} else {
		t.insert(NameID(len(t.hashes)-1), hash)
	}
	// One string holds many names: that is one allocation for all of them.
	if t.text.Cap()-t.text.Len() < len(name) {
		size := min(max(64, 2*t.text.Cap()), 1<<16)
		t.text = strings.Builder{}
		t.text.Grow(max(size, len(name)))
	}
	t.text.Write(name)
	all := t.text.String()
	return all[len(all)-len(name):]
}

func (t *nameTable) insert(id NameID, hash uint64) {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = id + 1
}
