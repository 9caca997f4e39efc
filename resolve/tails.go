package resolve

import (
	"sync"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// tails holds the Tail of many names: most others have another.
type tails []uint64

// newTails makes tails for a number of names.
func newTails(names int) tails {
	words := 1
	for words*64 < names*16 {
		words *= 2
	}
	return make(tails, words)
}

// tailTables holds tables for later modules.
var tailTables = sync.Pool{New: func() any { return new(tailTable) }}

func (t tails) add(tail uint32) { t[int(tail>>6)&(len(t)-1)] |= 1 << (tail & 63) }

func (t tails) has(tail uint32) bool { return t[int(tail>>6)&(len(t)-1)]>>(tail&63)&1 != 0 }

// tailTable finds numbered names by their Tail, which the parser knows. It hashes a name
// only if several end alike.
type tailTable struct {
	names []string
	full  func(name []byte) int32 // finds any of names
	among tails
	slots []tailSlot // its length is a power of two
}

type tailSlot struct {
	tail   uint32
	number int32 // +1; 0 is free, -1 several names
}

// far limits how far from its slot a name may lie, whatever the names are.
const far = 32

// fill makes a table of the names.
func (t *tailTable) fill(names []string, full func(name []byte) int32) {
	size := 16
	for size < 2*len(names) {
		size *= 2
	}
	if cap(t.slots) < size {
		t.slots, t.among = make([]tailSlot, size), make(tails, size/8)
	}
	t.names, t.full, t.slots, t.among = names, full, t.slots[:size], t.among[:size/8]
	clear(t.slots) // new ones too: see hashed.Slots
	clear(t.among)
	for i, name := range names {
		tail := ptx.Tail([]byte(name))
		t.among.add(tail)
		switch slot := t.slot(tail); {
		case slot == nil: // find asks full
		case slot.number == 0:
			*slot = tailSlot{tail, int32(i + 1)}
		default:
			slot.number = -1
		}
	}
}

// done keeps the memory of the table for another one.
func (t *tailTable) done() {
	t.names, t.full = nil, nil
	tailTables.Put(t)
}

// slot returns the slot of a tail, or the free one for it; nil if there is none.
func (t *tailTable) slot(tail uint32) *tailSlot {
	for i := range far {
		if slot := &t.slots[(int(tail)+i)&(len(t.slots)-1)]; slot.number == 0 || slot.tail == tail {
			return slot
		}
	}
	return nil
}

// find returns the number of the name of a local, or -1.
func (t *tailTable) find(f *object.File, l ptx.LocalName) int32 {
	if !t.among.has(l.Tail) {
		return -1
	}
	slot := t.slot(l.Tail)
	switch {
	case slot == nil || slot.number < 0:
		return t.full(f.Src.Bytes(f.LocalSpan(l)))
	case slot.number > 0 && f.NameIs(l.Off, t.names[slot.number-1]):
		return slot.number - 1
	}
	return -1
}

// eachLocal calls visit with the names of the table that a function of the file declares,
// and with the declaration of the function. The names are labels, parameters and objects.
// It reads no body.
func (t *tailTable) eachLocal(f *object.File, visit func(d, number int32, l ptx.LocalName)) {
	in := inDecls{f: f}
	for _, l := range f.Locals {
		if n := t.find(f, l); n >= 0 {
			visit(in.at(l.Off), n, l)
		}
	}
}
