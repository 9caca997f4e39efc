package main

// minimise drops modules, declarations and statements while the outcome keeps its
// class, with a limit on the tries.
func minimise(s *set, tries int, stays func(*set) bool) *set {
	try := func(t *set) bool {
		tries--
		return tries >= 0 && stays(t)
	}
	if s.noise {
		plain := *s
		plain.noise = false
		if try(&plain) {
			s = &plain
		}
	}
	s = s.with(drop(s.modules, func(list []*node) bool { return len(list) > 0 && try(s.with(list)) }))
	for before := -1; before != s.count() && tries > 0; {
		before = s.count()
		s = s.shrink(try)
	}
	return s
}

// count returns the number of nodes.
func (s *set) count() (n int) {
	var walk func(list []*node)
	walk = func(list []*node) {
		n += len(list)
		for _, k := range list {
			walk(k.kids)
		}
	}
	walk(s.modules)
	return n
}

// shrink drops declarations, then statements, then those in blocks.
func (s *set) shrink(try func(*set) bool) *set {
	for level := range 5 {
		for i := range s.modules {
			shrink(s.modules[i], level, func(m *node) bool {
				modules := append([]*node(nil), s.modules...)
				modules[i] = m
				t := s.with(modules)
				if !try(t) {
					return false
				}
				s = t
				return true
			})
		}
	}
	return s
}

// shrink drops children of the nodes at depth level below n. try gets the whole
// tree with a node replaced, and reports whether the change is kept.
func shrink(n *node, level int, try func(*node) bool) *node {
	if level == 0 {
		keep := *n
		keep.kids = drop(n.kids, func(list []*node) bool {
			less := *n
			less.kids = list
			return try(&less)
		})
		return &keep
	}
	keep := *n
	for i := range keep.kids {
		if len(keep.kids[i].kids) == 0 {
			continue
		}
		kid := shrink(keep.kids[i], level-1, func(k *node) bool {
			changed := keep
			changed.kids = append([]*node(nil), keep.kids...)
			changed.kids[i] = k
			return try(&changed)
		})
		kids := append([]*node(nil), keep.kids...)
		kids[i] = kid
		keep.kids = kids
	}
	return &keep
}

// drop removes runs of a list, long ones first, as long as try accepts the rest.
func drop(list []*node, try func([]*node) bool) []*node {
	for size := max(len(list)/2, 1); ; size /= 2 {
		for at := len(list) - size; at >= 0; {
			less := append(append([]*node(nil), list[:at]...), list[at+size:]...)
			if try(less) {
				list = less
				at = min(at, len(list)) - size
				if at < 0 && len(list) >= size && size == 1 {
					break
				}
				continue
			}
			at -= size
		}
		if size <= 1 {
			return list
		}
	}
}
