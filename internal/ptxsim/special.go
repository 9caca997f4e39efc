package ptxsim

import (
	"strings"

	"ptxlink/object/ptx"
)

// Special registers (PTX ISA, Special Registers), with their widths. Those of
// clusters describe a cluster of one block.
var specials = []struct {
	name string
	bits int
	get  func(t *thread) uint64
}{
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
}

// The registers of three dimensions are numbered behind those above.
var triples = []struct {
	name string
	get  func(t *thread, i int) uint64
}{
	{"%tid", func(t *thread, i int) uint64 { return uint64(t.id[i]) }},
	{"%ntid", func(t *thread, i int) uint64 { return uint64(t.block.grid.Threads[i]) }},
	{"%ctaid", func(t *thread, i int) uint64 { return uint64(t.block.id[i]) }},
	{"%nctaid", func(t *thread, i int) uint64 { return uint64(t.block.grid.Blocks[i]) }},
	{"%clusterid", func(t *thread, i int) uint64 { return uint64(t.block.id[i]) }},
	{"%nclusterid", func(t *thread, i int) uint64 { return uint64(t.block.grid.Blocks[i]) }},
	{"%cluster_ctaid", func(t *thread, i int) uint64 { return 0 }},
	{"%cluster_nctaid", func(t *thread, i int) uint64 { return 1 }},
}

// tick counts the reads of clocks, so that a clock never stands still.
func (t *thread) tick() uint64 {
	t.m.clock++
	return t.m.clock + uint64(t.m.steps)
}

// special returns the value of a special register.
func (t *thread) special(code int32) uint64 {
	if n := int(code) - len(specials); n >= 0 {
		return triples[n/3].get(t, n%3)
	}
	return specials[code].get(t)
}

// specialRegister finds a special register: %laneid or %tid.x.
func (r *reader) specialRegister(o ptx.Operand) (code int32, bits int, ok bool) {
	if r.c.Tokens[o.First].Kind != ptx.Ident || r.c.Reference(int(o.First)) != ptx.NoReference {
		return 0, 0, false
	}
	name := r.text(o.First)
	switch o.End - o.First {
	case 1:
		for i, s := range specials {
			if s.name == name {
				return int32(i), s.bits, true
			}
		}
	case 2:
		for i, s := range triples {
			if at := strings.Index(".x.y.z", r.text(o.First+1)); s.name == name && at >= 0 {
				return int32(len(specials) + 3*i + at/2), 32, true
			}
		}
	}
	return 0, 0, false
}
