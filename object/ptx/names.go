package ptx

import (
	"strings"

	"ptxlink/internal/hashed"
)

// nameTable finds the ID of a module-scope name.
type nameTable struct {
	hashed.Table
	text strings.Builder
}

// NameHash returns hashed.String of the name with an ID.
func (m *Module) NameHash(id NameID) uint64 { return m.table.Hash(int32(id)) }

func (m *Module) find(name []byte) (NameID, bool) {
	id := m.table.Find(hashed.Bytes(name), func(n int32) bool { return m.Names[n] == string(name) })
	return NameID(id), id >= 0
}

// addName gives a new name the next ID. One string holds many names: that is one
// allocation for all of them.
func (m *Module) addName(hash uint64, name []byte) NameID {
	text := &m.table.text
	if text.Cap()-text.Len() < len(name) {
		size := min(max(64, 2*text.Cap()), 1<<16)
		*text = strings.Builder{}
		text.Grow(max(size, len(name)))
	}
	text.Write(name)
	all := text.String()
	m.Names = append(m.Names, all[len(all)-len(name):])
	return NameID(m.table.Add(hash))
}
