package optimize

import (
	"cmp"
	"fmt"

	"ptxlink/internal/sets"
	"ptxlink/object/ptx"
)

// callGraph holds facts about the functions of a module before a series of rounds.
type callGraph struct {
	sites     map[string]int  // direct calls of a function
	taken     map[string]bool // something other than a direct call refers to the function
	recursive map[string]bool // the function calls itself, perhaps through others
	level     map[string]int  // higher than the levels of all functions that may be inlined into it
}

// callee returns the name of the function that a name stands for. One step is enough, because the
// target of an alias cannot be an alias.
func (s *state) callee(name string) string { return cmp.Or(s.alias[name], name) }

func (s *state) analyse() {
	g := &callGraph{sites: map[string]int{}, taken: map[string]bool{}, recursive: map[string]bool{}, level: map[string]int{}}
	s.callGraph, s.depths = g, map[string]int64{}
	calls := map[string][]string{} // by caller
	for _, f := range s.functions {
		for id, call := range f.m.References(f.decl) {
			name := f.m.Names[id]
			if !call {
				g.taken[name] = true
				continue
			}
			callee := s.callee(name)
			g.sites[callee]++
			calls[f.name] = append(calls[f.name], callee)
		}
	}
	s.otherUses(func(name string) { g.taken[name] = true })
	s.each(len(s.functions), func(i int) {
		if f := s.functions[i]; len(f.calls) > 0 || g.sites[f.name] > 0 {
			f.usages()
			s.look(f)
		}
	})

	index := make(map[string]int32, len(s.functions))
	for i, f := range s.functions {
		index[f.name] = int32(i)
	}
	callees := func(i int32) (list []int32) {
		for _, name := range calls[s.functions[i].name] {
			if callee, ok := index[name]; ok {
				list = append(list, callee)
			}
		}
		return list
	}
	order, component := sets.Components(len(s.functions), callees)
	for i, f := range s.functions {
		for _, callee := range callees(int32(i)) {
			if component[i] == component[callee] {
				g.recursive[f.name], g.recursive[s.functions[callee].name] = true, true
			}
		}
	}
	// A callee that is not recursive comes before its callers, so its level is known.
	for _, i := range order {
		level := 0
		for _, c := range callees(i) {
			callee := s.functions[c]
			if !g.recursive[callee.name] && s.unwanted(callee) == "" {
				level = max(level, g.level[callee.name]+1)
			}
		}
		g.level[s.functions[i].name] = level
	}
}

// unwanted returns the reason why calls of a function cannot be inlined, because of the options or
// because of its body; "" if they may be.
func (s *state) unwanted(f *function) string {
	if reason := s.unfit(f); reason != "" {
		return reason
	}
	if s.noInline.Match(f.name) {
		return s.Spelling.Option("--no-inline")
	}
	if s.inlineAll.Match(f.name) {
		return ""
	}
	if s.Level == 0 {
		return "no " + s.Spelling.Option("--inline") + " pattern matches"
	}
	size, sites := f.size(), s.sites[f.name]
	if size <= s.InlineLimit || sites == 1 && !s.kept(f) {
		return ""
	}
	copies := sites
	if !s.kept(f) {
		copies--
	}
	if s.Level >= 2 && copies*size <= maxGrowth {
		return ""
	}
	return fmt.Sprintf("%d instructions and %d call%s", size, sites, map[bool]string{true: "s"}[sites != 1])
}

// kept reports whether a function must stay in the module even when all its calls are inlined.
func (s *state) kept(f *function) bool {
	return s.taken[f.name] || s.Interposable && f.linkage != ptx.Local || s.keep.Match(f.name)
}

// size returns the number of instructions of a function: see instructions.
func (f *function) size() int {
	if !f.sized {
		used, _ := f.usages()
		f.sizeOf, f.sized = instructions(f.code(), used), true
	}
	return f.sizeOf
}

// instructions returns the number of instructions that an inlined copy of a function adds. Loads of
// parameters, stores of results and returns do not count, because they go away. A branch that is
// always taken mostly disappears when ptxas orders the blocks, so it does not count either, as in
// LLVM: otherwise the ends of its cases would make a switch larger.
func instructions(c *ptx.Code, used []usage) (n int) {
	for _, st := range c.Statements {
		if st.Kind != ptx.Instruction {
			continue
		}
		switch c.Opcode(st) {
		case "ret":
		case "bra":
			if st.Guarded() {
				n++
			}
		default:
			n++
		}
	}
	for i := range used {
		if c.Locals[i].Kind == ptx.Parameter {
			n -= len(used[i].accesses)
		}
	}
	return n
}
