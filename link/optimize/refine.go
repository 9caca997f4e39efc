package optimize

import (
	"cmp"
	"slices"
)

// refine assigns classes to functions: functions of one class have the same tokens
// and call functions of one class at each place. Functions that are not in the list
// differ from all others.
//
// It begins with one class for each text, and divides classes by Hopcroft's algorithm: if some
// functions of a class call functions of another class at a place and others do not, the smaller
// part becomes a new class, whose callers must be compared next. With n calls, this takes
// n log n steps.
func refine(list []*foldable) {
	p := newPartition(list)
	for len(p.waiting) > 0 {
		last := len(p.waiting) - 1
		class := p.waiting[last]
		p.waiting = p.waiting[:last]
		p.divide(class)
	}
}

type partition struct {
	list    []*foldable
	order   []int32    // numbers of functions, class by class
	at      []int32    // of each function: its index in order
	callers [][]caller // callers of each function
	classes []class
	waiting []int // classes whose callers must still be compared
}

// caller is a function whose refs contain another function, at place.
type caller struct{ place, function int32 }

// class is order[from:end]. divide moves the functions that it has found to the start; found is
// their number.
type class struct{ from, end, found int32 }

func newPartition(list []*foldable) *partition {
	p := &partition{list: list, at: make([]int32, len(list)), callers: make([][]caller, len(list))}
	byName := make(map[string]int32, len(list))
	for i, f := range list {
		byName[f.name] = int32(i)
	}
	members := map[string][]int32{}
	var texts []string // in the order of the list
	for i, f := range list {
		key := []byte(f.tokens)
		for place, name := range f.refs {
			if g, ok := byName[name]; ok {
				p.callers[g] = append(p.callers[g], caller{int32(place), int32(i)})
			} else {
				key = append(key, name...)
			}
			key = append(key, 0)
		}
		text := string(key)
		if members[text] == nil {
			texts = append(texts, text)
		}
		members[text] = append(members[text], int32(i))
	}
	for _, text := range texts {
		from := int32(len(p.order))
		for _, f := range members[text] {
			p.at[f] = int32(len(p.order))
			p.order = append(p.order, f)
			list[f].class = len(p.classes)
		}
		p.waiting = append(p.waiting, len(p.classes))
		p.classes = append(p.classes, class{from: from, end: int32(len(p.order))})
	}
	return p
}

// divide splits each class into functions that call a function of the class by at the same place
// and functions that do not.
func (p *partition) divide(by int) {
	var list []caller
	for _, f := range p.order[p.classes[by].from:p.classes[by].end] {
		list = append(list, p.callers[f]...)
	}
	slices.SortFunc(list, func(a, b caller) int { return cmp.Compare(a.place, b.place) })
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].place == list[0].place {
			n++
		}
		p.separate(list[:n])
		list = list[n:]
	}
}

// separate splits each class if the list has some of its functions but not all.
func (p *partition) separate(list []caller) {
	var found []int
	for _, l := range list {
		n := p.list[l.function].class
		c := &p.classes[n]
		if c.found == 0 {
			found = append(found, n)
		}
		i, j := p.at[l.function], c.from+c.found
		p.order[i], p.order[j] = p.order[j], p.order[i]
		p.at[p.order[i]], p.at[p.order[j]] = i, j
		c.found++
	}
	for _, n := range found {
		c := &p.classes[n]
		middle := c.from + c.found
		c.found = 0
		if middle == c.end {
			continue
		}
		part := class{from: c.from, end: middle}
		if middle-c.from <= c.end-middle {
			c.from = middle
		} else {
			part.from, part.end, c.end = middle, c.end, middle
		}
		for _, f := range p.order[part.from:part.end] {
			p.list[f].class = len(p.classes)
		}
		p.waiting = append(p.waiting, len(p.classes))
		p.classes = append(p.classes, part)
	}
}
