package optimize

import (
	"cmp"
	"slices"

	"ptxlink/object/ptx"
)

// Objects in .local that ptxas keeps in memory limit inlining. Otherwise a program could
// need more of that memory than it does with calls, or more instructions for it:
//
//  1. A function with such objects is inlined only if no other copy of it remains, because
//     each copy would repeat the loads and stores.
//  2. Calls of such functions are not inlined into a function if its stack would grow.
//     The frames of two calls use the same memory, one after the other; but an inlined object
//     is in the frame of the caller, also while the caller calls other functions.
//
// Functions that --inline matches are exempt.

// frame is the memory in .local that a function needs.
type frame struct {
	resident map[int32]bool // locals that stay in memory
	indexed  map[int32]bool // locals in object[2], which counts elements
	own      int64          // size of the resident objects, and of parameters whose address is taken
}

func (f *function) frame() *frame {
	if f.frameOf == nil {
		used, _ := f.usages()
		f.frameOf = newFrame(f.code(), used)
	}
	return f.frameOf
}

// depth returns the bytes that a function and its callees need.
func (s *state) depth(name string) int64 {
	if depth, known := s.depths[name]; known {
		return depth // in a cycle, this is the depth of one round
	}
	own := int64(0)
	var callees []string
	if name == pointed {
		for name := range s.taken {
			if f := s.byName[name]; f != nil && f.decl.Kind == ptx.Func {
				callees = append(callees, name)
			}
		}
		slices.Sort(callees) // because in a cycle the order counts
	} else {
		own, callees = s.byName[name].frame().own, s.callees(s.byName[name])
	}
	s.depths[name] = own
	for _, callee := range callees {
		s.depths[name] = max(s.depths[name], own+s.depth(callee))
	}
	return s.depths[name]
}

// pointed stands for all functions whose address is taken, because a call through a register may
// call any of them.
const pointed = ""

// callees returns the functions with bodies that a function may call, and pointed if it calls
// through a register.
func (s *state) callees(f *function) (list []string) {
	for _, call := range f.calls {
		if name := s.callee(f.target(call)); name == pointed || s.byName[name] != nil {
			list = append(list, name)
		}
	}
	return list
}

func newFrame(c *ptx.Code, used []usage) *frame {
	f := &frame{resident: map[int32]bool{}, indexed: map[int32]bool{}}
	local := func(l *ptx.LocalDecl) bool { return l.Kind == ptx.Object && l.Type.Space == ".local" }
	if slices.ContainsFunc(c.Locals, func(l ptx.LocalDecl) bool { return local(&l) }) {
		f.resident = residents(c)
		for n, t := range c.Tokens {
			local, ok := c.Reference(n).Local()
			if next := n + 1; ok && t.Role() != ptx.Declares && c.Tokens[next].Kind == ptx.Punct && c.Tokens[next].Ch == '[' {
				f.indexed[local] = true
			}
		}
	}
	for i, l := range c.Locals {
		if l.Kind == ptx.Parameter && len(used[i].taken) > 0 || f.resident[int32(i)] {
			f.own += l.Type.Size() * max(1, l.Count)
		}
	}
	return f
}

// residents returns the objects in .local that ptxas keeps in memory. ptxas keeps an object in
// registers only if every access is plain and at a constant offset, through addresses in .local or
// through generic addresses, which spaces turns into .local ones.
func residents(c *ptx.Code) map[int32]bool {
	pointers := map[ptx.RegisterID]int32{} // the object that a register points into
	resident := map[int32]bool{}
	object := func(token int32) (int32, bool) {
		if r, ok := c.Register(token); ok {
			i, ok := pointers[r]
			return i, ok
		}
		i, ok := c.Reference(int(token)).Local()
		return i, ok && c.Locals[i].Kind == ptx.Object && c.Locals[i].Type.Space == ".local"
	}
	spread(c, valuesOf(c), func(st ptx.Statement) []ptx.RegisterID {
		r, from, pointer := pointerTo(c, st)
		i, ok := object(from)
		before, known := pointers[r]
		switch {
		case !pointer || !ok:
		case !known:
			pointers[r] = i
			return []ptx.RegisterID{r}
		case before != i:
			resident[i], resident[before] = true, true
		}
		return nil
	})
	defined := map[ptx.RegisterID]bool{}
	for _, st := range c.Statements {
		if st.Kind == ptx.Directive && c.Opcode(st) == ".local" {
			for _, i := range declared(c, st) {
				if c.Locals[i].Count >= 0 {
					resident[i] = true
				}
			}
			continue
		}
		if st.Kind != ptx.Instruction {
			continue
		}
		understood := []int32{-1, -1}
		operands := c.Operands(st)
		if r, from, ok := pointerTo(c, st); ok {
			if i, ok := object(from); ok {
				understood = []int32{from, operands[0].First}
				if defined[r] {
					resident[i] = true
				}
				defined[r] = true
			}
		} else if address, ok := plainAddress(c, st, operands); ok {
			understood[0] = address
		}
		for token := st.Operands; token < st.End; token++ {
			if i, ok := object(token); ok && !slices.Contains(understood, token) {
				resident[i] = true
			}
		}
	}
	return resident
}

// pointerTo reads a statement that sets a register to an address, or to an address plus a constant.
// It returns the token of the address.
func pointerTo(c *ptx.Code, st ptx.Statement) (r ptx.RegisterID, from int32, ok bool) {
	if st.Kind != ptx.Instruction {
		return r, 0, false
	}
	operands := c.Operands(st)
	switch op := c.Opcode(st); {
	case op == "mov" && len(operands) == 2, op == "cvta" && len(operands) == 2:
	case (op == "add" || op == "sub") && len(operands) == 3 && operands[2].Shape == ptx.Immediate:
	default:
		return r, 0, false
	}
	if operands[0].Shape != ptx.NameOperand || operands[1].Shape != ptx.NameOperand {
		return r, 0, false
	}
	r, ok = c.Register(operands[0].First)
	return r, operands[1].First, ok
}

// plainAddress returns the token of the base of an ordinary ld or st.
func plainAddress(c *ptx.Code, st ptx.Statement, operands []ptx.Operand) (base int32, ok bool) {
	op := c.Opcode(st)
	if op != "ld" && op != "st" || len(operands) != 2 {
		return 0, false
	}
	for _, word := range c.Modifiers(st) {
		if ptx.TypeSize(word) == 0 && !slices.Contains([]string{".local", ".v2", ".v4", ".v8"}, word) {
			return 0, false
		}
	}
	address := operands[0]
	if op == "ld" {
		address = operands[1]
	}
	base, _, ok = c.AddressParts(address)
	return base, ok
}

// repeats returns a reason if a second copy of a function would access memory in .local (rule 1).
func (s *state) repeats(f *function) string {
	if f.frame().own == 0 || s.sites[f.name] == 1 && !s.kept(f) || s.inlineAll.Match(f.name) {
		return ""
	}
	return "its objects stay in .local, and it would remain too or have several copies"
}

func (s *state) limitStack(caller *function, sites []*site) {
	free := func(at *site) bool {
		return at.callee.frame().own == 0 && at.memory() == 0 || s.inlineAll.Match(at.callee.name)
	}
	if !slices.ContainsFunc(sites, func(at *site) bool { return !free(at) }) {
		return
	}
	before, after, added := int64(0), int64(0), int64(0)
	inlined := map[string]int{}
	var slots []int64
	for _, at := range sites {
		inlined[at.callee.name]++
		added += at.memory()
		after = max(after, s.depth(at.callee.name)-at.callee.frame().own)
		for n, size := range at.shared() {
			if n == len(slots) {
				slots = append(slots, 0)
			}
			slots[n] = max(slots[n], size)
		}
	}
	for _, size := range slots {
		added += size
	}
	for _, callee := range s.callees(caller) {
		depth := s.depth(callee)
		before = max(before, depth)
		if inlined[callee]--; inlined[callee] < 0 {
			after = max(after, depth)
		}
	}
	for _, at := range sites {
		if after+added > before && !free(at) {
			at.refused = "its objects in .local would add to the stack of other calls"
		}
	}
}

// memory returns the bytes in .local that replace arguments, and the bytes of objects that no other
// call can share.
func (at *site) memory() (n int64) {
	for i := range at.places {
		if at.places[i].memory != "" {
			n += at.places[i].size
		}
	}
	for i := range at.callee.frame().resident {
		if !at.movable(i) {
			n += at.code.Locals[i].Type.Size() * max(1, at.code.Locals[i].Count)
		}
	}
	return n
}

// shared returns the sizes of the objects that use slots, the largest first.
func (at *site) shared() (sizes []int64) {
	for i := range at.callee.frame().resident {
		if at.movable(i) {
			sizes = append(sizes, at.code.Locals[i].Type.Size())
		}
	}
	slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	return sizes
}
