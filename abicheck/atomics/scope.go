package atomics

import (
	"fmt"
	"sort"
	"strings"

	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// addresses tracks the registers that hold the address of a variable, between two
// labels.
type addresses struct {
	f    *object.File
	uses []ptx.Use
	regs map[string]address
	// depth is the depth of braces. A register declared inside them may hide
	// another, so all addresses are dropped there.
	depth int
}

// use returns the variable that a token names.
func (a *addresses) use(t ptx.Token) address {
	i := sort.Search(len(a.uses), func(i int) bool { return a.uses[i].Off >= t.Off })
	if i < len(a.uses) && a.uses[i].Off == t.Off {
		return address{known: true, name: a.uses[i].Name}
	}
	return address{}
}

// value returns the address of an expression: x, x+4, %rd1, %rd1+-8.
func (a *addresses) value(tokens []ptx.Token) address {
	if len(tokens) == 0 || tokens[0].Kind != ptx.Ident {
		return address{}
	}
	x := a.use(tokens[0])
	if !x.known {
		x = a.regs[a.f.Src.String(tokens[0].Span())]
	}
	if !x.known || len(tokens) == 1 {
		return x
	}
	text := ""
	for _, t := range tokens[1:] {
		text += a.f.Src.String(t.Span())
	}
	text = strings.TrimPrefix(text, "+")
	negative := strings.HasPrefix(text, "-")
	n, ok := ptx.ParseInt(strings.TrimPrefix(text, "-"))
	if !ok {
		return address{}
	}
	if negative {
		n = -n
	}
	x.offset += n
	return x
}

// operand returns the address in the brackets of an instruction.
func (a *addresses) operand(st *statement) address {
	from := -1
	for i, t := range st.operands {
		switch {
		case t.Kind == ptx.Punct && t.Ch == '[' && from < 0:
			from = i + 1
		case t.Kind == ptx.Punct && t.Ch == ']' && from >= 0:
			return a.value(st.operands[from:i])
		}
	}
	return address{}
}

// step applies the effect of an instruction: the address it copies or overwrites.
func (a *addresses) step(st *statement) {
	switch st.opcode {
	case "{":
		a.depth++
		return
	case "}":
		if a.depth--; a.depth >= 0 {
			a.regs = nil
		}
		return
	case ":":
		a.regs = nil
		return
	case ".reg":
		if a.depth > 0 {
			a.regs = nil
		}
		return
	}
	if len(st.operands) == 0 || st.opcode[0] == '.' {
		return
	}
	operands := splitOperands(st.operands)
	var x address
	if !st.predicate {
		switch {
		case (st.opcode == "mov" || st.opcode == "cvta") && len(operands) == 2:
			x = a.value(operands[1])
		case st.opcode == "add" && len(operands) == 3:
			plus := ptx.Token{Kind: ptx.Punct}
			if len(operands[1]) == 1 && len(operands[2]) > 0 && operands[2][0].Kind != ptx.Ident {
				x = a.value(append([]ptx.Token{operands[1][0], plus}, operands[2]...))
			}
		}
	}
	for _, t := range operands[0] { // one register, or {%r1, %r2}, or %p|%q
		if t.Kind == ptx.Ident {
			delete(a.regs, a.f.Src.String(t.Span()))
		}
	}
	if x.known && len(operands[0]) == 1 {
		if a.regs == nil {
			a.regs = map[string]address{}
		}
		a.regs[a.f.Src.String(operands[0][0].Span())] = x
	}
}

// splitOperands splits operands at the commas outside braces and brackets.
func splitOperands(tokens []ptx.Token) [][]ptx.Token {
	var list [][]ptx.Token
	depth, from := 0, 0
	for i, t := range tokens {
		if t.Kind != ptx.Punct {
			continue
		}
		switch t.Ch {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, tokens[from:i])
				from = i + 1
			}
		}
	}
	return append(list, tokens[from:])
}

// variablePlace is a place in an external variable. Parts of a struct may have
// different scopes.
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

func newVariableScopes(t *resolve.Table) *variableScopes {
	return &variableScopes{t: t, by: map[variablePlace][]*accessed{}, list: make([][]variablePlace, len(t.Files))}
}

// add records the accesses of a body. Memory of one block is excluded, as its scope
// does not matter. An atom without scope has scope gpu; but clang and gcc omit any
// scope, and an unknown producer may be one of them.
func (v *variableScopes) add(file int32, b atomicBody) {
	f := v.t.Files[file]
	unsaid := strings.HasPrefix(f.Producer, "nvcc") || f.HandWritten()
	for i := range b.accesses {
		op := &b.accesses[i]
		s := v.t.Of(object.ID{File: file, Name: op.on.name})
		d := f.DeclOf(op.on.name)
		if s == resolve.None || d == nil || d.Kind != ptx.Variable || d.Space != ".global" || !unsaid && !saysScope(f, op) {
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

func saysScope(f *object.File, op *atomicOp) bool {
	for _, w := range op.words {
		if _, ok := scopeWords[w]; ok {
			return true
		}
	}
	return false
}

// report warns about the variables that a file accesses at no scope of the first
// module that accesses them. A module that mixes scopes itself is assumed to be
// right.
func (v *variableScopes) report(file int32, log *diag.Log) {
	said := map[resolve.SymbolID]bool{}
	for _, p := range v.list[file] {
		first, here := v.by[p][0], v.find(p, file)
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

func (v *variableScopes) find(p variablePlace, file int32) *accessed {
	for _, a := range v.by[p] {
		if a.file == file {
			return a
		}
	}
	return nil
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
