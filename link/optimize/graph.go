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

// decls finds things in the current module.
type decls struct {
	bodies map[string]*ptx.Decl
	alias  map[string]string
	first  []int32 // by name: the offset of its first declaration
}

func (s *state) decls() *decls {
	m := s.m
	d := &decls{map[string]*ptx.Decl{}, map[string]string{}, make([]int32, len(m.Names))}
	for i := range d.first {
		d.first[i] = int32(len(m.Src.Text))
	}
	note := func(id ptx.NameID, off int32) { d.first[id] = min(d.first[id], off) }
	for i := range m.Decls {
		decl := &m.Decls[i]
		note(decl.Name, decl.Span.Off)
		if decl.HasBody {
			d.bodies[m.Names[decl.Name]] = decl
		}
	}
	for _, a := range m.Aliases {
		note(a.Name, a.Span.Off)
		d.alias[m.Names[a.Name]] = m.Names[a.Target]
	}
	return d
}

// callee returns the name of the function that a name stands for.
func (d *decls) callee(name string) string {
	for range len(d.alias) {
		target, ok := d.alias[name]
		if !ok {
			break
		}
		name = target
	}
	return name
}

// analyse builds the call graph of the module.
func (s *state) analyse() {
	m := s.m
	g := &graph{sites: map[string]int{}, taken: map[string]bool{}, component: map[string]int{}, recursive: map[string]bool{}, level: map[string]int{}}
	s.graph = g
	d := s.decls()
	calls := map[string][]string{} // by caller
	direct := map[int32]bool{}
	for _, c := range m.Calls {
		if c.Use < 0 {
			continue
		}
		direct[c.Use] = true
		callee := d.callee(m.Names[m.Uses[c.Use].Name])
		g.sites[callee]++
		caller := m.Names[m.Decls[c.In].Name]
		calls[caller] = append(calls[caller], callee)
	}
	for i, u := range m.Uses {
		if !direct[int32(i)] {
			g.taken[m.Names[u.Name]] = true
		}
	}
	for _, a := range m.Aliases {
		g.taken[m.Names[a.Target]] = true
	}
	for _, name := range m.SectionNames() {
		g.taken[name] = true
	}

	g.components(m, calls)
	for caller, callees := range calls {
		for _, callee := range callees {
			if d.bodies[callee] != nil && g.component[caller] == g.component[callee] {
				g.recursive[caller], g.recursive[callee] = true, true
			}
		}
	}
	// Components are numbered callees first, so the levels of callees are known.
	for _, name := range g.order(m, d) {
		level := 0
		for _, callee := range calls[name] {
			body := d.bodies[callee]
			if body != nil && !g.recursive[callee] && s.unwanted(callee, body) == "" {
				level = max(level, g.level[callee]+1)
			}
		}
		g.level[name] = level
	}
}

// order returns the functions with bodies by component: callees first.
func (g *graph) order(m *ptx.Module, d *decls) []string {
	var list []string
	byComponent := make([][]string, len(g.component)+1)
	for i := range m.Decls {
		if name := m.Names[m.Decls[i].Name]; m.Decls[i].HasBody {
			byComponent[g.component[name]] = append(byComponent[g.component[name]], name)
		}
	}
	for _, names := range byComponent {
		list = append(list, names...)
	}
	return list
}

// components numbers the strongly connected components of the call graph, callees
// first, after Tarjan.
func (g *graph) components(m *ptx.Module, calls map[string][]string) {
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
	for i := range m.Decls {
		if name := m.Names[m.Decls[i].Name]; m.Decls[i].HasBody && nodes[name] == nil {
			visit(name)
		}
	}
}

// unwanted returns the reason why the calls of a function are not inlined by the
// options, or because of its body; "" if they may be.
func (s *state) unwanted(name string, d *ptx.Decl) string {
	if reason := s.unfit(d); reason != "" {
		return reason
	}
	if matches(s.NoInline, name) {
		return diag.Option("--no-inline")
	}
	if matches(s.Inline, name) {
		return ""
	}
	if s.Level == 0 {
		return "no " + diag.Option("--inline") + " pattern matches"
	}
	size, sites := s.size(name, d), s.sites[name]
	if size <= s.Limit || sites == 1 && !s.kept(name, d) {
		return ""
	}
	copies := sites
	if !s.kept(name, d) {
		copies--
	}
	if s.Level >= 2 && copies*size <= maxGrowth {
		return ""
	}
	return count(size, "instruction") + " and " + count(sites, "call")
}

// kept reports whether a function stays in the module when all its calls are inlined.
func (s *state) kept(name string, d *ptx.Decl) bool {
	return s.taken[name] || s.Interposable && d.Linkage != ptx.Local || matches(s.Keep, name)
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
func (s *state) size(name string, d *ptx.Decl) int {
	n, known := s.sizes[name]
	if !known {
		n = instructions(s.code(d))
		s.sizes[name] = n
	}
	return n
}

// instructions returns the number of instructions that an inlined copy of a function
// adds. Loads of parameters, stores of results and returns go away. A branch that is
// always taken mostly disappears when ptxas orders the blocks, so it counts as nothing,
// as in LLVM: a switch is not larger for the ends of its cases.
func instructions(c *ptx.Code) (n int) {
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
	used, _ := usages(c)
	for i := range used {
		if c.Locals[i].Kind == ptx.Parameter {
			n -= len(used[i].accesses)
		}
	}
	return n
}
