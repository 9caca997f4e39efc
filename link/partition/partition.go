// Package partition cuts a linked module into modules that ptxas -c assembles in
// parallel and nvlink joins, and estimates what whole-program mode would clone.
package partition

import (
	"bytes"
	"hash/fnv"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"ptxlink/internal/graph"
	"ptxlink/link/diag"
	"ptxlink/object/ptx"
)

// Units returns the number of inputs with functions in the module, and the
// instructions of the largest of them. unit is Options.Unit.
func Units(m *ptx.Module, unit func(off int32) string) (largest int64, units int) {
	p := newProgram(m)
	costs := map[string]int64{}
	for _, f := range p.functions {
		name := unit(m.Decls[f].NameSpan.Off)
		costs[name] += p.cost[f]
		largest = max(largest, costs[name])
	}
	return largest, len(costs)
}

// Options holds the options of Cut.
type Options struct {
	// Parts is the largest number of parts; 0 chooses it by the size of the module.
	Parts int
	// Unit returns the name of the input that a place of the module comes from, or
	// "". The functions of one input stay together where they fit into a part, so
	// that a changed input changes one part. It may be nil.
	Unit func(off int32) string
	// Setting returns what ptxas must be told about the functions of a unit. Functions
	// with different settings are in different parts, so that there may be more than
	// Parts. It may be nil.
	Setting func(unit string) string
}

// MaxParts is the largest useful value of Options.Parts.
const MaxParts = 1024

// Check returns an error if the module cannot be cut. DWARF of one function refers to
// that of others, and an unknown statement may belong to any part. spelling names options in
// the error.
func Check(m *ptx.Module, spelling diag.Spelling) error {
	for i := range m.Sections {
		// Names of inlined functions, for .loc.
		if name := m.Sections[i].Name; name != ".debug_str" {
			return diag.New(diag.Partition, diag.Place{}, "a module with DWARF cannot be partitioned").WithHelp(spelling.With("-S", "%s removes debug information") + spelling.With("--keep-line-info", "; with %s it keeps .file and .loc"))
		}
	}
	if len(m.Others) > 0 {
		return diag.New(diag.Partition, diag.At(m.Src, m.Others[0].Span), "the module has a statement that ptxlink does not know, so it cannot be partitioned")
	}
	if m.AddressSize == 32 {
		return diag.New(diag.Partition, diag.Place{}, "a module with 32-bit addresses cannot be partitioned")
	}
	return nil
}

// program is the graph of one module.
type program struct {
	m             *ptx.Module
	unit, setting []string // by declaration, of functions
	// define and declare are the definition of each name and its first declaration of
	// any kind, as indexes of Decls; -1 if there is none. The name of an alias has the
	// definition of its target.
	define, declare []int32
	functions       []int32 // definitions of functions and entries, in order
	cost            []int64 // by declaration
	// taken are the functions whose address is taken, and pointers is set for the
	// definitions that take one or call through a register.
	taken    []int32
	pointers []bool
}

// newProgram reads the graph of a module.
func newProgram(m *ptx.Module) *program {
	p := &program{m: m, define: make([]int32, len(m.Names)), declare: make([]int32, len(m.Names)), cost: make([]int64, len(m.Decls))}
	for n := range m.Names {
		p.define[n], p.declare[n] = -1, -1
	}
	for i := range m.Decls {
		d := &m.Decls[i]
		if p.declare[d.Name] < 0 {
			p.declare[d.Name] = int32(i)
		}
		if !d.Defines() {
			continue
		}
		p.define[d.Name] = int32(i)
		if d.Kind != ptx.Variable {
			p.functions = append(p.functions, int32(i))
			p.cost[i] = cost(m.Src.Bytes(d.Body))
		}
	}
	// An alias may lead to another one.
	for range m.Aliases {
		done := true
		for _, a := range m.Aliases {
			if to := p.define[a.Target]; p.define[a.Name] != to {
				p.define[a.Name], done = to, false
			}
		}
		if done {
			break
		}
	}
	p.findPointers()
	return p
}

// findPointers finds the functions whose address is taken, and who may call them.
func (p *program) findPointers() {
	m := p.m
	p.pointers = make([]bool, len(m.Decls))
	calls := make([]bool, len(m.Uses))
	for i := range m.Calls {
		if use := m.Calls[i].Use; use >= 0 {
			calls[use] = true
		}
	}
	seen := make([]bool, len(m.Decls))
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.Defines() {
			continue
		}
		for u := d.FirstUse; u < d.EndUse; u++ {
			to := p.define[m.Uses[u].Name]
			if calls[u] || to < 0 || m.Decls[to].Kind != ptx.Func {
				continue
			}
			p.pointers[i] = true
			if !seen[to] {
				seen[to] = true
				p.taken = append(p.taken, to)
			}
		}
		if d.HasBody {
			first := sort.Search(len(m.Calls), func(k int) bool { return m.Calls[k].Span.Off >= d.Body.Off })
			for k := first; k < len(m.Calls) && m.Calls[k].Span.Off < d.Body.End(); k++ {
				p.pointers[i] = p.pointers[i] || m.Calls[k].Use < 0
			}
		}
	}
}

// cost estimates the number of instructions of a body, by its semicolons.
func cost(body []byte) int64 { return int64(bytes.Count(body, []byte{';'})) + 1 }

// uses returns the definitions that a definition refers to.
func (p *program) uses(decl int32) (list []int32) {
	d := &p.m.Decls[decl]
	for _, u := range p.m.Uses[d.FirstUse:d.EndUse] {
		if to := p.define[u.Name]; to >= 0 {
			list = append(list, to)
		}
	}
	return list
}

// Estimate is what ptxas assembles of a module.
type Estimate struct {
	Cloned   int64 // instructions in whole-program mode
	Once     int64 // instructions with one copy of each function
	Calls    bool  // a kernel calls functions
	Pointers bool  // a kernel has copies of functions that are called through pointers
}

// Cloning estimates the instructions that ptxas assembles in whole-program mode, where
// each kernel gets a copy of every function that it reaches. A kernel that reaches a
// call through a pointer, or takes the address of a function, gets copies of all
// functions whose address the module takes, whatever their prototypes
// (testdata/script/cubin_mode_pointers.txtar). Cloning stops at limit times the
// instructions with one copy of each, because the number of kernels times the number of
// functions may be large.
func Cloning(m *ptx.Module, limit int64) (e Estimate) {
	p := newProgram(m)
	for _, f := range p.functions {
		e.Once += p.cost[f]
	}
	seen := make([]int32, len(m.Decls)) // the last kernel that reached it
	steps := int64(0)
	round := int32(0)
	walk := graph.Walk[int32]{First: func(decl int32) bool {
		first := seen[decl] != round
		seen[decl] = round
		return first
	}}
	for _, f := range p.functions {
		if m.Decls[f].Kind != ptx.Entry {
			continue
		}
		pointers := false
		add := func(list []int32) {
			for _, to := range list {
				steps++
				// A kernel refers to another one to launch it.
				if m.Decls[to].Kind != ptx.Entry {
					walk.Add(to)
				}
			}
		}
		round++
		walk.Add(f)
		walk.Visit(func(at int32) {
			e.Cloned += p.cost[at]
			e.Calls = e.Calls || m.Decls[at].Kind == ptx.Func
			add(p.uses(at))
			if p.pointers[at] && !pointers {
				pointers = true
				e.Pointers = e.Pointers || len(p.taken) > 0
				add(p.taken)
			}
		})
		if e.Cloned > limit*e.Once || steps > 64*limit*int64(len(m.Uses)+1) {
			break
		}
	}
	e.Cloned = max(e.Cloned, e.Once)
	return e
}

// cluster is a set of functions that go to one part.
type cluster struct {
	key    string // the name of its unit or function that comes first
	hash   uint64
	weight int64
	decls  []int32
}

// assign returns the part of each function, and the number of parts.
func (p *program) assign(o Options) (part []int32, parts int) {
	p.unit, p.setting = make([]string, len(p.m.Decls)), make([]string, len(p.m.Decls))
	part = make([]int32, len(p.m.Decls))
	for i := range part {
		part[i] = -1
	}
	groups := map[string][]int32{} // by setting
	for _, f := range p.functions {
		if o.Unit != nil {
			p.unit[f] = o.Unit(p.m.Decls[f].NameSpan.Off)
		}
		if o.Setting != nil {
			p.setting[f] = o.Setting(p.unit[f])
		}
		groups[p.setting[f]] = append(groups[p.setting[f]], f)
	}
	settings := slices.Sorted(maps.Keys(groups))
	numbers := p.share(groups, settings, o.Parts)
	for i, setting := range settings {
		p.fill(groups[setting], part, parts, numbers[i])
		parts += numbers[i]
	}
	return part, max(1, parts)
}

// share returns the number of parts for the functions of each setting: one, and its
// share of the others. What is left over goes to the largest.
func (p *program) share(groups map[string][]int32, settings []string, parts int) (numbers []int) {
	total, left, largest := p.total(p.functions), int64(max(0, parts-len(groups))), 0
	rest := left
	for i, setting := range settings {
		group := groups[setting]
		n := choose(quantise(p.total(group)), p.units(group))
		if parts > 0 {
			more := left * p.total(group) / total
			n, rest = 1+int(more), rest-more
		}
		numbers = append(numbers, n)
		if p.total(group) > p.total(groups[settings[largest]]) {
			largest = i
		}
	}
	for i, setting := range settings {
		if i == largest {
			numbers[i] += int(rest)
		}
		numbers[i] = max(1, min(numbers[i], len(groups[setting]), MaxParts))
	}
	return numbers
}

// total returns the cost of functions.
func (p *program) total(functions []int32) (sum int64) {
	for _, f := range functions {
		sum += p.cost[f] + perFunction
	}
	return sum
}

// units returns the number of units of functions.
func (p *program) units(functions []int32) int {
	units := map[string]bool{}
	for _, f := range functions {
		units[p.unit[f]] = true
	}
	return len(units)
}

// fill distributes functions over parts, of which first is the first.
func (p *program) fill(functions, part []int32, first, parts int) {
	limit := max(1, quantise(p.total(functions))*3/2/int64(parts)) // of a cluster: parts need not be equal
	clusters := p.clusters(functions, limit)

	// The most expensive clusters first, because they are the hardest to place. Equal
	// weights are ordered by the hash of their keys, which an edit does not change.
	sum := int64(0)
	for i := range clusters {
		sum += clusters[i].weight
	}
	slices.SortFunc(clusters, func(a, b cluster) int {
		switch {
		case a.weight != b.weight:
			return int(min(1, max(-1, b.weight-a.weight)))
		case a.hash != b.hash:
			return map[bool]int{true: -1, false: 1}[a.hash < b.hash]
		}
		return strings.Compare(a.key, b.key)
	})
	room := quantise(sum/int64(parts)) * 5 / 4
	load := make([]int64, parts)
	for _, c := range clusters {
		to := place(c, load, room)
		load[to] += c.weight
		for _, d := range c.decls {
			part[d] = int32(first + to)
		}
	}
}

// The number of parts by size. A start of ptxas costs as much as some 400
// instructions, so small parts cost time; of a large one, all is assembled again if one
// function changes. There are no more parts than half the inputs, so that ptxas is
// started less often than for the separate inputs, except where the parts are large.
const smallPart, largePart, mostParts = 600, 2000, 64

// choose returns the number of parts for a number of instructions and units. The steps
// keep it from changing with every edit.
func choose(total int64, units int) int {
	n := min(total/smallPart, max(int64(units)/2, total/largePart), mostParts)
	chosen := 1
	for _, step := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
		if int64(step) <= n {
			chosen = step
		}
	}
	return chosen
}

// quantise rounds a cost to a power of the square root of 2, so that the small edits
// of a function do not move others to other parts.
func quantise(n int64) int64 {
	return int64(math.Round(math.Exp2(math.Round(2*math.Log2(float64(max(1, n)))) / 2)))
}

// place returns the part for a cluster: the first in its own order of preference that
// has room, else the one with the least load.
func place(c cluster, load []int64, room int64) int {
	best, first, least := -1, uint64(0), 0
	for i := range load {
		if load[i] < load[least] {
			least = i
		}
		preference := mix(c.hash ^ mix(uint64(i)+1))
		if load[i]+c.weight <= room && (best < 0 || preference > first) {
			best, first = i, preference
		}
	}
	if best < 0 {
		return least
	}
	return best
}

// mix scatters the bits of a number.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 29
	hi, lo := bits.Mul64(x, 0xc4ceb9fe1a85ec53)
	return hi ^ lo
}

// clusters groups functions:
//
//  1. the functions of an input, and inputs that call each other in a cycle, if they
//     fit into a part
//  2. else the functions of an input
//  3. else the functions that call each other in a cycle
//  4. else each function by itself
//
// The target of an alias has its names in its own part.
func (p *program) clusters(functions []int32, limit int64) (done []cluster) {
	component := p.components()
	byUnit := func(f int32) string { return p.unit[f] }
	var queue = p.split(functions, func(join func(a, b int32)) {
		p.joinUnits(functions, join)
		for _, f := range functions {
			join(f, component[f])
		}
	})
	refine := func(level func(join func(a, b int32), group []int32), key func(int32) string, last bool) {
		var rest [][]int32
		for _, group := range queue {
			sets := [][]int32{group}
			if level != nil {
				sets = p.split(group, func(join func(a, b int32)) { level(join, group) })
			}
			for _, set := range sets {
				if weight := p.weight(set); weight <= limit || last || len(set) == 1 {
					done = append(done, p.cluster(set, weight, key))
				} else {
					rest = append(rest, set)
				}
			}
		}
		queue = rest
	}
	name := func(f int32) string { return p.m.Names[p.m.Decls[f].Name] }
	if slices.ContainsFunc(functions, func(f int32) bool { return p.unit[f] != "" }) {
		refine(nil, byUnit, false)
		refine(func(join func(a, b int32), group []int32) { p.joinUnits(group, join) }, byUnit, false)
	}
	refine(func(join func(a, b int32), group []int32) {
		for _, f := range group {
			join(f, component[f])
		}
	}, name, false)
	refine(func(func(a, b int32), []int32) {}, name, true)
	return done
}

func (p *program) joinUnits(group []int32, join func(a, b int32)) {
	first := map[string]int32{}
	for _, f := range group {
		if p.unit[f] == "" {
			continue
		}
		if at, ok := first[p.unit[f]]; ok {
			join(at, f)
		} else {
			first[p.unit[f]] = f
		}
	}
}

// perFunction is added to the cost of each function, for what ptxas does besides
// instructions. It also keeps the weights of short functions from changing by an edit.
const perFunction = 32

func (p *program) weight(set []int32) int64 {
	sum := int64(0)
	for _, f := range set {
		sum += p.cost[f] + perFunction
	}
	return quantise(sum)
}

func (p *program) cluster(set []int32, weight int64, key func(int32) string) cluster {
	c := cluster{key: key(set[0]), weight: weight, decls: set}
	for _, f := range set {
		c.key = min(c.key, key(f))
	}
	h := fnv.New64a()
	h.Write([]byte(c.key))
	c.hash = mix(h.Sum64())
	return c
}

// split returns the sets of functions that unite joins. Functions outside the group
// are ignored.
func (p *program) split(group []int32, unite func(join func(a, b int32))) (sets [][]int32) {
	parent := make(map[int32]int32, len(group))
	for _, f := range group {
		parent[f] = f
	}
	find := func(f int32) int32 {
		for parent[f] != f {
			parent[f] = parent[parent[f]]
			f = parent[f]
		}
		return f
	}
	unite(func(a, b int32) {
		if _, ok := parent[a]; !ok {
			return
		}
		if _, ok := parent[b]; ok {
			parent[find(b)] = find(a)
		}
	})
	index := map[int32]int{}
	for _, f := range group {
		root := find(f)
		i, ok := index[root]
		if !ok {
			i = len(sets)
			index[root] = i
			sets = append(sets, nil)
		}
		sets[i] = append(sets[i], f)
	}
	return sets
}

// components returns, for each function, one function of its strongly connected
// component.
func (p *program) components() []int32 {
	_, component := graph.Components(len(p.m.Decls), func(decl int32) []int32 {
		if d := &p.m.Decls[decl]; d.Kind == ptx.Variable || !d.Defines() {
			return nil
		}
		return slices.DeleteFunc(p.uses(decl), func(to int32) bool { return p.m.Decls[to].Kind == ptx.Variable })
	})
	return component
}
