package main

// minimise drops modules, declarations and statements while the outcome keeps its
// class, with a limit on the tries.
func minimise(s *set, tries int, stays func(*set) bool) {
	try := func() bool {
		tries--
		return tries >= 0 && len(s.texts()) > 0 && stays(s)
	}
	if s.noise {
		s.noise = false
		s.noise = !try()
	}
	for before := -1; before != s.count() && tries > 0; {
		before = s.count()
		// Modules, their declarations, statements, and those in blocks.
		for level, depth := s.modules, 0; len(level) > 0 && depth < 7; depth++ {
			drop(level, try)
			level = children(level)
		}
	}
}

// count returns the number of nodes.
func (s *set) count() (n int) {
	for level := s.modules; len(level) > 0; level = children(level) {
		for _, node := range level {
			if !node.dropped {
				n++
			}
		}
	}
	return n
}

// children returns those of the nodes that are not dropped.
func children(list []*node) (kids []*node) {
	for _, n := range list {
		if !n.dropped {
			kids = append(kids, n.kids...)
		}
	}
	return kids
}

// drop drops runs of nodes, long ones first, as long as try accepts what is left.
func drop(list []*node, try func() bool) {
	for size := max(len(list)/2, 1); size > 0; size /= 2 {
		var left []*node
		for _, n := range list {
			if !n.dropped {
				left = append(left, n)
			}
		}
		for end := len(left); end > 0; end -= size {
			run := left[max(0, end-size):end]
			setDropped(run, true)
			if !try() {
				setDropped(run, false)
			}
		}
	}
}

func setDropped(list []*node, dropped bool) {
	for _, n := range list {
		n.dropped = dropped
	}
}
