package optimize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/ptx"
)

// depots are the .local objects of the functions that are inlined into one function. The calls of
// one function never overlap in time, so all use the same objects. They must be declared at the top
// of the function, because ptxas gives each declaration in a nested block its own memory.
type depots struct {
	slots     []*slot
	registers map[registerKey]*slot
	order     []*slot // the slots of registers, in order
	bytes     int64   // size of the slots in registers
}

type registerKey struct {
	callee string
	local  int32
}

// slot is one object that the calls share.
type slot struct {
	name        string
	size, align int64
}

// move assigns the .local objects of a callee to slots, the largest first. It returns the edits
// that remove their declarations, and adds their new names. An object that ptxas keeps in registers
// shares a slot only with itself in the other copies of its function, because in one slot with
// another object it would be in memory.
func (d *depots) move(s *state, at *site, names map[int32]string, removed map[int32]bool) (edits []edit) {
	c := at.code
	var moved []int32
	for _, st := range c.Statements {
		if st.Kind != ptx.Directive || c.Opcode(st) != ".local" {
			continue
		}
		list := declared(c, st)
		if slices.ContainsFunc(list, func(i int32) bool { return !at.movable(i) }) {
			continue
		}
		for _, i := range list {
			if at.callee.frame().resident[i] || !d.fits(at, i) {
				moved = append(moved, i)
			} else {
				names[i], removed[i] = d.register(s, at, i), true
			}
		}
		edits = append(edits, edit{span: c.Span(st)})
	}
	size := func(i int32) int64 { return c.Locals[i].Type.Size() }
	slices.SortStableFunc(moved, func(a, b int32) int { return cmp.Compare(size(b), size(a)) })
	for n, i := range moved {
		if n == len(d.slots) {
			d.slots = append(d.slots, &slot{name: s.register(at.caller)})
		}
		slot := d.slots[n]
		slot.size, slot.align = max(slot.size, size(i)), max(slot.align, c.Locals[i].Type.Alignment())
		names[i], removed[i] = slot.name, true
	}
	return edits
}

// fits reports whether ptxas has registers for an object that is not in memory yet. If it has none,
// the object must share slots with all others.
func (d *depots) fits(at *site, local int32) bool {
	return d.registers[registerKey{at.callee.name, local}] != nil || d.bytes+at.code.Locals[local].Type.Size() <= maxRegisters
}

// register returns the name of the slot of an object that ptxas keeps in registers. All copies of
// the callee share the slot.
func (d *depots) register(s *state, at *site, local int32) string {
	key := registerKey{at.callee.name, local}
	if d.registers[key] == nil {
		t := &at.code.Locals[local].Type
		sets.Put(&d.registers, key, &slot{s.register(at.caller), t.Size(), t.Alignment()})
		d.order = append(d.order, d.registers[key])
		d.bytes += t.Size()
	}
	return d.registers[key].name
}

// movable reports whether a .local object can become an array of bytes.
func (at *site) movable(i int32) bool {
	l := &at.code.Locals[i]
	return l.Count < 0 && l.Type.Size() > 0 && !at.callee.frame().indexed[i]
}

func (d *depots) declaration() string {
	var b strings.Builder
	for _, s := range slices.Concat(d.order, d.slots) {
		fmt.Fprintf(&b, "\n.local .align %d .b8 %s[%d];", s.align, s.name, s.size)
	}
	return b.String()
}
