package ptx

import (
	"bytes"
	"math"

	"ptxlink/internal/diag"
	"ptxlink/internal/hashed"
)

// LocalKind is the kind of declaration inside a function.
type LocalKind uint8

const (
	Register   LocalKind = iota // .reg
	Object                      // .param, .local, .shared, .global and .const inside a body
	Parameter                   // of the function itself, results included
	CodeLabel                   // L1:
	ProtoLabel                  // L1: .callprototype
	TargetList                  // L1: .branchtargets or .calltargets
)

// LocalDecl is a name, or a range of names, that a function declares.
type LocalDecl struct {
	Kind LocalKind
	Name diag.Span // of a range: its base
	// Count is the number of names in a range, `.reg .b32 Name<Count>`; -1 for a
	// single name.
	Count int64
	Type  Type  // of all but labels
	Proto int32 // of a ProtoLabel: index in Module.Prototypes while it is read

	token int32 // the declaring token; -1 for parameters
	block int32 // of a label: the opening token of its block
	hash  uint64
	outer int32 // the LocalDecl that this hash referred to before
}

// scopes records which locals are visible. ptxas follows these rules
// (TestScopesPtxas, testdata/script/local_range.txtar):
//
//  1. A name hides those of outer blocks and of the module, from the end of the
//     statement that declares it to the end of its block.
//  2. A range `x<3>` declares x0, x1, x2; x02 is x2, and x is not declared. The
//     base of a name is the name without all digits at its end, so `x1<3>` declares
//     nothing that can be named.
//  3. A range and a single name of the same spelling are distinct.
//  4. An inner name hides an outer range, and the reverse; a number beyond the last
//     member of the inner range refers to the outer one.
type scopes struct {
	text    []byte
	locals  []LocalDecl
	visible []int32          // indexes of locals, innermost last
	names   map[uint64]int32 // by hash of a single name
	ranges  map[uint64]int32 // by hash of the base
}

func (s *scopes) reset(text []byte) {
	s.text = text
	s.locals, s.visible = s.locals[:0], s.visible[:0]
	if s.names == nil {
		s.names, s.ranges = map[uint64]int32{}, map[uint64]int32{}
	}
	clear(s.names)
	clear(s.ranges)
}

func (s *scopes) nameOf(i int32) []byte {
	name := s.locals[i].Name
	return s.text[name.Off:name.End()]
}

// enter makes a local visible and returns its index.
func (s *scopes) enter(l LocalDecl) int32 {
	i := int32(len(s.locals))
	name := s.text[l.Name.Off:l.Name.End()]
	l.hash, l.outer = hashed.Bytes(name), -1
	table := s.names
	if l.Count >= 0 {
		table = s.ranges
	}
	if outer, ok := table[l.hash]; ok {
		l.outer = outer
	}
	table[l.hash] = i
	s.locals = append(s.locals, l)
	s.visible = append(s.visible, i)
	return i
}

// leave hides all locals but the first n.
func (s *scopes) leave(n int) {
	for len(s.visible) > n {
		l := &s.locals[s.visible[len(s.visible)-1]]
		s.visible = s.visible[:len(s.visible)-1]
		table := s.names
		if l.Count >= 0 {
			table = s.ranges
		}
		if l.outer >= 0 {
			table[l.hash] = l.outer
		} else {
			delete(table, l.hash)
		}
	}
}

// find returns the index of the visible local that a name refers to, or -1.
func (s *scopes) find(name []byte) int32 {
	single := int32(-1)
	if len(s.names) > 0 {
		if i, ok := s.names[hashed.Bytes(name)]; ok {
			for ; i >= 0; i = s.locals[i].outer {
				if bytes.Equal(s.nameOf(i), name) {
					single = i
					break
				}
			}
		}
	}
	if len(s.ranges) == 0 || class[name[len(name)-1]] != cDigit {
		return single
	}
	base, number := splitNumber(name)
	i, ok := s.ranges[hashed.Bytes(base)]
	if !ok {
		return single
	}
	for ; i >= 0; i = s.locals[i].outer {
		if number < s.locals[i].Count && bytes.Equal(s.nameOf(i), base) {
			return max(single, i) // the later of two visible ones is the inner one
		}
	}
	return single
}

// splitNumber splits a name before the digits at its end. For a name without
// digits, and for a number too large for any range, number is math.MaxInt64.
func splitNumber(name []byte) (base []byte, number int64) {
	at := len(name)
	for at > 0 && class[name[at-1]] == cDigit {
		at--
	}
	for _, c := range name[at:] {
		if number > math.MaxInt32 {
			return name[:at], math.MaxInt64
		}
		number = 10*number + int64(c-'0')
	}
	if at == len(name) {
		number = math.MaxInt64
	}
	return name[:at], number
}

// SplitNumber splits a name before the digits at its end, as ptxas does to find the
// range that declares it: x and 7 for "x07". ok is false for a name that does not
// end in a digit, and for a number beyond every range.
func SplitNumber(name string) (base string, number int64, ok bool) {
	b, number := splitNumber([]byte(name))
	return string(b), number, number != math.MaxInt64
}
