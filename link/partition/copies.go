package partition

import (
	"slices"

	"ptxlink/object/ptx"
)

// Of a function of the same module, ptxas -c knows which registers it changes. For one of
// another module it assumes the calling convention, and the caller needs more registers. So
// small functions without linkage, such as __internal_trig_reduction_slowpathd of nvcc, are
// copied to the parts that call them, if their unit is cut (cubin_partition_copies.txtar).

// A function of at most copiedCost is copied, until the copies cost one of copiedShare of all
// functions.
const copiedCost, copiedShare = 256, 8

// findCopies finds the functions that are copied: those without linkage and static objects that only the
// functions of their unit call, and that call none themselves.
func (c *cutter) findCopies() {
	c.callers = make([][]int32, len(c.Decls))
	for _, f := range c.functions {
		for _, to := range c.uses(f) {
			if n := len(c.callers[to]); n == 0 || c.callers[to][n-1] != f {
				c.callers[to] = append(c.callers[to], f)
			}
		}
	}
	named := make([]bool, len(c.Decls)) // by an alias or by an address
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

// hasStatics reports whether a function declares a static object, which every copy would have.
func (c *cutter) hasStatics(d *ptx.Decl) bool {
	code := c.Borrow(d)
	defer code.Return()
	return slices.ContainsFunc(code.Locals, func(l ptx.LocalDecl) bool { return l.Static() })
}

// parts returns the parts that have a definition.
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

// in reports whether a part has a definition.
func (c *cutter) in(decl, part int32) bool {
	return c.home[decl] == part || slices.ContainsFunc(c.callers[decl], func(caller int32) bool { return c.home[caller] == part })
}
