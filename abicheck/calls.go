package abicheck

import (
	"fmt"
	"strconv"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Calls compares the arguments of each direct call with the definition that the
// link chose (PTX Interoperability 2.3). ptxas does so too, but names neither the
// input nor the definition. If the module's own declaration differs from the
// definition, Symbols reports it instead.
func Calls(t *resolve.Table, log *diag.Log) {
	c := checker{t: t, log: log}
	for i, f := range t.Files {
		for n := range f.Calls {
			call := &f.Calls[n]
			if call.Use < 0 {
				continue
			}
			id := object.ID{File: int32(i), Name: f.Uses[call.Use].Name}
			if s := t.Of(id); (s == resolve.None || t.Symbols[s].Uniform) && f.Fits(call) {
				continue
			}
			c.call(id, call)
		}
	}
}

func (c *checker) call(id object.ID, call *ptx.Call) {
	f := c.t.Files[id.File]
	callee := c.t.Main(id)
	def, own := side{c.t.Files[callee.File], c.declOf(callee)}, c.declOf(id)
	if def.decl == nil || own == nil || def.decl.Kind != own.Kind {
		return
	}
	if def.decl.Kind == ptx.Entry {
		c.log.Error(diag.CallEntry, f.At(call.Target), "call of "+c.log.Name(f.Names[id.Name])+", which is an entry").Of(f.Names[id.Name]).
			Note(def.at(def.decl.NameSpan), def.note()).
			WithHelp("an entry is launched, not called; make it a .func")
		return
	}
	if def.decl.Kind == ptx.Variable {
		return // because Symbols has reported it
	}
	if !own.Signature.Same(def.decl.Signature) {
		if mismatch(own.Signature, def.decl.Signature) != "" {
			return // the same
		}
		if !sameAlignments(own.Signature, def.decl.Signature) {
			def = side{f, own} // because the calls are rewritten to match it
		}
	}
	x, y := call.Signature, def.decl.Signature
	if x.Same(y) {
		return
	}
	name := f.Names[id.Name]
	if !c.operandCount(f, name, "argument", call, x.Params, def, y.Params) ||
		!c.operandCount(f, name, "result", call, x.Results, def, y.Results) {
		return
	}
	for i := range x.Params {
		c.operand(f, name, "passes", "argument", i, call, len(x.Results)+i, def, len(y.Results)+i)
	}
	for i := range x.Results {
		c.operand(f, name, "expects", "result", i, call, i, def, i)
	}
}

// mismatch returns the first ABI difference of two prototypes, or "" if a call may
// be written against one and defined with the other.
func mismatch(a, b *ptx.Signature) string {
	if len(a.Results) != len(b.Results) || len(a.Params) != len(b.Params) {
		return "count"
	}
	apart := moved(a, b)
	for i := range a.Len() {
		if d := Difference(*a.At(i), *b.At(i)); d != "" && (d != "alignment" || apart[i]) {
			return d
		}
	}
	return ""
}

func (c *checker) operandCount(f *object.File, name, what string, call *ptx.Call, x []ptx.Type, def side, y []ptx.Type) bool {
	// The unsized last parameter may be omitted.
	if len(x) == len(y) || len(y) > 0 && y[len(y)-1].Unsized && len(x) == len(y)-1 {
		return true
	}
	c.log.Error(diag.ParamCount, f.At(call.Target), fmt.Sprintf("call of %s has %s, but it has %s %s", c.log.Name(name), Plural(len(x), what), Plural(len(y), parameterOf(what)), def.where())).Of(name).
		Note(def.at(def.decl.NameSpan), def.note())
	return false
}

func parameterOf(what string) string { return strings.Replace(what, "argument", "parameter", 1) }

// operand compares operand xAt of a call with parameter yAt of the function: indexes of
// Signature.At. As an argument or result it is number i.
func (c *checker) operand(f *object.File, name, verb, what string, i int, call *ptx.Call, xAt int, def side, yAt int) {
	difference := callDifference(*call.Signature.At(xAt), *def.decl.Signature.At(yAt))
	if difference == "" {
		return
	}
	x, y := c.operands(f, call)[xAt], c.params(def)[yAt]
	c.log.Error(rules[difference], f.At(x.Span), fmt.Sprintf("call of %s %s %s, but its %s %d is %s %s", c.log.Name(name), verb, Describe(x.Type), parameterOf(what), i+1, Describe(y.Type), def.where())).Of(name).
		Note(def.at(y.Span), def.note()).
		WithHelp(strconv.Quote(f.Src.String(x.Span)) + " differs from it in " + difference)
}

// callDifference returns the difference between an argument and the parameter that
// it is passed for. ptxas compares the width of a scalar and the size and alignment
// of an array; a register or constant fits every scalar.
func callDifference(x, y ptx.Type) string {
	switch {
	case x.Word == "" || y.Space == ".reg":
		return ""
	case y.Unsized && x.Array:
		return ""
	}
	x.Space = y.Space
	return Difference(x, y)
}
