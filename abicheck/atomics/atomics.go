// Package atomics, of use to this module only, checks atomic operations against the mappings
// of C++ (PTX Interoperability 4).
package atomics

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Check warns about atomic operations that do not match a mapping of C++ operations
// (PTX Interoperability 4), and about variables that modules access at different
// scopes. Each instruction in the tables is a valid mapping by itself, so a
// sequence is wrong only if its instructions were meant as one operation. Check
// assumes that if all of these hold:
//
//  1. They have one author: they are in one inline assembly statement, or in a
//     module that no compiler wrote. A compiler may place unrelated operations side
//     by side.
//  2. They are adjacent: no branch, call, barrier or other access is between them,
//     and none is predicated.
//  3. A fence is narrower than every access that it would order; a wider one is
//     stronger than the table requires. Or the statement or function contains
//     nothing but one access and its fences.
//
// An order stronger than the order in the tables is accepted. An atom without order belongs to
// CUDA, not C++; a volatile access, mbarrier, fence.proxy and multimem belong to neither. They end
// a sequence.
func Check(t *resolve.Table, log *diag.Log) {
	v := &variableScopes{t: t, by: map[variablePlace][]*accessed{}, list: make([][]variablePlace, len(t.Files))}
	bodies := make([][]atomicBody, len(t.Files))
	for i, f := range t.Files {
		for n := range f.Decls {
			if d := &f.Decls[n]; d.HasBody && t.Chosen(object.ID{File: int32(i), Name: d.Name}) {
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

// atomicKind is the effect of an instruction on memory.
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

// memoryOrder is a memory order as a set of effects: an order that contains another
// is stronger.
type memoryOrder uint8

const (
	orderRelaxed memoryOrder = 0
	orderAcquire memoryOrder = 1
	orderRelease memoryOrder = 2
	orderAcqRel  memoryOrder = orderAcquire | orderRelease
	orderSeqCst  memoryOrder = orderAcqRel | 4
)

func (o memoryOrder) contains(p memoryOrder) bool { return o&p == p }

// memoryScope is the set of threads that see the order; a greater one includes the
// lesser.
type memoryScope uint8

const (
	scopeNone memoryScope = iota
	scopeCTA
	scopeCluster
	scopeGPU
	scopeSys
)

func (s memoryScope) String() string { return [...]string{"", "cta", "cluster", "gpu", "sys"}[s] }

type mappingStep struct {
	kind    atomicKind
	order   memoryOrder // minimum order
	without memoryOrder // effects that the fence beside it provides instead
	text    string
}

type mapping struct {
	order string
	kind  atomicKind
	steps []mappingStep
}

// mappings holds the rows of all tables, except the rows of a lone fence or relaxed access.
// Recommended rows come first.
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

// help returns a text that shows the mapping at a scope: "a seq_cst load is
// fence.sc.gpu; ld.acquire.gpu". fence.acquire and fence.release exist since ISA
// 8.6.
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
	return &ops[slices.IndexFunc(m.steps, func(s mappingStep) bool { return s.kind != fenceOp })]
}

// fits reports whether ops begin with the mapping, at any scopes. exact requires
// that no step already has the effect of the fence beside it.
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

// wideEnough reports the fence if it is narrower than the access in every mapping
// that it may belong to.
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

// oneOperation reports an access with its fences, and nothing else, if they do not
// match a mapping.
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
			// The list may be longer, because instructions around a seq_cst operation do not weaken
			// it.
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

// wantedMapping returns the mapping that a fence around such an access was probably
// meant for.
func wantedMapping(kind atomicKind, sc bool) mapping {
	return mappings[slices.IndexFunc(mappings, func(m mapping) bool { return m.kind == kind && sc == (m.order == "seq_cst") })]
}
