package abicheck

import (
	"fmt"
	"slices"
	"strconv"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
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
func places(s *ptx.Signature) (list []place) {
	results, params := s.Results, s.Params
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
		for ; at+need <= callRegisters && slices.Contains(used[at:at+need], true); at += step {
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

// alignable reports whether the output may declare a parameter with another
// alignment than its module does, because compilers disagree about aggregates only.
func alignable(t ptx.Type) bool {
	return t.Space == ".param" && t.Array && !t.Unsized && t.Size() >= 0
}

func sameAlignments(a, b *ptx.Signature) bool {
	for i := range a.Len() {
		if a.At(i).Alignment() != b.At(i).Alignment() {
			return false
		}
	}
	return true
}

// moved reports, for each result and then each parameter, whether two prototypes
// with equal numbers of both pass it in different places because they align it
// differently. If nothing is moved, a call written against one works with the
// other. It returns nil if all alignments are equal.
func moved(a, b *ptx.Signature) []bool {
	if sameAlignments(a, b) {
		return nil
	}
	x, y := places(a), places(b)
	list := make([]bool, len(x))
	for i := range list {
		p, q := a.At(i), b.At(i)
		if p.Alignment() != q.Alignment() {
			list[i] = !alignable(*p) || !alignable(*q) || x[i] != y[i]
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
func alignEdit(t ptx.TypeAt, align int64) ptx.Edit {
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
			sets.Put(&p.of, resolve.SymbolID(i), list)
		}
	}
	return p
}

// largest returns nil if all declarations have the same alignments.
func largest(t *resolve.Table, s *resolve.Symbol) (list []int64) {
	if len(s.Mentions) < 2 || s.Uniform {
		return nil
	}
	differ := false
	for _, id := range s.Mentions {
		d := t.Files[id.File].DeclOf(id.Name)
		if d == nil || d.Kind != ptx.Func {
			continue
		}
		sig := d.Signature
		if list == nil {
			for i := range sig.Len() {
				list = append(list, sig.At(i).Alignment())
			}
			continue
		}
		for i := range min(sig.Len(), len(list)) {
			align := sig.At(i).Alignment()
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
	if len(p.of) == 0 {
		return nil
	}
	var params []ptx.Param
	for i, align := range p.of[p.t.Of(object.ID{File: file, Name: d.Name})] {
		if d.Signature.At(i).Alignment() != align {
			if params == nil {
				params = p.t.Files[file].Params(d)
			}
			edits = append(edits, alignEdit(params[i].TypeAt, align))
		}
	}
	return edits
}

// Body returns the edits of the .param objects that a function passes to calls, because ptxas
// requires an object to have the alignment of the parameter.
func (p *ParamAlignments) Body(file int32, d *ptx.Decl) (edits []ptx.Edit) {
	if len(p.of) == 0 {
		return nil
	}
	calls := p.t.Files[file].CallsIn(d)
	if !slices.ContainsFunc(calls, func(c ptx.Call) bool { return p.changes(file, &c) }) {
		return nil
	}
	done := map[int32]bool{}
	eachCall(p.t.Files[file], d, calls, func(call *ptx.Call, operands []ptx.CallOperand) {
		for n, o := range operands {
			at := o.WordSpan.Off
			if align := p.wanted(file, call, n); at > d.Body.Off && align != o.Alignment() && !done[at] {
				done[at] = true
				edits = append(edits, alignEdit(o.TypeAt, align))
			}
		}
	})
	return edits
}

// eachCall reads a function again, for the places of the operands of its calls.
func eachCall(f *object.File, d *ptx.Decl, calls []ptx.Call, visit func(call *ptx.Call, operands []ptx.CallOperand)) {
	if len(calls) == 0 {
		return
	}
	code := f.Code(d)
	for _, st := range code.Statements {
		if len(calls) > 0 && code.Tokens[st.Op].Off == calls[0].Span.Off {
			visit(&calls[0], code.CallOperands(st))
			calls = calls[1:]
		}
	}
}

// changes reports whether a call passes an operand that wanted changes.
func (p *ParamAlignments) changes(file int32, call *ptx.Call) bool {
	for n := range call.Signature.Len() {
		if p.wanted(file, call, n) != call.Signature.At(n).Alignment() {
			return true
		}
	}
	return false
}

// wanted returns the alignment that ptxas requires of an operand of a call.
func (p *ParamAlignments) wanted(file int32, call *ptx.Call, n int) int64 {
	if call.Use >= 0 {
		if list := p.of[p.t.Of(object.ID{File: file, Name: p.t.Files[file].Uses[call.Use].Name})]; n < len(list) {
			return list[n]
		}
	}
	return call.Signature.At(n).Alignment()
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
			list := p.of[t.Of(object.ID{File: int32(i), Name: d.Name})]
			for n, x := range f.Params(d) {
				first[x.WordSpan.Off] = need{x.Alignment(), x.Span}
				if n < len(list) {
					first[x.WordSpan.Off] = need{list[n], x.Span}
				}
			}
		}
		check := func(call *ptx.Call, operands []ptx.CallOperand) {
			for n, o := range operands {
				if !alignable(o.Type) {
					continue
				}
				now := need{p.wanted(int32(i), call, n), o.Span}
				before, seen := first[o.WordSpan.Off]
				if !seen {
					first[o.WordSpan.Off] = now
				} else if before.align != now.align {
					log.Error(diag.ParamAlign, f.At(now.by), fmt.Sprintf("%s must be aligned to %d here but to %d at another place, since modules align these parameters differently", f.Src.String(o.Span), now.align, before.align)).
						Note(f.At(before.by), fmt.Sprintf("aligned to %d here", before.align)).
						WithHelp("pass an object of its own to each call")
				}
			}
		}
		for k := range f.Decls {
			d := &f.Decls[k]
			calls := f.CallsIn(d)
			own := p.of[t.Of(object.ID{File: int32(i), Name: d.Name})]
			if own != nil || slices.ContainsFunc(calls, func(c ptx.Call) bool { return p.changes(int32(i), &c) }) {
				eachCall(f, d, calls, check)
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
			params, results := f.Params(d), len(d.Signature.Results)
			for n, align := range list {
				x := &params[n]
				if x.Alignment() == align {
					continue
				}
				log.Note(f.At(x.Span), fmt.Sprintf("%s of %s is aligned to %d here and to %d in the output, as another module declares it; it is passed in the same place", numbered(n, results), log.Name(s.Name), x.Alignment(), align)).Of(s.Name)
			}
		}
	}
}
