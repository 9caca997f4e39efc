package abicheck

import (
	"fmt"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// IndirectCalls warns about an indirect call that matches no function whose address
// the link takes, if there is a similar one: the same number and sizes of
// parameters and results, but another alignment or class. A prototype without a
// similar function is more often dead code than an error, and is not reported.
func IndirectCalls(t *resolve.Table, log *diag.Log) {
	c := checker{t: t, log: log}
	targets := c.addressTaken()
	if len(targets) == 0 {
		return
	}
	for _, f := range t.Files {
		warned := map[int32]bool{}
		for _, call := range f.Calls {
			if call.Use >= 0 || call.Proto < 0 || warned[call.Proto] {
				continue
			}
			warned[call.Proto] = true
			c.indirect(f, &f.Prototypes[call.Proto], targets)
		}
	}
}

func (c *checker) indirect(f *object.File, proto *ptx.Prototype, targets []side) {
	var near side
	var difference string
	for _, to := range targets {
		passed, taken := signature{proto.Results, proto.Params}, signatureOf(to.decl)
		d := mismatch(passed, taken)
		if d == "" && underaligned(passed, taken) {
			d = "alignment"
		}
		if d == "" {
			return
		}
		if near.decl == nil && sameSizes(proto.Results, to.decl.Results) && sameSizes(proto.Params, to.decl.Params) {
			near, difference = to, d
		}
	}
	if near.decl == nil {
		return
	}
	name := near.file.Names[near.decl.Name]
	c.log.Warn(diag.IndirectCall, f.At(proto.Label), fmt.Sprintf("this prototype fits no function whose address is taken; %s differs in %s", diag.Name(name), difference)).
		Note(near.at(near.decl.NameSpan), "defined here").
		WithHelp("if the call can reach it, rebuild the module that saw the old prototype")
}

// underaligned reports whether a caller stores an operand in memory with less
// alignment than the function may rely on. The link cannot change such a caller,
// unlike a direct call.
func underaligned(passed, taken signature) bool {
	if sameAlignments(passed, taken) {
		return false
	}
	for i, p := range places(passed.results, passed.params) {
		if p.in != 'r' && passed.at(i).Alignment() < taken.at(i).Alignment() {
			return true
		}
	}
	return false
}

func sameSizes(a, b []ptx.Param) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Size() != b[i].Size() || a[i].Unsized != b[i].Unsized {
			return false
		}
	}
	return true
}

// addressTaken returns the functions of the output that are used other than in a
// direct call.
func (c *checker) addressTaken() []side {
	var list []side
	seen := map[object.ID]bool{}
	for i, f := range c.t.Files {
		calls := f.Calls
		for u, use := range f.Uses {
			for len(calls) > 0 && calls[0].Use < int32(u) {
				calls = calls[1:] // indirect calls have no use
			}
			if len(calls) > 0 && calls[0].Use == int32(u) {
				continue
			}
			id := object.ID{File: int32(i), Name: use.Name}
			if s := c.t.Of(id); s != resolve.None {
				if id = c.t.Symbols[s].Def; id.File < 0 {
					continue
				}
			}
			d := c.declOf(id)
			if d == nil || d.Kind != ptx.Func || seen[id] {
				continue
			}
			seen[id] = true
			list = append(list, side{c.t.Files[id.File], d})
		}
	}
	return list
}
