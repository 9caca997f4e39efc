package partition

import (
	"slices"

	"ptxlink/object/ptx"
)

// ptxas -c knows which registers a function of the same module changes. For a function of
// another module it must assume the calling convention, so the caller needs more registers. Small
// functions without linkage, such as __internal_trig_reduction_slowpathd of nvcc, are therefore
// copied to the parts that call them, if their unit is cut (cubin_partition_copies.txtar).

// A function of at most copiedCost is copied, until the copies cost one of copiedShare of all
// functions.
const copiedCost, copiedShare = 256, 8

// findCopies finds the functions that are copied: functions without linkage and static objects that
// call no function, and that only functions of their own unit call.
func (c *cutter) findCopies() {
	c.callers = make([][]int32, len(c.Decls))
	for _, f := range c.functions {
		for _, to := range c.uses(f) {
			if n := len(c.callers[to]); n == 0 || c.callers[to][n-1] != f {
				c.callers[to] = append(c.callers[to], f)
			}
		}
	}
	named := make([]bool, len(c.Decls)) // named by an alias or by an address
	for _, f := range c.taken {
		named[f] = true
	}
	for _, a := range c.Aliases {
		if to := c.define[a.Target]; to >= 0 {
			named[to] = true
		}
	}
	calls := func(to int32) bool { return c.Decls[to].Kind != ptx.Variable }
	left := c.total(c.functions) / copiedShare
	for i := range c.Decls {
		f, d, callers := int32(i), &c.Decls[i], c.callers[i]
		c.callers[i] = nil
		foreign := func(caller int32) bool { return c.unit[caller] != c.unit[f] }
		if d.Kind != ptx.Func || d.Linkage != ptx.Local || !d.HasBody || len(callers) == 0 || c.cost[i] > copiedCost || named[i] ||
			slices.ContainsFunc(callers, foreign) || slices.ContainsFunc(c.uses(f), calls) {
			continue
		}
		parts := map[int32]bool{}
		for _, caller := range callers {
			parts[c.home[caller]] = true
		}
		if extra := int64(len(parts)-1) * (c.cost[i] + perFunction); extra <= left && !c.hasStatics(d) {
			left -= extra
			c.callers[i], c.home[i] = callers, c.home[callers[0]]
		}
	}
}

// hasStatics reports whether a function declares a static object. Such a function cannot be copied,
// because every copy would have the object.
func (c *cutter) hasStatics(d *ptx.Decl) bool {
	code := c.Borrow(d)
	defer code.Return()
	return slices.ContainsFunc(code.Locals, func(l ptx.LocalDecl) bool { return l.Static() })
}

// parts returns the parts that have a definition: its own part, and the parts of callers with a
// copy.
func (c *cutter) parts(decl int32) (list []int32) {
	if home := c.home[decl]; home >= 0 {
		list = append(list, home)
	}
	for _, caller := range c.callers[decl] {
		if part := c.home[caller]; !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list
}

func (c *cutter) in(decl, part int32) bool {
	return c.home[decl] == part || slices.ContainsFunc(c.callers[decl], func(caller int32) bool { return c.home[caller] == part })
}
