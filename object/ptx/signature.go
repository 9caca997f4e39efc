package ptx

import (
	"math/bits"
	"slices"

	"ptxlink/internal/sets"
)

type signatures struct {
	table sets.Table
	list  []*Signature
	types []Type // of the one being read
}

// intern returns the signature with these types, the results first.
func (s *signatures) intern(types []Type, results int) *Signature {
	h := uint64(results)
	for i := range types {
		h = bits.RotateLeft64((h^types[i].hash())*0x9E3779B97F4A7C15, 29)
	}
	n := s.table.Find(h, func(n int32) bool {
		known := s.list[n]
		return len(known.Results) == results && slices.Equal(known.Results, types[:results]) && slices.Equal(known.Params, types[results:])
	})
	if n < 0 {
		n = s.table.Add(h)
		types = slices.Clip(append([]Type(nil), types...))
		s.list = append(s.list, &Signature{Results: types[:results:results], Params: types[results:], hash: h})
	}
	return s.list[n]
}

// hash returns a hash that is the same in every module.
func (t *Type) hash() uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := uint64(t.Vector) << 2
	if t.Array {
		h |= 1
	}
	if t.Unsized {
		h |= 2
	}
	for _, word := range [2]string{t.Space, t.Word} {
		for i := range len(word) {
			h = h*31 + uint64(word[i])
		}
		h *= prime
	}
	return bits.RotateLeft64((h^uint64(t.Align))*prime, 31)*prime ^ uint64(t.Count)
}

// signature returns the signature of a function with these parameters, the results
// first.
func (s *signatures) signature(params []Param, results int) *Signature {
	s.types = s.types[:0]
	for i := range params {
		s.types = append(s.types, params[i].Type)
	}
	return s.intern(s.types, results)
}

// Params reads the results and then the parameters of a function, in the order of
// Signature.At.
func (m *Module) Params(d *Decl) []Param {
	if d.Kind == Variable {
		return nil
	}
	p := parser{m: m, scratch: &scratch{}}
	p.cursor = newCursor(m.Src.Text[:d.Header.End()], d.Header.Off)
	_, word := p.word()
	list, _ := p.functionHeader(&Decl{}, word)
	return list
}
