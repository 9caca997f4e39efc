package sets

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression when it is called first.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Put adds to a map, which may be nil.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// Add adds to a set, which may be nil, and reports whether it lacked the key.
func Add[K comparable](set *map[K]bool, key K) bool {
	first := !(*set)[key]
	Put(set, key, true)
	return first
}
