package ptx

import "ptxlink/internal/sets"

// IsName reports whether a text is a name in PTX.
func IsName(text string) bool {
	l := NewLexer([]byte(text), 0)
	return l.atName() && nameEnd(l.text, 1) == len(text)
}

// InName reports whether a byte may continue a name, or begins a register.
func InName(c byte) bool { return inName[c] || c == '%' }

type nameTable struct {
	sets.Table
	text sets.Text
}

// NameHash returns sets.Hash of the name with an ID.
func (m *Module) NameHash(id NameID) uint64 { return m.table.Hash(int32(id)) }

func (m *Module) find(hash uint64, name []byte) (NameID, bool) {
	id := m.table.Find(hash, func(n int32) bool { return m.Names[n] == string(name) })
	return NameID(id), id >= 0
}

func (m *Module) addName(hash uint64, name []byte) NameID {
	m.Names = append(m.Names, m.table.text.Keep(name))
	return NameID(m.table.Add(hash))
}

type nameList struct {
	table sets.Table
	names []string
	text  sets.Text
}

func (l *nameList) find(hash uint64, name []byte) int32 {
	return l.table.Find(hash, func(n int32) bool { return l.names[n] == string(name) })
}

func (l *nameList) reserve(names int) {
	if len(l.names) == 0 && cap(l.names) == 0 {
		l.table.Reserve(names)
		l.names = make([]string, 0, names)
	}
}

// add returns the number of a name, a new one if it has none.
func (l *nameList) add(name []byte) int32 {
	hash := sets.HashBytes(name)
	if n := l.find(hash, name); n >= 0 {
		return n
	}
	l.names = append(l.names, l.text.Keep(name))
	return l.table.Add(hash)
}
