// Package atomics checks atomic operations against the mappings of C++ (PTX Interoperability 4).
package atomics

import (
	"fmt"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Check warns about atomic operations that are no mapping of those of C++ (PTX
// Interoperability 4), and about variables that modules access at scopes that
// differ. Every instruction of the tables is a mapping on its own, so a sequence
// is wrong only if its instructions were meant for one operation. What is taken
// for that:
//
//  1. One hand wrote them: they stand in one inline assembly statement, or in a
//     module that no compiler made. A compiler puts operations side by side that
//     have nothing to do with each other.
//  2. They stand together: no branch, call, barrier or other access is between
//     them, and none is predicated.
//  3. A fence is narrower than every access that it would order; a wider one is
//     stronger than the table asks. Or the statement or function holds nothing
//     but one access and its fences.
//
// Stronger orders are as good as those of the tables. An atom without order is
// CUDA's, a volatile access and mbarrier, fence.proxy and multimem are neither's;
// a sequence ends there.
func Check(t *resolve.Table, log *diag.Log) {
	v := newVariableScopes(t)
	bodies := make([][]atomicBody, len(t.Files))
	for i, f := range t.Files {
		for n := range f.Decls {
			if d := &f.Decls[n]; d.HasBody && t.Live(object.ID{File: int32(i), Name: d.Name}) {
				b := readAtomics(f, d)
				bodies[i] = append(bodies[i], b)
				v.add(int32(i), b)
			}
		}
	}
	for i, f := range t.Files {
		for _, b := range bodies[i] {
			for _, run := range b.runs {
				if run.asm || f.HandWritten() {
					judgeRun(f, run, log)
				}
			}
		}
		v.report(int32(i), log)
	}
}

// atomicKind is what an instruction does to memory.
type atomicKind uint8

const (
	fenceOp atomicKind = iota
	loadOp
	storeOp
	updateOp // read-modify-write: atom, red
)

func (k atomicKind) String() string {
	return [...]string{"fence", "load", "store", "read-modify-write"}[k]
}

// memoryOrder is an order as the set of what it does, so that one that contains
// another is the stronger.
type memoryOrder uint8

const (
	orderRelaxed memoryOrder = 0
	orderAcquire memoryOrder = 1
	orderRelease memoryOrder = 2
	orderAcqRel  memoryOrder = orderAcquire | orderRelease
	orderSeqCst  memoryOrder = orderAcqRel | 4
)

func (o memoryOrder) contains(p memoryOrder) bool { return o&p == p }

// memoryScope is who sees the order; a greater one includes the lesser.
type memoryScope uint8

const (
	scopeNone memoryScope = iota
	scopeCTA
	scopeCluster
	scopeGPU
	scopeSys
)

func (s memoryScope) String() string { return [...]string{"", "cta", "cluster", "gpu", "sys"}[s] }

// step is one instruction of a mapping.
type mappingStep struct {
	kind    atomicKind
	order   memoryOrder // at least
	without memoryOrder // what a fence beside it does in its place
	text    string
}

// mapping is one row of the tables.
type mapping struct {
	order string
	kind  atomicKind
	steps []mappingStep
}

// mappings are the rows of all tables but those of a lone fence or relaxed
// access, the recommended ones first.
var mappings = []mapping{
	{"seq_cst", loadOp, []mappingStep{{fenceOp, orderSeqCst, 0, "fence.sc"}, {loadOp, orderAcquire, 0, "ld.acquire"}}},
	{"seq_cst", loadOp, []mappingStep{{fenceOp, orderSeqCst, 0, "fence.sc"}, {loadOp, orderRelaxed, orderAcquire, "ld.relaxed"}, {fenceOp, orderAcquire, 0, "fence.acquire"}}},
	{"seq_cst", storeOp, []mappingStep{{fenceOp, orderSeqCst, 0, "fence.sc"}, {storeOp, orderRelaxed, 0, "st.relaxed"}}},
	{"seq_cst", updateOp, []mappingStep{{fenceOp, orderSeqCst, 0, "fence.sc"}, {updateOp, orderAcquire, 0, "atom.acquire"}}},
	{"seq_cst", updateOp, []mappingStep{{fenceOp, orderSeqCst, 0, "fence.sc"}, {updateOp, orderRelaxed, orderAcquire, "atom.relaxed"}, {fenceOp, orderAcquire, 0, "fence.acquire"}}},
	{"acq_rel", updateOp, []mappingStep{{updateOp, orderAcqRel, 0, "atom.acq_rel"}}},
	{"acq_rel", updateOp, []mappingStep{{fenceOp, orderRelease, 0, "fence.release"}, {updateOp, orderAcquire, orderRelease, "atom.acquire"}}},
	{"acq_rel", updateOp, []mappingStep{{fenceOp, orderRelease, 0, "fence.release"}, {updateOp, orderRelaxed, orderAcqRel, "atom.relaxed"}, {fenceOp, orderAcquire, 0, "fence.acquire"}}},
	{"release", storeOp, []mappingStep{{storeOp, orderRelease, 0, "st.release"}}},
	{"release", storeOp, []mappingStep{{fenceOp, orderRelease, 0, "fence.release"}, {storeOp, orderRelaxed, orderRelease, "st.relaxed"}}},
	{"release", updateOp, []mappingStep{{updateOp, orderRelease, 0, "atom.release"}}},
	{"release", updateOp, []mappingStep{{fenceOp, orderRelease, 0, "fence.release"}, {updateOp, orderRelaxed, orderRelease, "atom.relaxed"}}},
	{"acquire", loadOp, []mappingStep{{loadOp, orderAcquire, 0, "ld.acquire"}}},
	{"acquire", loadOp, []mappingStep{{loadOp, orderRelaxed, orderAcquire, "ld.relaxed"}, {fenceOp, orderAcquire, 0, "fence.acquire"}}},
	{"acquire", updateOp, []mappingStep{{updateOp, orderAcquire, 0, "atom.acquire"}}},
	{"acquire", updateOp, []mappingStep{{updateOp, orderRelaxed, orderAcquire, "atom.relaxed"}, {fenceOp, orderAcquire, 0, "fence.acquire"}}},
}

// help says what the mapping is at a scope: "a seq_cst load is fence.sc.gpu;
// ld.acquire.gpu". fence.acquire and fence.release are there since ISA 8.6.
func (m mapping) help(f *object.File, s memoryScope) string {
	var list []string
	for _, step := range m.steps {
		text := step.text
		if step.kind == fenceOp && step.order != orderSeqCst && f.Version.Less(ptx.Version{Major: 8, Minor: 6}) {
			text = "fence.acq_rel"
		}
		list = append(list, text+"."+s.String())
	}
	article := "a"
	if m.order[0] == 'a' {
		article = "an"
	}
	return fmt.Sprintf("%s %s %s is %s (PTX Interoperability 4)", article, m.order, m.kind, strings.Join(list, "; "))
}

func (m mapping) access(ops []atomicOp) *atomicOp {
	for i := range m.steps {
		if m.steps[i].kind != fenceOp {
			return &ops[i]
		}
	}
	return nil
}

// fits says whether ops begin with the mapping, whatever their scopes. exact
// asks that no step does already what the fence beside it is there for.
func (m mapping) fits(ops []atomicOp, exact bool) bool {
	if len(ops) < len(m.steps) {
		return false
	}
	for i, step := range m.steps {
		op := ops[i]
		if op.kind != step.kind || !op.order.contains(step.order) || exact && op.order&step.without != 0 {
			return false
		}
	}
	return true
}

// judge reports what is wrong with a run of instructions that stand together.
func judgeRun(f *object.File, run atomicRun, log *diag.Log) {
	ok := true
	for i := range run.ops {
		if run.ops[i].kind == fenceOp && !wideEnough(f, run.ops, i, log) {
			ok = false
		}
	}
	if ok && run.whole {
		oneOperation(f, run.ops, log)
	}
}

// wideEnough reports the fence if it is narrower than the access in every
// mapping that it can be part of.
func wideEnough(f *object.File, ops []atomicOp, at int, log *diag.Log) bool {
	var narrow mapping
	var access *atomicOp
	for _, m := range mappings {
		for i, step := range m.steps {
			if step.kind != fenceOp || i > at || !m.fits(ops[at-i:], true) {
				continue
			}
			x := m.access(ops[at-i:])
			if ops[at].scope >= x.needs {
				return true
			}
			if access == nil {
				narrow, access = m, x
			}
		}
	}
	if access == nil {
		return true
	}
	log.Warn(diag.Atomics, f.At(ops[at].span), fmt.Sprintf("%s is narrower than %s, which it orders", ops[at].text(), access.text())).
		Note(f.At(access.span), "the "+access.kind.String()).
		WithHelp(narrow.help(f, access.needs))
	return false
}

// oneOperation reports an access and its fences, which are all that there is, if
// they are no mapping.
func oneOperation(f *object.File, list []atomicOp, log *diag.Log) {
	ops := joinFences(list)
	at := -1
	for i := range ops {
		if ops[i].kind != fenceOp {
			if at >= 0 {
				return
			}
			at = i
		}
	}
	if at < 0 || len(ops) == 1 {
		return
	}
	for _, m := range mappings {
		for i := range ops {
			// What stands around a seq_cst operation makes it no weaker.
			if m.fits(ops[i:], false) && (len(m.steps) == len(ops) || m.order == "seq_cst") {
				return
			}
		}
	}
	x, culprit, where := ops[at], ops[0], "before"
	if at+1 < len(ops) && (at == 0 || x.kind == storeOp || x.kind == updateOp && ops[0].order.contains(orderRelease)) {
		culprit, where = ops[at+1], "behind"
	}
	log.Warn(diag.Atomics, f.At(culprit.span), fmt.Sprintf("%s %s %s makes no atomic %s", culprit.text(), where, x.text(), x.kind)).
		Note(f.At(x.span), "the "+x.kind.String()).
		WithHelp(wantedMapping(x.kind, culprit.order == orderSeqCst).help(f, x.needs))
}

// joinFences makes one fence of those that stand side by side.
func joinFences(list []atomicOp) []atomicOp {
	var ops []atomicOp
	for _, op := range list {
		if n := len(ops); n > 0 && op.kind == fenceOp && ops[n-1].kind == fenceOp {
			ops[n-1].order |= op.order
			continue
		}
		ops = append(ops, op)
	}
	return ops
}

// wanted is the mapping that a fence around such an access was likely meant for.
func wantedMapping(kind atomicKind, sc bool) mapping {
	for _, m := range mappings {
		if m.kind == kind && sc == (m.order == "seq_cst") {
			return m
		}
	}
	return mapping{}
}
