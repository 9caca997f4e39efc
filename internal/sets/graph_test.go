package sets

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestComponents compares the components of random graphs with what their nodes reach.
func TestComponents(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := random.IntN(9)
		next := make([][]int32, n)
		for v := range next {
			for range random.IntN(4) {
				next[v] = append(next[v], int32(random.IntN(n)))
			}
		}
		finished, component := Components(n, func(v int32) []int32 { return next[v] })
		at := make([]int, n) // in finished
		for i, v := range finished {
			at[v] = i
		}
		reached := make([][]bool, n)
		for v := range n {
			reached[v] = reach(next, int32(v))
		}
		for v := range n {
			for to := range n {
				same := reached[v][to] && reached[to][v]
				switch {
				case same != (component[v] == component[to]):
					t.Fatalf("%v: components %v of %d and %d", next, component, v, to)
				case reached[v][to] && !same && at[to] > at[component[v]]:
					t.Fatalf("%v: %v has %d, which leads to %d, first", next, finished, component[v], to)
				case same && at[to] > at[component[v]]:
					t.Fatalf("%v: %d of component %d ends after its first node", next, to, component[v])
				}
			}
		}
	}
}

// reach returns the nodes that v leads to, itself included, with Walk.
func reach(next [][]int32, v int32) []bool {
	seen, visits := make([]bool, len(next)), make([]int, len(next))
	w := Walk[int32]{First: func(v int32) bool {
		first := !seen[v]
		seen[v] = true
		return first
	}}
	w.Add(v)
	w.Visit(func(v int32) {
		visits[v]++
		for _, to := range next[v] {
			w.Add(to)
		}
	})
	for v, n := range visits {
		if n > 1 || seen[v] != (n == 1) {
			panic("a node that is reached has not exactly one visit")
		}
	}
	return seen
}

// TestWalk compares what Walk reaches with the transitive closure of the edges.
func TestWalk(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		n := 1 + random.IntN(8)
		next, closure := make([][]int32, n), make([][]bool, n)
		for v := range next {
			closure[v] = make([]bool, n)
			closure[v][v] = true
			for range random.IntN(3) {
				to := random.IntN(n)
				next[v] = append(next[v], int32(to))
				closure[v][to] = true
			}
		}
		for via := range n {
			for from := range n {
				for to := range n {
					closure[from][to] = closure[from][to] || closure[from][via] && closure[via][to]
				}
			}
		}
		for v := range n {
			if got := reach(next, int32(v)); !slices.Equal(got, closure[v]) {
				t.Fatalf("%v: %d reaches %v, not %v", next, v, closure[v], got)
			}
		}
	}
}

// A chain and a ring of a million nodes need no deep stack.
func TestDeep(t *testing.T) {
	const n = 1_000_000
	for _, ring := range []bool{false, true} {
		finished, component := Components(n, func(v int32) []int32 {
			if v == n-1 && !ring {
				return nil
			}
			return []int32{(v + 1) % n}
		})
		if finished[0] != n-1 || finished[n-1] != 0 || (component[n-1] == 0) != ring {
			t.Errorf("ring %v: %d ends first, %d last; the last node is in component %d", ring, finished[0], finished[n-1], component[n-1])
		}
	}
}
