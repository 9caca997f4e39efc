package optimize

import (
	"path"

	"ptxlink/internal/diag"
	"ptxlink/object/ptx"
)

// graph is what is known of the functions of a module before a series of rounds.
type graph struct {
	sites     map[string]int  // direct calls of a function
	taken     map[string]bool // something other than a direct call refers to the function
	component map[string]int  // functions that call each other have the same number
	recursive map[string]bool // the function calls itself, perhaps through others
	level     map[string]int  // of a function: more than that of all that may be inlined into it
}

// callee returns the name of the function that a name stands for.
func (s *state) callee(name string) string {
	for range len(s.alias) {
		target, ok := s.alias[name]
		if !ok {
			break
		}
		name = target
	}
	return name
}

// analyse builds the call graph of the module.
func (s *state) analyse() {
	g := &graph{sites: map[string]int{}, taken: map[string]bool{}, component: map[string]int{}, recursive: map[string]bool{}, level: map[string]int{}}
	s.graph, s.depths = g, map[string]int64{}
	calls := map[string][]string{} // by caller
	for _, f := range s.functions {
		direct := map[int32]bool{}
		for _, c := range f.calls {
			callee, ok := f.target(c)
			if !ok {
				continue
			}
			direct[c.Use] = true
			callee = s.callee(callee)
			g.sites[callee]++
			calls[f.name] = append(calls[f.name], callee)
		}
		for i := f.decl.FirstUse; i < f.decl.EndUse; i++ {
			if !direct[i] {
				g.taken[f.m.Names[f.m.Uses[i].Name]] = true
			}
		}
	}
	s.otherUses(func(name string) { g.taken[name] = true })
	s.each(len(s.functions), func(i int) {
		if f := s.functions[i]; len(f.calls) > 0 || g.sites[f.name] > 0 {
			f.usages()
		}
	})

	g.components(s.functions, calls)
	for caller, callees := range calls {
		for _, callee := range callees {
			if s.byName[callee] != nil && g.component[caller] == g.component[callee] {
				g.recursive[caller], g.recursive[callee] = true, true
			}
		}
	}
	// Components are numbered callees first, so the levels of callees are known.
	for _, name := range g.order(s.functions) {
		level := 0
		for _, callee := range calls[name] {
			f := s.byName[callee]
			if f != nil && !g.recursive[callee] && s.unwanted(f) == "" {
				level = max(level, g.level[callee]+1)
			}
		}
		g.level[name] = level
	}
}

// order returns the functions by component: callees first.
func (g *graph) order(functions []*function) []string {
	var list []string
	byComponent := make([][]string, len(g.component)+1)
	for _, f := range functions {
		byComponent[g.component[f.name]] = append(byComponent[g.component[f.name]], f.name)
	}
	for _, names := range byComponent {
		list = append(list, names...)
	}
	return list
}

// components numbers the strongly connected components of the call graph, callees
// first, after Tarjan.
func (g *graph) components(functions []*function, calls map[string][]string) {
	type node struct{ index, low int }
	nodes := map[string]*node{}
	var stack []string
	number := 0
	var visit func(name string) *node
	visit = func(name string) *node {
		n := &node{len(nodes) + 1, len(nodes) + 1}
		nodes[name] = n
		stack = append(stack, name)
		for _, callee := range calls[name] {
			next := nodes[callee]
			if next == nil {
				next = visit(callee)
				n.low = min(n.low, next.low)
			} else if _, done := g.component[callee]; !done {
				n.low = min(n.low, next.index)
			}
		}
		if n.low == n.index {
			for {
				last := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				g.component[last] = number
				if last == name {
					break
				}
			}
			number++
		}
		return n
	}
	for _, f := range functions {
		if nodes[f.name] == nil {
			visit(f.name)
		}
	}
}

// unwanted returns the reason why the calls of a function are not inlined by the
// options, or because of its body; "" if they may be.
func (s *state) unwanted(f *function) string {
	if reason := s.unfit(f); reason != "" {
		return reason
	}
	if matches(s.NoInline, f.name) {
		return diag.Option("--no-inline")
	}
	if matches(s.Inline, f.name) {
		return ""
	}
	if s.Level == 0 {
		return "no " + diag.Option("--inline") + " pattern matches"
	}
	size, sites := f.size(), s.sites[f.name]
	if size <= s.Limit || sites == 1 && !s.kept(f) {
		return ""
	}
	copies := sites
	if !s.kept(f) {
		copies--
	}
	if s.Level >= 2 && copies*size <= maxGrowth {
		return ""
	}
	return count(size, "instruction") + " and " + count(sites, "call")
}

// kept reports whether a function stays in the module when all its calls are inlined.
func (s *state) kept(f *function) bool {
	return s.taken[f.name] || s.Interposable && f.decl.Linkage != ptx.Local || matches(s.Keep, f.name)
}

func matches(globs []string, name string) bool {
	for _, glob := range globs {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}

// size returns the instructions of a function.
func (f *function) size() int {
	if !f.sized {
		used, _ := f.usages()
		f.sizeOf, f.sized = instructions(f.code(), used), true
	}
	return f.sizeOf
}

// instructions returns the number of instructions that an inlined copy of a function
// adds. Loads of parameters, stores of results and returns go away. A branch that is
// always taken mostly disappears when ptxas orders the blocks, so it counts as nothing,
// as in LLVM: a switch is not larger for the ends of its cases.
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
