package ptxsim

import (
	"slices"

	"ptxlink/object/ptx"
)

// special is a special register.
type special struct {
	name string
	bits int
	get  func(t *thread) uint64
}

// specials are PTX ISA, Special Registers. Those of clusters describe a cluster of one block.
var specials = slices.Concat([]special{
	{"%laneid", 32, func(t *thread) uint64 { return uint64(t.lane) }},
	{"%warpid", 32, func(t *thread) uint64 { return uint64(t.index / 32) }},
	{"%nwarpid", 32, func(t *thread) uint64 { return uint64(len(t.block.warps)) }},
	{"%smid", 32, func(t *thread) uint64 { return 0 }},
	{"%nsmid", 32, func(t *thread) uint64 { return 1 }},
	{"%gridid", 64, func(t *thread) uint64 { return uint64(t.m.launch) }},
	{"%lanemask_eq", 32, func(t *thread) uint64 { return 1 << t.lane }},
	{"%lanemask_le", 32, func(t *thread) uint64 { return 1<<(t.lane+1) - 1 }},
	{"%lanemask_lt", 32, func(t *thread) uint64 { return 1<<t.lane - 1 }},
	{"%lanemask_ge", 32, func(t *thread) uint64 { return mask(32) &^ (1<<t.lane - 1) }},
	{"%lanemask_gt", 32, func(t *thread) uint64 { return mask(32) &^ (1<<(t.lane+1) - 1) }},
	{"%clock", 32, func(t *thread) uint64 { return t.tick() & mask(32) }},
	{"%clock_hi", 32, func(t *thread) uint64 { return t.tick() >> 32 }},
	{"%clock64", 64, func(t *thread) uint64 { return t.tick() }},
	{"%globaltimer", 64, func(t *thread) uint64 { return t.tick() }},
	{"%globaltimer_lo", 32, func(t *thread) uint64 { return t.tick() & mask(32) }},
	{"%globaltimer_hi", 32, func(t *thread) uint64 { return t.tick() >> 32 }},
	{"%dynamic_smem_size", 32, func(t *thread) uint64 { return uint64(t.block.grid.Shared) }},
	{"%total_smem_size", 32, func(t *thread) uint64 { return uint64(len(t.block.shared)) }},
	{"%cluster_ctarank", 32, func(t *thread) uint64 { return 0 }},
	{"%cluster_nctarank", 32, func(t *thread) uint64 { return 1 }},
},
	triple("%tid", func(t *thread, i int) uint64 { return uint64(t.id[i]) }),
	triple("%ntid", func(t *thread, i int) uint64 { return uint64(t.block.grid.Threads[i]) }),
	triple("%ctaid", func(t *thread, i int) uint64 { return uint64(t.block.id[i]) }),
	triple("%nctaid", func(t *thread, i int) uint64 { return uint64(t.block.grid.Blocks[i]) }),
	triple("%clusterid", func(t *thread, i int) uint64 { return uint64(t.block.id[i]) }),
	triple("%nclusterid", func(t *thread, i int) uint64 { return uint64(t.block.grid.Blocks[i]) }),
	triple("%cluster_ctaid", func(t *thread, i int) uint64 { return 0 }),
	triple("%cluster_nctaid", func(t *thread, i int) uint64 { return 1 }),
)

// triple returns the registers of three dimensions: %tid.x, %tid.y and %tid.z.
func triple(name string, get func(t *thread, i int) uint64) (list []special) {
	for i, dimension := range []string{".x", ".y", ".z"} {
		list = append(list, special{name + dimension, 32, func(t *thread) uint64 { return get(t, i) }})
	}
	return list
}

// tick moves the clock of the thread on with each read, so that it never stands still. What a
// thread reads does not depend on the number of its instructions, which an optimiser changes.
func (t *thread) tick() uint64 {
	t.clock += 1024
	return t.clock
}

// specialRegister finds a special register: %laneid or %tid.x.
func (r *reader) specialRegister(o ptx.Operand) (code int32, bits int, ok bool) {
	if r.c.Tokens[o.First].Kind != ptx.Ident || r.c.Reference(int(o.First)) != ptx.NoReference {
		return 0, 0, false
	}
	name := ""
	for at := o.First; at < o.End; at++ { // %tid .x
		name += r.text(at)
	}
	i := slices.IndexFunc(specials, func(s special) bool { return s.name == name })
	if i < 0 {
		return 0, 0, false
	}
	return int32(i), specials[i].bits, true
}
