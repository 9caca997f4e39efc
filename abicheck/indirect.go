package abicheck

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// IndirectCalls warns about an indirect call that matches no function whose address
// the link takes, if there is a similar one: the same number and sizes of
// parameters and results, but another alignment or class. A prototype without a
// similar function is not reported, because it is more often dead code than an error. Nor is one
// whose similar functions match other prototypes of its module: cuFFT has prototypes for all kinds
// of callbacks, and a program defines one.
func IndirectCalls(t *resolve.Table, log *diag.Log) {
	c := checker{t: t, log: log}
	targets := c.addressTaken()
	if len(targets) == 0 {
		return
	}
	table := newTargets(targets)
	for _, f := range t.Files {
		seen := map[int32]bool{}
		matched := map[*ptx.Decl]bool{}
		var unmatched []*ptx.Prototype
		for _, call := range f.Calls {
			if call.Use >= 0 || call.Proto < 0 || !sets.Add(&seen, call.Proto) {
				continue
			}
			if proto := &f.Prototypes[call.Proto]; !table.match(proto, matched) {
				unmatched = append(unmatched, proto)
			}
		}
		for _, proto := range unmatched {
			c.indirect(f, proto, table, matched)
		}
	}
}

// targets are functions whose address is taken, one of each signature, because the same holds for
// all functions of a signature. Functions with an unsized parameter, which may be left out, are
// also in a list of their own.
type targets struct {
	all, unsized []side
	bySizes      map[string][]side
}

func newTargets(list []side) *targets {
	t := &targets{bySizes: map[string][]side{}}
	seen := map[string]bool{}
	for _, to := range list {
		signature, sizes, unsized := signatureKeys(to.decl.Signature)
		if !sets.Add(&seen, signature) {
			continue
		}
		t.all = append(t.all, to)
		if unsized {
			t.unsized = append(t.unsized, to)
		} else {
			t.bySizes[sizes] = append(t.bySizes[sizes], to)
		}
	}
	return t
}

// candidates returns the functions that a prototype may fit or be similar to.
func (t *targets) candidates(proto *ptx.Prototype) []side {
	_, sizes, unsized := signatureKeys(proto.Signature)
	if unsized {
		return t.all
	}
	return append(slices.Clip(t.bySizes[sizes]), t.unsized...)
}

// signatureKeys returns what the comparison of two prototypes depends on: all of
// it, and the number and sizes alone.
func signatureKeys(s *ptx.Signature) (signature, sizes string, unsized bool) {
	var all, some strings.Builder
	for _, list := range [][]ptx.Type{s.Results, s.Params} {
		for i := range list {
			t := &list[i]
			fmt.Fprintf(&all, "%s %s %d %t %t %d,", t.Space, t.Word, t.Alignment(), t.Array, t.Unsized, t.Size())
			fmt.Fprintf(&some, "%d,", t.Size())
			unsized = unsized || t.Unsized
		}
		all.WriteByte(';')
		some.WriteByte(';')
	}
	return all.String(), some.String(), unsized
}

// match adds the functions that a prototype matches, and reports whether there are any.
func (t *targets) match(proto *ptx.Prototype, matched map[*ptx.Decl]bool) (found bool) {
	for _, to := range t.candidates(proto) {
		if differs(proto.Signature, to.decl.Signature) == "" {
			matched[to.decl], found = true, true
		}
	}
	return found
}

// differs returns in what a call differs from a function, or "".
func differs(passed, taken *ptx.Signature) string {
	d := mismatch(passed, taken)
	if d == "" && underaligned(passed, taken) {
		d = "alignment"
	}
	return d
}

// indirect warns about a prototype that matches nothing. matched are the functions that others of
// the module match.
func (c *checker) indirect(f *object.File, proto *ptx.Prototype, targets *targets, matched map[*ptx.Decl]bool) {
	passed := proto.Signature
	candidates := targets.candidates(proto)
	i := slices.IndexFunc(candidates, func(to side) bool {
		taken := to.decl.Signature
		return !matched[to.decl] && sameSizes(passed.Results, taken.Results) && sameSizes(passed.Params, taken.Params)
	})
	if i < 0 {
		return
	}
	near := candidates[i]
	difference := differs(passed, near.decl.Signature)
	name := near.file.Names[near.decl.Name]
	cure := "correct the prototype of the call"
	if f.Language() == object.CXX && near.file.Language() == object.CXX {
		cure = "compile both modules with one prototype"
	}
	c.log.Warn(diag.IndirectCall, f.At(proto.Label), fmt.Sprintf("this prototype matches no function whose address is taken; %s differs in %s", c.log.Name(name), difference)).Of(name).
		Note(near.at(near.decl.NameSpan), "defined here").
		WithHelp("if the call can reach it, " + cure)
}

// underaligned reports whether a caller stores an operand in memory with less
// alignment than the function may rely on. The link cannot change such a caller,
// unlike a direct call.
func underaligned(passed, taken *ptx.Signature) bool {
	if sameAlignments(passed, taken) {
		return false
	}
	for i, p := range places(passed) {
		if p.in != 'r' && passed.At(i).Alignment() < taken.At(i).Alignment() {
			return true
		}
	}
	return false
}

func sameSizes(a, b []ptx.Type) bool {
	return slices.EqualFunc(a, b, func(x, y ptx.Type) bool { return x.Size() == y.Size() && x.Unsized == y.Unsized })
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
				calls = calls[1:] // because indirect calls have no use
			}
			if len(calls) > 0 && calls[0].Use == int32(u) {
				continue
			}
			id, ok := c.t.Definer(object.ID{File: int32(i), Name: use.Name})
			if !ok {
				continue
			}
			d := c.declOf(id)
			if d == nil || d.Kind != ptx.Func || !sets.Add(&seen, id) {
				continue
			}
			list = append(list, side{c.t.Files[id.File], d})
		}
	}
	return list
}
