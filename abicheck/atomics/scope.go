package atomics

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

// addresses tracks the registers that hold the address of a variable, between two
// labels.
type addresses struct {
	*ptx.Code
	regs map[ptx.RegisterID]address
}

// value returns the address of an expression: x, x+4, %rd1, %rd1+-8.
func (a *addresses) value(first, end int32) address {
	if first == end || a.Tokens[first].Kind != ptx.Ident {
		return address{}
	}
	var x address
	if name, ok := a.Reference(int(first)).Name(); ok {
		x = address{known: true, name: name}
	} else if r, ok := a.Register(first); ok {
		x = a.regs[r]
	}
	if first+1 == end {
		return x
	}
	n, ok := a.number(first+1, end)
	x.known = x.known && ok
	x.offset += n
	return x
}

// number returns the number that some tokens are: 4, +4, -8 or +-8.
func (a *addresses) number(first, end int32) (n int64, ok bool) {
	text := ""
	for _, t := range a.Tokens[first:end] {
		text += string(a.Text(t))
	}
	digits, negative := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-")
	if n, ok = ptx.ParseInt(digits); negative {
		n = -n
	}
	return n, ok
}

// operand returns the address in the brackets of an instruction.
func (a *addresses) operand(st *statement) address {
	for _, o := range a.Operands(st.Statement) {
		if o.Shape == ptx.Address {
			return a.value(o.First+1, o.End-1)
		}
	}
	return address{}
}

// step applies the effect of an instruction: the address it copies or overwrites.
func (a *addresses) step(st *statement) {
	if st.Kind == ptx.LabelStatement {
		a.regs = nil
	}
	if st.Kind != ptx.Instruction {
		return
	}
	operands := a.Operands(st.Statement)
	if len(operands) == 0 {
		return
	}
	var x address
	switch {
	case st.Guarded():
	case (st.opcode == "mov" || st.opcode == "cvta") && len(operands) == 2:
		x = a.value(operands[1].First, operands[1].End)
	case st.opcode == "add" && len(operands) == 3 && operands[1].Shape == ptx.NameOperand:
		x = a.value(operands[1].First, operands[1].End)
		n, ok := a.number(operands[2].First, operands[2].End)
		x.known = x.known && ok
		x.offset += n
	}
	to := operands[0]
	for t := to.First; t < to.End; t++ { // one register, or {%r1, %r2}, or %p|%q
		r, ok := a.Register(t)
		if !ok {
			continue
		}
		delete(a.regs, r)
		if x.known && to.Shape == ptx.NameOperand {
			sets.Put(&a.regs, r, x)
		}
	}
}

// variablePlace is a place in an external variable. It has an offset, because parts of a struct may
// have different scopes.
type variablePlace struct {
	symbol resolve.SymbolID
	offset int64
}

// accessed records how one module accesses a place.
type accessed struct {
	file   int32
	scopes [scopeSys + 1]*atomicOp // the first at each scope
	first  *atomicOp
}

// variableScopes compares the scopes at which modules access external variables.
type variableScopes struct {
	t    *resolve.Table
	by   map[variablePlace][]*accessed // in command-line order
	list [][]variablePlace             // of each file, in order of first access
}

// add records the accesses of a body. Memory of one block is excluded, because its scope does not
// matter. An atom without scope has scope gpu; but clang and gcc omit any scope, and an unknown
// producer may be one of them.
func (v *variableScopes) add(file int32, b atomicBody) {
	f := v.t.Files[file]
	unsaid := strings.HasPrefix(f.Producer, "nvcc") || f.HandWritten()
	for i := range b.accesses {
		op := &b.accesses[i]
		s := v.t.Of(object.ID{File: file, Name: op.on.name})
		d := f.DeclOf(op.on.name)
		if s == resolve.None || d == nil || d.Kind != ptx.Variable || d.Space != ".global" || !unsaid && !saysScope(op) {
			continue
		}
		p := variablePlace{s, op.on.offset}
		list := v.by[p]
		if len(list) == 0 || list[len(list)-1].file != file {
			list = append(list, &accessed{file: file, first: op})
			v.by[p] = list
			v.list[file] = append(v.list[file], p)
		}
		if a := list[len(list)-1]; a.scopes[op.scope] == nil {
			a.scopes[op.scope] = op
		}
	}
}

func saysScope(op *atomicOp) bool {
	return slices.ContainsFunc(op.words, func(w string) bool { return scopeWords[w] != scopeNone })
}

// report warns about the variables that a file accesses at no scope of the first
// module that accesses them. A module that mixes scopes itself is assumed to be
// right.
func (v *variableScopes) report(file int32, log *diag.Log) {
	said := map[resolve.SymbolID]bool{}
	for _, p := range v.list[file] {
		all := v.by[p]
		first, here := all[0], all[slices.IndexFunc(all, func(a *accessed) bool { return a.file == file })]
		if said[p.symbol] || first.file == file || first.shares(here) {
			continue
		}
		said[p.symbol] = true
		f, other := v.t.Files[file], v.t.Files[first.file]
		name := v.t.Symbols[p.symbol].Name
		log.Warn(diag.Atomics, f.At(here.first.span), fmt.Sprintf("%s is accessed at scope .%s here but at .%s in %s", log.Name(name), here.first.scope, first.first.scope, other.Name)).Of(name).
			Note(other.At(first.first.span), "accessed at ."+first.first.scope.String()+" here").
			WithHelp("accesses order each other only where each is in the scope of the other; use one scope in every module (PTX Interoperability 4)")
	}
}

// shares reports whether both access the place at a common scope.
func (a *accessed) shares(b *accessed) bool {
	for s := range a.scopes {
		if a.scopes[s] != nil && b.scopes[s] != nil {
			return true
		}
	}
	return false
}
