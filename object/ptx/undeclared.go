package ptx

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ptxlink/object/diag"
)

// A name must be declared before it is used, at module scope or in a block around the use. ptxas
// refuses all others except labels, which may follow in a block around the use
// (testdata/script/undeclared_name.txtar). In a linked module such a name would refer to whatever
// another module declares under it. Registers are looked up only where a name at module scope starts
// with %, because only such a name can hide the mistake from ptxas, and a look-up of each register
// takes a sixth of the time of Parse.

// Undeclared is the use of a name that nothing declares before it.
type Undeclared struct {
	diag.Span
	In int32 // the declaration around it
}

// Percent reports whether the module has a name at module scope that starts with %, as registers do.
func (m *Module) Percent() bool { return m.percent }

// UndeclaredRegisters returns Undeclared with the registers among them. It reads the text again.
func (m *Module) UndeclaredRegisters() []Undeclared {
	again := &Module{Src: m.Src}
	if byGCC(m.Src) {
		again.around = m.anywhere
	}
	again, _ = read(again, &parser{pct: true})
	return again.Undeclared
}

// unknownUse is the use of a name that nothing before it declares: the name of a label that follows,
// or of nothing.
type unknownUse struct {
	hash uint64
	span diag.Span
}

type blockLabel struct {
	hash  uint64
	block int32
}

type block struct{ from, to int32 }

// undeclared notes the use of a name that is neither one of the module nor, so far, of the body.
func (p *parser) undeclared(at diag.Span, hash uint64, name []byte) {
	if p.in >= 0 && !predefined(name) {
		p.unknown = append(p.unknown, unknownUse{hash, at})
	}
}

// OptiXPrefix begins the names of the functions that OptiX defines while it compiles the linked module.
// Modules call them without a declaration.
const OptiXPrefix = "_optix_"

// predefined reports whether a name needs no declaration: the sink _, the constant WARP_SZ, or a special
// register.
func predefined(name []byte) bool {
	if name[0] != '%' {
		return len(name) == 1 && name[0] == '_' || string(name) == "WARP_SZ"
	}
	return specialRegisters()[string(name)]
}

// newestVersion is the newest version of PTX whose names predefined knows, as TestSpecialRegisters asks ptxas.
var newestVersion = Version{9, 5}

// Newer reports whether the module has a later version of PTX, which may define more names.
func (m *Module) Newer() bool { return newestVersion.Less(m.Version) }

var specialRegisters = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, name := range strings.Fields(`%tid %ntid %laneid %warpid %nwarpid %ctaid %nctaid %smid %nsmid %gridid %is_explicit_cluster %clusterid %nclusterid
		%cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt
		%clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi %total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec
		%reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1
		%locality_domain_id %locality_domain_supplemental_sm %perctamemoryoffset %perctamemorysize`) {
		known[name] = true
	}
	for i := range 32 {
		n := strconv.Itoa(i)
		known["%envreg"+n] = true
		if i < 8 {
			known["%pm"+n], known["%pm"+n+"_64"] = true, true
		}
	}
	return known
})

// Undeclared returns the spelling of a name in the instructions that nothing declares, or "". A later version of PTX may
// define it. Functions of OptiX do not count, because no module can declare another meaning for them.
func (c *Code) Undeclared() string {
	for _, st := range c.Statements {
		for i := st.First; i < st.End && st.Kind == Instruction; i++ {
			if t := c.Tokens[i]; t.Kind == Ident && t.Role() == Refers && c.refs[i] == NoReference && !predefined(c.Text(t)) && !bytes.HasPrefix(c.Text(t), []byte(OptiXPrefix)) {
				return string(c.Text(t))
			}
		}
	}
	return ""
}

// settle adds the names that no label of the body declares to Module.Undeclared.
func (p *parser) settle() {
	if len(p.unknown) > 0 {
		slices.SortFunc(p.unknown, func(a, b unknownUse) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.span.Off, b.span.Off))
		})
		slices.SortFunc(p.labels, func(a, b blockLabel) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.block, b.block)) })
		labels, found := p.labels, len(p.m.Undeclared)
		hash, end := uint64(0), int32(0) // because blocks nest, one of the blocks with the label that began before a use holds the use if the last of them to end does
		for _, u := range p.unknown {
			for len(labels) > 0 && labels[0].hash < u.hash {
				labels = labels[1:]
			}
			if u.hash != hash {
				hash, end = u.hash, 0
			}
			for len(labels) > 0 && labels[0].hash == u.hash && p.blocks[labels[0].block].from < u.span.Off {
				end = max(end, p.blocks[labels[0].block].to)
				labels = labels[1:]
			}
			if u.span.Off > end {
				p.m.Undeclared = append(p.m.Undeclared, Undeclared{u.span, p.in})
			}
		}
		slices.SortFunc(p.m.Undeclared[found:], func(a, b Undeclared) int { return cmp.Compare(a.Off, b.Off) })
	}
	p.forget()
}

func (p *parser) forget() {
	p.unknown, p.labels, p.blocks = p.unknown[:0], p.labels[:0], p.blocks[:0]
}
