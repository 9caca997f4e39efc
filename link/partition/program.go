// Package partition cuts a linked module into modules that ptxas -c assembles in parallel and
// nvlink joins, and estimates how much whole-program mode would clone.
//
// A cut must not change what the program does, so state has one copy: a variable is defined in one
// part, and becomes visible to the others. Only small functions may be copied. A cut must also not
// depend on the machine or on what was edited elsewhere: parts are chosen by hashes of names and by
// rounded costs, and a part holds only the declarations that it uses, so after an edit all parts
// but one are in the cache. The functions of one input stay together where they fit, because edits
// come by input.
package partition

import (
	"bytes"
	"slices"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Program is a linked module with its graph. Its methods may be called concurrently.
type Program struct {
	*ptx.Module
	// define maps each name to the index of its definition in Decls, or -1. An alias is
	// mapped to the definition of its target.
	define    []int32
	functions []int32 // definitions of functions and entries, in order
	cost      []int64 // by declaration
	// taken are the functions whose address is taken, and pointers is set for the
	// definitions that take one or call through a register.
	taken    []int32
	pointers []bool
}

// New reads the graph of a module.
func New(m *ptx.Module) *Program {
	p := &Program{Module: m, define: slices.Repeat([]int32{-1}, len(m.Names)), cost: make([]int64, len(m.Decls))}
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.Defines() {
			continue
		}
		p.define[d.Name] = int32(i)
		if d.Kind != ptx.Variable {
			p.functions = append(p.functions, int32(i))
			p.cost[i] = int64(bytes.Count(m.Src.Bytes(d.Body), []byte{';'})) + 1 // about its instructions
		}
	}
	for _, a := range m.Aliases { // a link has resolved chains of aliases
		p.define[a.Name] = p.define[a.Target]
	}
	p.findPointers()
	return p
}

// Defines reports whether the module defines anything.
func (p *Program) Defines() bool {
	return slices.ContainsFunc(p.Decls, func(d ptx.Decl) bool { return d.Defines() })
}

// Units returns the instructions of the largest input with functions in the module, and the number
// of such inputs. unit is Options.Unit.
func (p *Program) Units(unit func(off int32) string) (largest int64, units int) {
	costs := map[string]int64{}
	for _, f := range p.functions {
		name := unit(p.Decls[f].NameSpan.Off)
		costs[name] += p.cost[f]
		largest = max(largest, costs[name])
	}
	return largest, len(costs)
}

// Check returns an error if the module cannot be cut, because the DWARF of one function refers to
// the DWARF of others, or because a .metadata_section or an unknown statement may belong to any
// part. spelling names options in the error.
func (p *Program) Check(spelling diag.Spelling) error {
	m := p.Module
	if slices.ContainsFunc(m.Sections, func(s ptx.Section) bool { return s.Name != ".debug_str" }) { // names of inlined functions, for .loc
		return diag.New(diag.Partition, diag.Place{}, "a module with DWARF cannot be partitioned").WithHelp(spelling.With("-S", "%s removes debug information") + spelling.With("--keep-line-info", "; with %s it keeps .file and .loc"))
	}
	if len(m.Others) > 0 {
		return diag.New(diag.Partition, diag.At(m.Src, m.Others[0].Span), "this statement may belong to any part, so the module cannot be partitioned")
	}
	if m.AddressSize == 32 {
		return diag.New(diag.Partition, diag.Place{}, "a module with 32-bit addresses cannot be partitioned")
	}
	return nil
}

func (p *Program) findPointers() {
	m := p.Module
	p.pointers = make([]bool, len(m.Decls))
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.Defines() {
			continue
		}
		for name, call := range m.References(d) {
			to := p.define[name]
			if call || to < 0 || m.Decls[to].Kind != ptx.Func {
				continue
			}
			p.pointers[i] = true
			p.taken = append(p.taken, to)
		}
		if slices.ContainsFunc(m.CallsIn(d), func(c ptx.Call) bool { return c.Use < 0 }) {
			p.pointers[i] = true
		}
	}
	slices.Sort(p.taken)
	p.taken = slices.Compact(p.taken)
}

func (p *Program) uses(decl int32) (list []int32) {
	d := &p.Decls[decl]
	for _, u := range p.Uses[d.FirstUse:d.EndUse] {
		if to := p.define[u.Name]; to >= 0 {
			list = append(list, to)
		}
	}
	return list
}

// Estimate is the amount of code that ptxas assembles for a module.
type Estimate struct {
	Cloned   int64 // instructions in whole-program mode
	Once     int64 // instructions with one copy of each function
	Calls    bool  // a kernel calls functions
	Pointers bool  // a kernel has copies of functions that are called through pointers
}

// Cloning estimates the instructions that ptxas assembles in whole-program mode, where each kernel
// gets a copy of every function that it reaches. A kernel that reaches a call through a pointer, or
// takes the address of a function, gets copies of all functions whose address the module takes,
// whatever their prototypes (testdata/script/cubin_mode_pointers.txtar). Cloning stops at limit
// times the instructions with one copy of each, because otherwise the walk would take as many steps
// as kernels times functions.
func (p *Program) Cloning(limit int64) (e Estimate) {
	m := p.Module
	for _, f := range p.functions {
		e.Once += p.cost[f]
	}
	seen := make([]int32, len(m.Decls)) // the last kernel that reached it
	steps := int64(0)
	round := int32(0)
	walk := sets.Walk[int32]{First: func(decl int32) bool {
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
				// A kernel refers to another one only to launch it, so that one is not copied.
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
