package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"ptxlink/internal/ptxsim"
	"ptxlink/internal/sets"
	"ptxlink/object/ptx"
)

// styles are ways of making up arguments: whether numbers are large, whether 8 bytes whose use is not
// known hold an address, and the elements of buffers.
const styles = 2 * 2 * 3

// gccStack is the size of the stack of a warp in programs of gcc.
const gccStack = 1 << 14

// madeUp launches a kernel with a number of warps, or one if it is a kernel of gcc: its warps wait for
// locks, so what they store depends on their turns. Integers are small, also as indices, and pointers
// point to buffers of their own. known holds what its body takes from the parameters.
func madeUp(entry string, known map[place]content, style, warps int) launcher {
	return func(m *ptxsim.Machine) error {
		element, number, pointers := style%3, [...]uint32{33, 2}[style/3%2], style/6 == 0
		buffer := func(name string) *ptxsim.Object {
			data := make([]byte, 1<<14)
			for i := 0; i < len(data); i += 4 {
				v := uint32(0)
				switch element {
				case 1:
					v = uint32(i / 4 % 3)
				case 2:
					v = math.Float32bits(float32(i/4%7) + 0.5)
				}
				binary.LittleEndian.PutUint32(data[i:], v)
			}
			return m.Alloc(name, data, 256)
		}
		grid := ptxsim.Grid{Blocks: [3]int{2}, Threads: [3]int{32, warps}, Shared: 1 << 15}
		var args []any
		for i, size := range m.Params(entry) {
			data := make([]byte, size)
			for at := int64(0); at+4 <= size; at += 4 {
				binary.LittleEndian.PutUint32(data[at:], number)
			}
			for at := int64(0); at+8 <= size; at += 8 {
				holds := known[place{i, at}]
				if holds == unknown && size%8 == 0 {
					holds = word
					if pointers {
						holds = address
					}
				}
				switch holds {
				case stack:
					grid.Threads[1] = 1
					binary.LittleEndian.PutUint64(data[at:], m.Alloc(entry+"_stack", make([]byte, 4*gccStack), 256).Address())
				case stackSize:
					binary.LittleEndian.PutUint64(data[at:], gccStack)
				case word:
					binary.LittleEndian.PutUint64(data[at:], uint64(number))
				case address:
					binary.LittleEndian.PutUint64(data[at:], buffer(fmt.Sprintf("%s_%d_%d", entry, i, at/8)).Address())
				}
			}
			args = append(args, data)
		}
		return m.Launch(entry, grid, args...)
	}
}

// place is an offset in a parameter.
type place struct {
	param  int
	offset int64
}

// content is what 8 bytes of a parameter hold.
type content uint8

const (
	unknown content = iota
	narrow          // several values
	word            // one value that is not an address
	address
	stack     // the memory for the stacks of gcc's warps
	stackSize // the size of each
)

// contents returns what the parameters of a kernel hold, by the loads in its body. An address is what
// accesses, and conversions of addresses, are computed from.
func contents(m *ptx.Module, d *ptx.Decl) map[place]content {
	c := m.Code(d)
	if c == nil {
		return nil
	}
	f := flow{Code: c, params: len(d.Signature.Params), bases: map[ptx.RegisterID]place{}, loads: map[ptx.RegisterID][]place{}, from: map[ptx.RegisterID][]ptx.RegisterID{}}
	for _, st := range c.Statements {
		if st.Kind == ptx.Instruction {
			f.instruction(st)
		}
	}
	known := map[place]content{}
	for i := range d.Signature.Params {
		switch m.Src.String(c.Locals[i].Name) {
		case "%stack":
			known[place{i, 0}] = stack
		case "%sz":
			known[place{i, 0}] = stackSize
		}
	}
	addresses := f.addresses()
	for r, list := range f.loads {
		holds := word
		if ptx.TypeSize(c.Locals[r.Local].Type.Word) < 8 {
			holds = narrow
		} else if addresses[r] {
			holds = address
		}
		for _, p := range list {
			p.offset &^= 7
			known[p] = max(known[p], holds)
		}
	}
	return known
}

// flow is how the parameters of a kernel reach its registers.
type flow struct {
	*ptx.Code
	params int
	bases  map[ptx.RegisterID]place            // registers with the address of a parameter
	loads  map[ptx.RegisterID][]place          // what is loaded into a register
	from   map[ptx.RegisterID][]ptx.RegisterID // what a register is computed from, if it may be an address
	used   []ptx.RegisterID                    // as addresses
}

func (f *flow) register(o ptx.Operand) (r ptx.RegisterID, ok bool) {
	if o.Shape != ptx.NameOperand {
		return r, false
	}
	return f.Register(o.First)
}

// param returns the parameter that a name, or the address in a register, stands for.
func (f *flow) param(token int32) (p place, ok bool) {
	if i, ok := f.Reference(int(token)).Local(); ok && int(i) < f.params {
		return place{int(i), 0}, true
	}
	if r, ok := f.Register(token); ok {
		p, ok = f.bases[r]
		return p, ok
	}
	return p, false
}

func (f *flow) instruction(st ptx.Statement) {
	ops, mods := f.Operands(st), strings.Join(f.Modifiers(st), "")
	for _, o := range ops {
		if o.Shape == ptx.Address {
			f.access(ops[0], o, mods)
		}
	}
	if len(ops) < 2 {
		return
	}
	to, ok := f.register(ops[0])
	if !ok {
		return
	}
	switch f.Opcode(st) {
	case "mov":
		if p, ok := f.param(ops[1].First); ok {
			f.bases[to] = p
		}
	case "cvta":
		if strings.HasPrefix(mods, ".to") {
			f.used = append(f.used, to)
		}
	case "add", "sub", "selp":
	case "mad":
		ops = ops[2:]
	default:
		return
	}
	for _, o := range ops[1:] {
		if r, ok := f.register(o); ok {
			f.from[to] = append(f.from[to], r)
		}
	}
}

// access notes a load of a parameter, or that the base of an address is one.
func (f *flow) access(to, address ptx.Operand, mods string) {
	base, offset, ok := f.AddressParts(address)
	if !ok {
		return
	}
	p, ok := f.param(base)
	if !ok || !strings.HasPrefix(mods, ".param") {
		if r, ok := f.Register(base); ok {
			f.used = append(f.used, r)
		}
		return
	}
	p.offset += offset
	loaded := []ptx.Operand{to}
	if to.Shape == ptx.Vector {
		loaded = f.Elements(to)
	}
	for _, e := range loaded {
		if r, ok := f.register(e); ok {
			f.loads[r] = append(f.loads[r], p)
		}
		p.offset += ptx.TypeSize(mods[strings.LastIndex(mods, "."):])
	}
}

// addresses returns the registers that addresses are computed from.
func (f *flow) addresses() map[ptx.RegisterID]bool {
	reached := map[ptx.RegisterID]bool{}
	for used := f.used; len(used) > 0; used = used[1:] {
		if sets.Add(&reached, used[0]) {
			used = append(used, f.from[used[0]]...)
		}
	}
	return reached
}
