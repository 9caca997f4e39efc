package abicheck

import (
	"fmt"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// CxxNames compares the parameters that an Itanium C++ name encodes with those
// of the PTX function (PTX Interoperability 7): their number, and class and size
// where the type is built in. A difference is a warning: the name may have been
// written by hand. What the name leaves open is not compared:
//
//  1. a member function has `this` in front, a static one of the same name has not
//  2. gcc returns a structure through a pointer in front
//  3. structures, unions and enumerations have any shape
//  4. parameter packs have any length
//
// Functions without linkage are left out: compilers drop parameters that a
// static function does not use.
func CxxNames(t *resolve.Table, log *diag.Log) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !strings.HasPrefix(s.Name, "_Z") {
			continue
		}
		id := s.Def
		if id.File < 0 {
			id = s.Mentions[0]
		}
		cxxName(t.Files[id.File], id.Name, log)
	}
}

func cxxName(f *object.File, name ptx.NameID, log *diag.Log) {
	d := f.DeclOf(name)
	if d == nil || d.Kind == ptx.Variable {
		return
	}
	sig, ok := parseCxx(f.Names[name])
	if !ok {
		return
	}
	difference := sig.differs(d, f.AddressSize, sig.hidden[0])
	for _, hidden := range sig.hidden {
		if sig.differs(d, f.AddressSize, hidden) == "" || f.Producer == "gcc" && sig.differs(d, f.AddressSize, hidden+1) == "" {
			return
		}
	}
	log.Warn(diag.Mangled, f.At(d.NameSpan), fmt.Sprintf("%s %s", diag.Name(f.Names[name]), difference)).
		WithHelp("the name says what the source declares; rebuild the module, or rename the function if it was written by hand")
}

// cxxSignature is what a mangled name says of a call.
type cxxSignature struct {
	params []cxxType
	// hidden are the possible numbers of parameters in front of params, most
	// likely one first.
	hidden   []int
	variadic bool
}

// cxxType is a type as far as a PTX parameter shows it.
type cxxType struct {
	text string
	kind byte  // 'i' integer, 'f' float, 'p' pointer, 0 anything
	size int64 // in bytes; 0 if the host decides (pointers, long)
}

// parseCxx reads a mangled function name. ok is false for names of other
// things, and for what this does not follow.
func parseCxx(name string) (sig cxxSignature, ok bool) {
	if len(name) > diag.MaxMangled {
		return sig, false
	}
	ast, err := demangle.ToAST(name)
	if err != nil {
		return sig, false
	}
	typed, isTyped := ast.(*demangle.Typed)
	if !isTyped {
		return sig, false
	}
	function, method := typed.Type, false
	if m, isMethod := function.(*demangle.MethodWithQualifiers); isMethod {
		function, method = m.Method, true
	}
	ft, isFunction := function.(*demangle.FunctionType)
	if !isFunction {
		return sig, false
	}
	for _, arg := range ft.Args {
		switch a := arg.(type) {
		case *demangle.PackExpansion, *demangle.ArgumentPack, *demangle.TemplateParamPack, *demangle.ExplicitObjectParameter:
			return sig, false
		case *demangle.BuiltinType:
			if a.Name == "void" {
				continue
			}
			if a.Name == "..." {
				sig.variadic = true
				continue
			}
		}
		sig.params = append(sig.params, classify(arg))
	}
	switch {
	case special(typed.Name):
		sig.hidden = []int{1, 2, 0}
	case method:
		sig.hidden = []int{1}
	case nested(typed.Name):
		sig.hidden = []int{0, 1}
	default:
		sig.hidden = []int{0}
	}
	return sig, true
}

// nested says whether the name has a scope: a namespace or a class.
func nested(name demangle.AST) bool {
	switch n := name.(type) {
	case *demangle.Qualified:
		return true
	case *demangle.Template:
		return nested(n.Name)
	case *demangle.TaggedName:
		return nested(n.Name)
	case *demangle.Name:
		return false
	}
	return true // operators, lambdas
}

// special finds constructors and destructors, which may take a table beside
// `this`.
func special(name demangle.AST) bool {
	found := false
	seen := map[demangle.AST]bool{} // substitutions stand in many places
	name.Traverse(func(a demangle.AST) bool {
		switch a.(type) {
		case *demangle.Constructor, *demangle.Destructor:
			found = true
		}
		first := !seen[a]
		seen[a] = true
		return first && !found
	})
	return found
}

// builtins by name; sizes are those of every host that CUDA runs on.
var builtins = map[string]cxxType{
	"bool": {kind: 'i', size: 1}, "char": {kind: 'i', size: 1}, "signed char": {kind: 'i', size: 1}, "unsigned char": {kind: 'i', size: 1}, "char8_t": {kind: 'i', size: 1},
	"short": {kind: 'i', size: 2}, "unsigned short": {kind: 'i', size: 2}, "char16_t": {kind: 'i', size: 2},
	"int": {kind: 'i', size: 4}, "unsigned int": {kind: 'i', size: 4}, "char32_t": {kind: 'i', size: 4},
	"long long": {kind: 'i', size: 8}, "unsigned long long": {kind: 'i', size: 8},
	"float": {kind: 'f', size: 4}, "double": {kind: 'f', size: 8},
}

func classify(arg demangle.AST) cxxType {
	text := demangle.ASTToString(arg, demangle.MaxLength(8)) // 256 bytes
	switch a := arg.(type) {
	case *demangle.TypeWithQualifiers:
		t := classify(a.Base)
		t.text = text
		return t
	case *demangle.PointerType, *demangle.ReferenceType, *demangle.RvalueReferenceType:
		return cxxType{text: text, kind: 'p'}
	case *demangle.BuiltinType:
		t := builtins[a.Name]
		t.text = text
		return t
	case *demangle.TemplateParam:
		if a.Template != nil && a.Index < len(a.Template.Args) {
			switch inner := a.Template.Args[a.Index].(type) {
			case *demangle.BuiltinType, *demangle.PointerType, *demangle.TypeWithQualifiers:
				return classify(inner)
			}
		}
	}
	return cxxType{text: text}
}

// differs says how a PTX function differs from the signature if so many hidden
// parameters stand in front; empty if it does not.
func (sig *cxxSignature) differs(d *ptx.Decl, addressSize, hidden int) string {
	want := len(sig.params) + hidden
	have := len(d.Params)
	if sig.variadic && have > 0 {
		have-- // the unsized array of the rest
	}
	if have != want {
		return fmt.Sprintf("has %s here, but its name says %d", plural(have, "parameter"), want)
	}
	for i, t := range sig.params {
		x := d.Params[i+hidden]
		bad := false
		size := t.size
		switch t.kind {
		case 0:
			continue
		case 'p':
			bad = x.Array || isFloat(x.Word) || addressSize != 0 && x.Size() != int64(addressSize)/8
		case 'f':
			bad = x.Array || x.Size() != size || !isFloat(x.Word) && !isBits(x.Word)
		case 'i':
			// Integers below 32 bits are widened in calls, not in kernels.
			bad = x.Array || isFloat(x.Word) || x.Size() != size && !(size < 4 && x.Size() == 4)
		}
		if bad {
			return fmt.Sprintf("has %s as parameter %d, but its name says %s", Describe(x.Type), i+hidden+1, t.text)
		}
	}
	return ""
}
