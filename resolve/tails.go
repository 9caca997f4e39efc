package resolve

import (
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// tails is a bitmap filter over the tails of a set of names: if the bit of a name is clear, the name
// is not in the set.
type tails []uint64

func newTails(names int) tails {
	words := 1
	for words*64 < names*16 {
		words *= 2
	}
	return make(tails, words)
}

func tailsOf(names []string) tails {
	t := newTails(len(names))
	for _, name := range names {
		t.add(ptx.Tail([]byte(name)))
	}
	return t
}

func (t tails) add(tail uint32) { t[int(tail>>6)&(len(t)-1)] |= 1 << (tail & 63) }

func (t tails) has(tail uint32) bool { return t[int(tail>>6)&(len(t)-1)]>>(tail&63)&1 != 0 }

// eachLocal calls visit with the names that functions of the file declare and that find
// knows the number of, and with the declaration of the function. The names are labels,
// parameters and objects. It reads no body, and hashes only names that end as one of
// among does.
func eachLocal(f *object.File, among tails, find func(name []byte) int32, visit func(d, number int32, l ptx.LocalName)) {
	in := inDecls{f: f}
	for _, l := range f.Locals {
		if !among.has(l.Tail) {
			continue
		}
		if n := find(f.Src.Bytes(f.LocalSpan(l))); n >= 0 {
			visit(in.at(l.Off), n, l)
		}
	}
}
