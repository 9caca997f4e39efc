package main

import "slices"

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
	for dropped := true; dropped && tries > 0; {
		dropped = false
		// Modules, their declarations, statements, and those in blocks.
		for level := s.modules; len(level) > 0; level = children(level) {
			dropped = drop(level, try) || dropped
		}
	}
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

// drop drops runs of nodes, long ones first, as long as try accepts what is left. It reports
// whether it dropped any.
func drop(list []*node, try func() bool) (dropped bool) {
	for size := max(len(list)/2, 1); size > 0; size /= 2 {
		left := slices.DeleteFunc(slices.Clone(list), func(n *node) bool { return n.dropped })
		for end := len(left); end > 0; end -= size {
			run := left[max(0, end-size):end]
			setDropped(run, true)
			if try() {
				dropped = true
			} else {
				setDropped(run, false)
			}
		}
	}
	return dropped
}

func setDropped(list []*node, dropped bool) {
	for _, n := range list {
		n.dropped = dropped
	}
}
