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
