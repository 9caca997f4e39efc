package abicheck

import (
	"fmt"
	"sort"
	"strconv"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// place is where a call passes the first byte of a parameter or result; the other
// bytes follow it.
type place struct {
	in  byte  // 'r' registers, 's' the stack, 'm' memory whose address is passed
	off int64 // bytes from R4, or from the stack pointer of the caller
}

const (
	callRegisters = 12 // R4 to R15
	registerSize  = 4
)

// places computes where ptxas passes results and parameters. PTX Interoperability
// does not define this; TestPlaces compares it with ptxas:
//
//  1. The result is in R4 and up, whatever its alignment. A result of more than 48
//     bytes is in the caller's memory, whose address is in R4.
//  2. Each parameter takes the first consecutive free registers that hold all of it
//     and start at a multiple of its alignment, at most 16 bytes. Registers that
//     alignment skips are used by later parameters.
//  3. A parameter without such registers, or without a size, is on the stack, at
//     the next multiple of its alignment, at least 4 bytes.
//
// In all three places the bytes of a parameter are contiguous.
func places(results, params []ptx.Param) (list []place) {
	var used [callRegisters]bool
	for i := range results {
		r := place{in: 'r'}
		if results[i].Size() > callRegisters*registerSize {
			r.in = 'm'
			used[0] = true
		}
		list = append(list, r)
	}
	stack := int64(0)
	for i := range params {
		p := &params[i]
		need := (max(p.Size(), 1) + registerSize - 1) / registerSize
		step := min(max(p.Alignment()/registerSize, 1), 4)
		at := int64(0)
		for ; at+need <= callRegisters && !free(used[at:at+need]); at += step {
		}
		if at+need <= callRegisters && !p.Unsized {
			for r := at; r < at+need; r++ {
				used[r] = true
			}
			list = append(list, place{'r', at * registerSize})
			continue
		}
		align := max(p.Alignment(), registerSize)
		stack = (stack + align - 1) &^ (align - 1)
		list = append(list, place{'s', stack})
		stack += max(p.Size(), 0)
	}
	return list
}

func free(used []bool) bool {
	for _, u := range used {
		if u {
			return false
		}
	}
	return true
}

// alignable reports whether the output may declare a parameter with another
// alignment than its module does: compilers disagree about aggregates only.
func alignable(t ptx.Type) bool {
	return t.Space == ".param" && t.Array && !t.Unsized && t.Size() >= 0
}

// signature holds the results and parameters of a function.
type signature struct{ results, params []ptx.Param }

func signatureOf(d *ptx.Decl) signature { return signature{d.Results, d.Params} }

func (c signature) len() int { return len(c.results) + len(c.params) }

// at returns result i, or a parameter if i is beyond the results.
func (c signature) at(i int) *ptx.Param {
	if i < len(c.results) {
		return &c.results[i]
	}
	return &c.params[i-len(c.results)]
}

func sameAlignments(a, b signature) bool {
	for i := range a.len() {
		if a.at(i).Alignment() != b.at(i).Alignment() {
			return false
		}
	}
	return true
}

// moved reports, for each result and then each parameter, whether two prototypes
// with equal numbers of both pass it in different places because they align it
// differently. If nothing is moved, a call written against one works with the
// other. It returns nil if all alignments are equal.
func moved(a, b signature) []bool {
	if sameAlignments(a, b) {
		return nil
	}
	x, y := places(a.results, a.params), places(b.results, b.params)
	list := make([]bool, len(x))
	for i := range list {
		p, q := a.at(i), b.at(i)
		if p.Alignment() != q.Alignment() {
			list[i] = !alignable(p.Type) || !alignable(q.Type) || x[i] != y[i]
		}
	}
	return list
}

// ParamAlignments holds the alignments that the output gives to the results and
// then the parameters of functions that modules declare with different ones. It
// uses the largest, because vector accesses of the module that declares it rely on
// it.
type ParamAlignments struct {
	t  *resolve.Table
	of map[resolve.SymbolID][]int64
}

// alignEdit sets the alignment of a type, also of one without .align.
func alignEdit(t ptx.Type, align int64) ptx.Edit {
	n := strconv.FormatInt(align, 10)
	if t.AlignSpan.Len > 0 {
		return ptx.Edit{Span: t.AlignSpan, Text: n}
	}
	return ptx.Edit{Span: diag.Span{Off: t.WordSpan.Off}, Text: ".align " + n + " "}
}

// NewParamAlignments computes the alignments of prototypes that Symbols accepts.
func NewParamAlignments(t *resolve.Table) *ParamAlignments {
	p := &ParamAlignments{t: t}
	for i := range t.Symbols {
		if list := largest(t, &t.Symbols[i]); list != nil {
			if p.of == nil {
				p.of = map[resolve.SymbolID][]int64{}
			}
			p.of[resolve.SymbolID(i)] = list
		}
	}
	return p
}

// largest returns nil if all declarations have the same alignments.
func largest(t *resolve.Table, s *resolve.Symbol) (list []int64) {
	if len(s.Mentions) < 2 {
		return nil
	}
	differ := false
	var first *ptx.Decl
	for _, id := range s.Mentions {
		d := t.Files[id.File].DeclOf(id.Name)
		if d == nil || d.Kind != ptx.Func {
			continue
		}
		if first == nil {
			first = d
		}
		differ = differ || !d.SameSignature(first)
	}
	if !differ {
		return nil
	}
	differ = false
	for _, id := range s.Mentions {
		d := t.Files[id.File].DeclOf(id.Name)
		if d == nil || d.Kind != ptx.Func {
			continue
		}
		sig := signatureOf(d)
		if list == nil {
			for i := range sig.len() {
				list = append(list, sig.at(i).Alignment())
			}
			continue
		}
		for i := range min(sig.len(), len(list)) {
			align := sig.at(i).Alignment()
			differ = differ || align != list[i]
			list[i] = max(list[i], align)
		}
	}
	if !differ {
		return nil
	}
	return list
}

// Header returns the edits of the header of a function.
func (p *ParamAlignments) Header(file int32, d *ptx.Decl) (edits []ptx.Edit) {
	sig := signatureOf(d)
	for i, align := range p.of[p.t.Of(object.ID{File: file, Name: d.Name})] {
		if x := sig.at(i); x.Alignment() != align {
			edits = append(edits, alignEdit(x.Type, align))
		}
	}
	return edits
}

// Body returns the edits of the .param objects that a function passes to calls:
// ptxas requires an object to have the alignment of the parameter.
func (p *ParamAlignments) Body(file int32, d *ptx.Decl) (edits []ptx.Edit) {
	if len(p.of) == 0 {
		return nil
	}
	calls := p.t.Files[file].Calls
	calls = calls[sort.Search(len(calls), func(i int) bool { return calls[i].Span.Off >= d.Body.Off }):]
	done := map[int32]bool{}
	for i := 0; i < len(calls) && calls[i].Span.Off < d.Body.End(); i++ {
		for n, o := range operands(&calls[i]) {
			at := o.Type.WordSpan.Off
			if align := p.wanted(file, &calls[i], n); at > d.Body.Off && align != o.Type.Alignment() && !done[at] {
				done[at] = true
				edits = append(edits, alignEdit(o.Type, align))
			}
		}
	}
	return edits
}

// wanted returns the alignment that ptxas requires of an operand of a call.
func (p *ParamAlignments) wanted(file int32, call *ptx.Call, n int) int64 {
	if call.Use >= 0 {
		if list := p.of[p.t.Of(object.ID{File: file, Name: p.t.Files[file].Uses[call.Use].Name})]; n < len(list) {
			return list[n]
		}
	}
	return operands(call)[n].Type.Alignment()
}

// operands returns the results and then the arguments of a call.
func operands(call *ptx.Call) []ptx.CallOperand {
	return append(call.Results[:len(call.Results):len(call.Results)], call.Args...)
}

// SharedObjects reports .param objects that two calls need with different
// alignments. Compilers use a separate object for each call.
func SharedObjects(t *resolve.Table, log *diag.Log) {
	p := NewParamAlignments(t)
	if len(p.of) == 0 {
		return
	}
	for i, f := range t.Files {
		type need struct {
			align int64
			by    diag.Span
		}
		first := map[int32]need{} // by place of the object's type
		for k := range f.Decls {  // a function may pass on its own parameter
			d := &f.Decls[k]
			sig := signatureOf(d)
			list := p.of[t.Of(object.ID{File: int32(i), Name: d.Name})]
			for n := range sig.len() {
				x := sig.at(n)
				first[x.WordSpan.Off] = need{x.Alignment(), x.Span}
				if n < len(list) {
					first[x.WordSpan.Off] = need{list[n], x.Span}
				}
			}
		}
		for k := range f.Calls {
			call := &f.Calls[k]
			for n, o := range operands(call) {
				if !alignable(o.Type) {
					continue
				}
				now := need{p.wanted(int32(i), call, n), o.Span}
				before, seen := first[o.Type.WordSpan.Off]
				if !seen {
					first[o.Type.WordSpan.Off] = now
				} else if before.align != now.align {
					log.Error(diag.ParamAlign, f.At(now.by), fmt.Sprintf("%s must be aligned to %d here but to %d at another place, since modules align these parameters differently", f.Src.String(o.Span), now.align, before.align)).
						Note(f.At(before.by), fmt.Sprintf("aligned to %d here", before.align)).
						WithHelp("pass an object of its own to each call")
				}
			}
		}
	}
}

// NoteAlignments reports the functions whose parameters have another alignment in
// the output than in the definition (--verbose).
func NoteAlignments(t *resolve.Table, log *diag.Log) {
	p := NewParamAlignments(t)
	for i := range t.Symbols {
		s, list := &t.Symbols[i], p.of[resolve.SymbolID(i)]
		if list == nil {
			continue
		}
		c := checker{t: t, log: log}
		for _, id := range s.Mentions {
			f, d := t.Files[id.File], c.declOf(id)
			if d == nil {
				continue
			}
			sig := signatureOf(d)
			for n, align := range list {
				x := sig.at(n)
				if x.Alignment() == align {
					continue
				}
				what := numbered("result", n, len(sig.results))
				if n >= len(sig.results) {
					what = numbered("parameter", n-len(sig.results), 0)
				}
				log.Note(f.At(x.Span), fmt.Sprintf("%s of %s is aligned to %d here and to %d in the output, as another module declares it; it is passed in the same place", what, diag.Name(s.Name), x.Alignment(), align))
			}
		}
	}
}
