package sets

// Components finds the strongly connected components of a graph with the nodes 0 to n-1
// (Tarjan). It visits the nodes in order, depth first; next returns where the edges of a
// node lead, and is called once for each.
//
// finished holds the nodes in the order in which their visits end. component gives for
// each node the one of its component that is visited first, and whose visit ends after
// the visits of all nodes that the component leads to.
func Components(n int, next func(v int32) []int32) (finished, component []int32) {
	const none = -1
	number := make([]int32, n) // in order of the first visit, from 1
	lowest := make([]int32, n) // number that can be reached
	component = make([]int32, n)
	for i := range component {
		component[i] = none
	}
	type visit struct {
		at   int32
		next []int32 // the edges that are left
	}
	var path []visit
	var open []int32 // nodes without a component yet
	visited := int32(0)
	finished = make([]int32, 0, n)
	enter := func(v int32) {
		visited++
		number[v], lowest[v] = visited, visited
		open = append(open, v)
		path = append(path, visit{v, next(v)})
	}
	for root := range number {
		if number[root] == 0 {
			enter(int32(root))
		}
		for len(path) > 0 {
			top := &path[len(path)-1]
			v := top.at
			if len(top.next) > 0 {
				to := top.next[0]
				top.next = top.next[1:]
				if number[to] == 0 {
					enter(to)
				} else if component[to] == none {
					lowest[v] = min(lowest[v], number[to])
				}
				continue
			}
			finished = append(finished, v)
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1].at
				lowest[parent] = min(lowest[parent], lowest[v])
			}
			if lowest[v] == number[v] {
				for last := int32(none); last != v; {
					last = open[len(open)-1]
					open = open[:len(open)-1]
					component[last] = v
				}
			}
		}
	}
	return finished, component
}

// Walk visits nodes, and those that their visits add, the last one first. A node is
// visited once.
type Walk[N any] struct {
	// First marks a node, and reports whether it had no mark.
	First   func(N) bool
	waiting []N
}

// Add adds a node, unless it was added before.
func (w *Walk[N]) Add(node N) {
	if w.First(node) {
		w.waiting = append(w.waiting, node)
	}
}

// Visit calls visit for each node that was added.
func (w *Walk[N]) Visit(visit func(N)) {
	for len(w.waiting) > 0 {
		last := len(w.waiting) - 1
		node := w.waiting[last]
		w.waiting = w.waiting[:last]
		visit(node)
	}
}
