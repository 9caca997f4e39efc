package abicheck

import (
	"fmt"
	"strconv"

	"ptxlink/internal/diag"
	"ptxlink/object"
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
			if call := &f.Calls[n]; call.Use >= 0 {
				c.call(object.ID{File: int32(i), Name: f.Uses[call.Use].Name}, call)
			}
		}
	}
}

func (c *checker) call(id object.ID, call *ptx.Call) {
	f := c.t.Files[id.File]
	callee := id
	if s := c.t.Of(id); s != resolve.None {
		if callee = c.t.Symbols[s].Def; callee.File < 0 {
			callee = c.t.Symbols[s].Mentions[0]
		}
	}
	def, own := side{c.t.Files[callee.File], c.declOf(callee)}, c.declOf(id)
	if def.decl == nil || own == nil {
		return
	}
	if def.decl.Kind != own.Kind {
		return
	}
	if def.decl.Kind == ptx.Entry {
		c.log.Error(diag.CallEntry, f.At(call.Target), "call of "+diag.Name(f.Names[id.Name])+", which is an entry").
			Note(def.at(def.decl.NameSpan), def.note()).
			WithHelp("an entry is launched, not called; make it a .func")
		return
	}
	if def.decl.Kind == ptx.Variable {
		return // Symbols has reported it
	}
	if !own.SameSignature(def.decl) {
		if mismatch(signatureOf(own), signatureOf(def.decl)) != "" {
			return // the same
		}
		if !sameAlignments(signatureOf(own), signatureOf(def.decl)) {
			def = side{f, own} // the calls are rewritten to match it
		}
	}
	name := f.Names[id.Name]
	if !c.operandCount(f, name, "argument", call, call.Args, def, def.decl.Params) ||
		!c.operandCount(f, name, "result", call, call.Results, def, def.decl.Results) {
		return
	}
	for i := range call.Args {
		c.operand(f, name, "passes", "argument", i, &call.Args[i], def, &def.decl.Params[i])
	}
	for i := range call.Results {
		c.operand(f, name, "expects", "result", i, &call.Results[i], def, &def.decl.Results[i])
	}
}

// mismatch returns the first ABI difference of two prototypes, or "" if a call may
// be written against one and defined with the other.
func mismatch(a, b signature) string {
	if len(a.results) != len(b.results) || len(a.params) != len(b.params) {
		return "count"
	}
	apart := moved(a, b)
	for i := range a.len() {
		if d := Difference(a.at(i).Type, b.at(i).Type); d != "" && (d != "alignment" || apart[i]) {
			return d
		}
	}
	return ""
}

func (c *checker) operandCount(f *object.File, name, what string, call *ptx.Call, x []ptx.CallOperand, def side, y []ptx.Param) bool {
	// The unsized last parameter may be omitted.
	if len(x) == len(y) || len(y) > 0 && y[len(y)-1].Unsized && len(x) == len(y)-1 {
		return true
	}
	c.log.Error(diag.ParamCount, f.At(call.Target), fmt.Sprintf("call of %s has %s, but it has %s %s", diag.Name(name), plural(len(x), what), plural(len(y), parameterOf(what)), def.where())).
		Note(def.at(def.decl.NameSpan), def.note())
	return false
}

func parameterOf(what string) string {
	if what == "argument" {
		return "parameter"
	}
	return what
}

func (c *checker) operand(f *object.File, name, verb, what string, i int, x *ptx.CallOperand, def side, y *ptx.Param) {
	if a, b := &x.Type, &y.Type; a.Word == b.Word && a.Align == b.Align && a.Count == b.Count && a.Array == b.Array && a.Vector == b.Vector && !b.Unsized {
		return // to the word
	}
	difference := callDifference(x.Type, y.Type)
	if difference == "" {
		return
	}
	c.log.Error(ruleOf(difference), f.At(x.Span), fmt.Sprintf("call of %s %s %s, but its %s %d is %s %s", diag.Name(name), verb, Describe(x.Type), parameterOf(what), i+1, Describe(y.Type), def.where())).
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
