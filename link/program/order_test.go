package program

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder checks the order of random variables: each comes after the variables
// that its initialiser names, unless those are declared first, and only external
// variables on a cycle are.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := 1 + random.IntN(7)
		g := initialisers{next: make([][]int32, n), local: make([]bool, n)}
		for v := range n {
			g.local[v] = random.IntN(3) == 0
			for range random.IntN(4) {
				g.next[v] = append(g.next[v], int32(random.IntN(n)))
			}
		}
		sorted, forward := g.order()
		stuck := g.stuck()
		if got := slices.Sorted(slices.Values(sorted)); !slices.Equal(got, numbers(n)) {
			t.Fatalf("%v: %v are not all variables", g, sorted)
		}
		if localCycle := g.reaches(func(v int32) bool { return g.local[v] }); localCycle != (len(stuck) > 0) {
			t.Fatalf("%v: stuck %v, a cycle of local variables: %v", g, stuck, localCycle)
		}
		if len(stuck) > 0 {
			continue
		}
		done := make([]bool, n)
		for _, v := range sorted {
			done[v] = true
			for _, to := range g.next[v] {
				if !done[to] && !forward[to] {
					t.Fatalf("%v: %v has %d before %d", g, sorted, v, to)
				}
			}
		}
		for v := range g.next {
			if forward[v] && (g.local[v] || !g.onCycle(int32(v), func(int32) bool { return true })) {
				t.Fatalf("%v: %d is declared ahead", g, v)
			}
		}
	}
}

func numbers(n int) (list []int32) {
	for i := range n {
		list = append(list, int32(i))
	}
	return list
}

// reaches reports whether some variable reaches itself through variables that pass.
func (g *initialisers) reaches(pass func(int32) bool) bool {
	for v := range g.next {
		if g.onCycle(int32(v), pass) {
			return true
		}
	}
	return false
}

func (g *initialisers) onCycle(v int32, pass func(int32) bool) bool {
	seen := map[int32]bool{}
	var visit func(from int32) bool
	visit = func(from int32) bool {
		for _, to := range g.next[from] {
			if !pass(to) || !pass(from) {
				continue
			}
			if to == v {
				return true
			}
			if !seen[to] {
				seen[to] = true
				if visit(to) {
					return true
				}
			}
		}
		return false
	}
	return visit(v)
}

// A ring of a million initialisers needs no deep stack and only one forward
// declaration.
func TestOrderDeep(t *testing.T) {
	const n = 1_000_000
	g := initialisers{next: make([][]int32, n), local: make([]bool, n)}
	for v := range n {
		g.next[v] = []int32{int32((v + 1) % n)}
	}
	sorted, forward := g.order()
	if len(g.stuck()) > 0 || sorted[0] != n-1 || sorted[n-1] != 0 || !forward[0] || slices.Contains(forward[1:], true) {
		t.Error("a ring is declared ahead once, at its first variable")
	}
}
