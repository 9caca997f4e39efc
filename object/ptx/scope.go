package ptx

import (
	"bytes"
	"math"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
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
	Type  TypeAt // of all but labels
	Proto int32  // of a ProtoLabel: index in Module.Prototypes while it is read

	token int32 // the declaring token; -1 for parameters
	block int32 // of a label: the opening token of its block
	hash  uint64
	outer int32 // the next in its chain: a LocalDecl farther out, or -1
}

// Static reports whether a function declares an object that all its calls share, in .shared, .global or .const.
// A copy of the function would have another object, so what holds such a function is never copied, nor
// folded with another.
func (l *LocalDecl) Static() bool {
	return l.Kind == Object && l.Type.Space != ".param" && l.Type.Space != ".local"
}

// scopes records which locals are visible. ptxas follows these rules
// (TestScopesPtxas, testdata/script/local_range.txtar):
//
//  1. A name hides the names of outer blocks and of the module, from the end of the
//     statement that declares it to the end of its block.
//  2. A range `x<3>` declares x0, x1, x2; x02 is x2, and x is not declared. The
//     base of a name is the name without all digits at its end, so `x1<3>` declares
//     nothing that can be named.
//  3. A range and a single name of the same spelling are distinct.
//  4. An inner name hides an outer range, and the reverse; a number beyond the last
//     member of the inner range refers to the outer one.
type scopes struct {
	source  []byte
	locals  []LocalDecl
	visible []int32 // indexes of locals, innermost last
	names   chains  // of single names
	ranges  chains  // by base
	// percent has a bit for the second byte of each name that starts with % of the
	// objects in .param that have been entered.
	percent uint64
}

// hides reports whether a register with a % in its name hides an object in .param, so
// that a call that passes the register would seem to pass the object.
func (s *scopes) hides(name []byte, isRange bool) bool {
	return s.percent&secondByte(name) != 0 && (isRange || s.find(sets.HashBytes(name), name) >= 0)
}

func secondByte(name []byte) uint64 { return 1 << (name[1] % 64) }

// chains finds visible locals by the low bits of their hash: heads holds the innermost
// and one more than its index, or 0, and LocalDecl.outer leads to the next.
type chains struct {
	heads []int32
	size  int
}

func (c *chains) head(hash uint64) *int32 { return &c.heads[hash&uint64(len(c.heads)-1)] }

func (c *chains) reset() {
	if c.size > 0 {
		clear(c.heads)
		c.size = 0
	}
}

// enter adds locals[i], which is innermost.
func (c *chains) enter(locals []LocalDecl, i int32) {
	head := c.head(locals[i].hash)
	locals[i].outer = *head - 1
	*head = i + 1
	c.size++
}

func (s *scopes) reset(text []byte) {
	s.source = text
	s.locals, s.visible = s.locals[:0], s.visible[:0]
	s.names.reset()
	s.ranges.reset()
}

func (s *scopes) nameOf(i int32) []byte {
	name := s.locals[i].Name
	return s.source[name.Off:name.End()]
}

func (s *scopes) enter(l LocalDecl) int32 {
	i := int32(len(s.locals))
	name := s.source[l.Name.Off:l.Name.End()]
	l.hash = sets.HashBytes(name)
	if name[0] == '%' && l.Type.Space == ".param" {
		s.percent |= secondByte(name)
	}
	s.locals = append(s.locals, l)
	s.visible = append(s.visible, i)
	c := s.chainsOf(&l)
	if c.size < len(c.heads) {
		c.enter(s.locals, i)
		return i
	}
	*c = chains{heads: make([]int32, max(64, 4*len(c.heads)))}
	for _, i := range s.visible {
		if s.chainsOf(&s.locals[i]) == c {
			c.enter(s.locals, i)
		}
	}
	return i
}

func (s *scopes) chainsOf(l *LocalDecl) *chains {
	if l.Count >= 0 {
		return &s.ranges
	}
	return &s.names
}

// leave hides all locals but the first n.
func (s *scopes) leave(n int) {
	for len(s.visible) > n {
		l := &s.locals[s.visible[len(s.visible)-1]]
		s.visible = s.visible[:len(s.visible)-1]
		c := s.chainsOf(l)
		*c.head(l.hash) = l.outer + 1
		c.size--
	}
}

// find returns the index of the visible local that a name with this hash refers to, or -1.
func (s *scopes) find(hash uint64, name []byte) int32 {
	single := int32(-1)
	if s.names.size > 0 {
		for i := *s.names.head(hash) - 1; i >= 0; i = s.locals[i].outer {
			if l := &s.locals[i]; l.hash == hash && bytes.Equal(s.nameOf(i), name) {
				single = i
				break
			}
		}
	}
	if s.ranges.size == 0 || class[name[len(name)-1]] != cDigit {
		return single
	}
	base, number := splitNumber(name)
	hash = sets.HashBytes(base)
	for i := *s.ranges.head(hash) - 1; i >= 0; i = s.locals[i].outer {
		if l := &s.locals[i]; l.hash == hash && number < l.Count && bytes.Equal(s.nameOf(i), base) {
			return max(single, i) // because the later of two visible ones is the inner one
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
