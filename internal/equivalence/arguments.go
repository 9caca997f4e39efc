package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"ptxlink/internal/ptxsim"
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
	bases := map[ptx.RegisterID]place{} // registers with the address of a parameter
	loads := map[ptx.RegisterID][]place{}
	from := map[ptx.RegisterID][]ptx.RegisterID{}
	var used []ptx.RegisterID
	register := func(o ptx.Operand) (r ptx.RegisterID, ok bool) {
		if o.Shape != ptx.NameOperand {
			return r, false
		}
		return c.Register(o.First)
	}
	param := func(token int32) (p place, ok bool) {
		if i, ok := c.Reference(int(token)).Local(); ok && int(i) < len(d.Signature.Params) {
			return place{int(i), 0}, true
		} else if r, ok := c.Register(token); ok {
			p, ok := bases[r]
			return p, ok
		}
		return p, false
	}
	for _, st := range c.Statements {
		if st.Kind != ptx.Instruction {
			continue
		}
		ops, mods := c.Operands(st), strings.Join(c.Modifiers(st), "")
		if len(ops) == 0 {
			continue
		}
		to, isRegister := register(ops[0])
		for _, o := range ops {
			if o.Shape != ptx.Address {
				continue
			}
			base, offset, ok := c.AddressParts(o)
			if !ok {
				continue
			}
			p, ok := param(base)
			if !ok || !strings.HasPrefix(mods, ".param") {
				if r, ok := c.Register(base); ok {
					used = append(used, r)
				}
				continue
			}
			p.offset += offset
			loaded := ops[:1]
			if ops[0].Shape == ptx.Vector {
				loaded = c.Elements(ops[0])
			}
			for _, e := range loaded {
				if r, ok := register(e); ok {
					loads[r] = append(loads[r], p)
				}
				p.offset += ptx.TypeSize(mods[strings.LastIndex(mods, "."):])
			}
		}
		if !isRegister || len(ops) < 2 {
			continue
		}
		switch c.Opcode(st) {
		case "mov":
			if p, ok := param(ops[1].First); ok {
				bases[to] = p
			}
		case "cvta":
			if strings.HasPrefix(mods, ".to") {
				used = append(used, to)
			}
		case "add", "sub", "selp":
		case "mad":
			ops = ops[2:]
		default:
			continue
		}
		for _, o := range ops[1:] {
			if r, ok := register(o); ok {
				from[to] = append(from[to], r)
			}
		}
	}
	reached := map[ptx.RegisterID]bool{}
	for len(used) > 0 {
		r := used[len(used)-1]
		used = used[:len(used)-1]
		if !reached[r] {
			reached[r] = true
			used = append(used, from[r]...)
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
	for r, list := range loads {
		holds := word
		if ptx.TypeSize(c.Locals[r.Local].Type.Word) < 8 {
			holds = narrow
		} else if reached[r] {
			holds = address
		}
		for _, p := range list {
			p.offset &^= 7
			known[p] = max(known[p], holds)
		}
	}
	return known
}
