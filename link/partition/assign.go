package partition

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Options holds the options of Cut.
type Options struct {
	// Parts is the largest number of parts; 0 chooses it by the size of the module.
	Parts int
	// Unit returns the name of the input that a place of the module comes from, or "". The
	// functions of one input stay together if they fit into a part, so that a changed input changes
	// only one part. It may be nil.
	Unit func(off int32) string
	// Setting returns the ptxas setting for the functions of a unit. Functions with different
	// settings must be in different parts, so there may be more parts than Parts. It may be nil.
	Setting func(unit string) string
}

// MaxParts is the largest useful value of Options.Parts.
const MaxParts = 1024

// cluster is a set of functions that must go to one part.
type cluster struct {
	key    string // the name of its unit or function
	hash   uint64
	weight int64
	decls  []int32
}

// assign returns the part of each function. Some parts may stay empty.
func (c *cutter) assign(o Options) (part []int32) {
	c.unit, c.setting = make([]string, len(c.Decls)), make([]string, len(c.Decls))
	part = slices.Repeat([]int32{-1}, len(c.Decls))
	groups := map[string][]int32{} // by setting
	for _, f := range c.functions {
		if o.Unit != nil {
			c.unit[f] = o.Unit(c.Decls[f].NameSpan.Off)
		}
		if o.Setting != nil {
			c.setting[f] = o.Setting(c.unit[f])
		}
		groups[c.setting[f]] = append(groups[c.setting[f]], f)
	}
	settings := slices.Sorted(maps.Keys(groups))
	first := 0
	for i, parts := range c.share(groups, settings, o.Parts) {
		c.fill(groups[settings[i]], part, first, parts)
		first += parts
	}
	return part
}

// share returns the number of parts for each setting: one, and a share of the remaining parts by
// cost. Parts that rounding leaves over go to the largest setting.
func (c *cutter) share(groups map[string][]int32, settings []string, parts int) (numbers []int) {
	total, left, largest := c.total(c.functions), int64(max(0, parts-len(groups))), 0
	rest := left
	for i, setting := range settings {
		group := groups[setting]
		n := choose(quantise(c.total(group)), c.units(group))
		if parts > 0 {
			more := left * c.total(group) / total
			n, rest = 1+int(more), rest-more
		}
		numbers = append(numbers, n)
		if c.total(group) > c.total(groups[settings[largest]]) {
			largest = i
		}
	}
	for i, setting := range settings {
		if i == largest {
			numbers[i] += int(rest)
		}
		numbers[i] = max(1, min(numbers[i], len(groups[setting]), MaxParts))
	}
	return numbers
}

func (c *cutter) total(functions []int32) (sum int64) {
	for _, f := range functions {
		sum += c.cost[f] + perFunction
	}
	return sum
}

func (c *cutter) units(functions []int32) int {
	units := map[string]bool{}
	for _, f := range functions {
		units[c.unit[f]] = true
	}
	return len(units)
}

// fill distributes functions over parts, starting at part first.
func (c *cutter) fill(functions, part []int32, first, parts int) {
	limit := quantise(c.total(functions)) * 3 / 2 / int64(parts) // of a cluster: parts need not be equal
	clusters := c.clusters(functions, limit)

	// The most expensive clusters come first, because they are the hardest to place. Equal weights
	// are ordered by the hash of their keys, because an edit does not change it.
	sum := int64(0)
	for i := range clusters {
		sum += clusters[i].weight
	}
	slices.SortFunc(clusters, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.hash, b.hash), strings.Compare(a.key, b.key))
	})
	room := quantise(sum/int64(parts)) * 5 / 4
	load := make([]int64, parts)
	for _, set := range clusters {
		to := place(set, load, room)
		load[to] += set.weight
		for _, d := range set.decls {
			part[d] = int32(first + to)
		}
	}
}

// These limit the number of parts by size. Small parts would cost time, because a start of ptxas
// costs as much as some 400 instructions. Of a large part, everything must be assembled again if
// one function changes. There are at most half as many parts as inputs, so that ptxas is started
// less often than for the separate inputs, unless the parts are large.
const smallPart, largePart, mostParts = 600, 2000, 64

// choose returns the number of parts for a number of instructions and units. It goes in steps,
// because otherwise every edit could change the number.
func choose(total int64, units int) int {
	n := min(total/smallPart, max(int64(units)/2, total/largePart), mostParts)
	chosen := 1
	for _, step := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
		if int64(step) <= n {
			chosen = step
		}
	}
	return chosen
}

// quantise rounds a cost to a power of the square root of 2, so that small edits of one function do
// not move other functions to other parts.
func quantise(n int64) int64 {
	return int64(math.Round(math.Exp2(math.Round(2*math.Log2(float64(n))) / 2)))
}

// place returns the part for a cluster: the first part with room in the cluster's own order of
// preference, otherwise the part with the least load.
func place(c cluster, load []int64, room int64) int {
	best, first, least := -1, uint64(0), 0
	for i := range load {
		if load[i] < load[least] {
			least = i
		}
		if p := preference(c.hash, int32(i)); load[i]+c.weight <= room && (best < 0 || p > first) {
			best, first = i, p
		}
	}
	if best < 0 {
		return least
	}
	return best
}

// preference orders the parts for a hash. The order is random, and must stay the same when there
// are more parts.
func preference(hash uint64, part int32) uint64 { return mix(hash ^ mix(uint64(part))) }

func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0xc4ceb9fe1a85ec53)
	return hi ^ lo
}

// clusters groups functions. The functions of an input are one cluster if they fit into a part;
// otherwise each function is its own. The target of an alias has the alias in its part.
func (c *cutter) clusters(functions []int32, limit int64) (list []cluster) {
	units := map[string][]int32{}
	var alone []int32
	for _, f := range functions {
		if c.unit[f] == "" {
			alone = append(alone, f)
		} else {
			units[c.unit[f]] = append(units[c.unit[f]], f)
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if weight := quantise(c.total(units[unit])); weight <= limit {
			list = append(list, cluster{unit, hash(unit), weight, units[unit]})
		} else {
			alone = append(alone, units[unit]...)
		}
	}
	for _, f := range alone {
		name := c.Names[c.Decls[f].Name]
		list = append(list, cluster{name, hash(name), quantise(c.total([]int32{f})), []int32{f}})
	}
	return list
}

// perFunction is added to the cost of each function, because ptxas also spends time outside
// instructions. It also makes the weights of short functions stable, since an edit changes them
// less.
const perFunction = 32

func hash(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return mix(h.Sum64())
}
