package ptx

// pool allocates short lists together.
type pool struct {
	params   chunk[Param]
	operands chunk[CallOperand]
}

type chunk[T any] struct {
	free []T
	size int
}

// keep returns a copy of a list.
func (c *chunk[T]) keep(list []T) []T {
	if len(list) > len(c.free) {
		c.size = min(max(2*c.size, 4), 256)
		c.free = make([]T, max(c.size, len(list)))
	}
	kept := c.free[:len(list):len(list)]
	c.free = c.free[len(list):]
	copy(kept, list)
	return kept
}

// grown returns a list with room for one more element. The room is what the list will
// need if it goes on as it did in the part of the text before at.
func grown[T any](list []T, at, length int) []T {
	if len(list) < cap(list) || len(list) < 4 {
		return list
	}
	n := len(list)
	want := int(float64(n) * float64(length) / float64(max(1, at)) * 1.05)
	longer := make([]T, n, min(max(want, n+n/8, 8), 4*n)+1)
	copy(longer, list)
	return longer
}
