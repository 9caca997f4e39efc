package abicheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// CxxNames compares the parameters that an Itanium C++ name encodes with the parameters of the PTX
// function (PTX Interoperability 7): their number, and class and size where the type is built in. A
// difference is only a warning, because the name may have been written by hand. It compares only
// what all compilers do:
//
//  1. `this`, the address of a result of class type and the state of a Julia kernel
//     come before the parameters in the name.
//  2. A structure, union or enumeration has any shape: Numba passes an array as
//     seven parameters, C omits empty structures. Names with these are not checked.
//  3. Packs, variable arguments, constructors and destructors are not checked.
//  4. A __grid_constant__ parameter of a kernel is an array of bytes.
//  5. Compilers do not contradict their own names, and to read the names of much C++ takes longer
//     than the rest of the link. Names are checked only in modules that look hand-written.
//
// Functions without linkage are skipped, because compilers drop unused parameters of static
// functions.
func CxxNames(t *resolve.Table, log *diag.Log) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !strings.HasPrefix(s.Name, "_Z") {
			continue
		}
		id := s.Main()
		cxxName(t.Files[id.File], id.Name, log)
	}
}

func cxxName(f *object.File, name ptx.NameID, log *diag.Log) {
	d := f.DeclOf(name)
	if d == nil || d.Kind == ptx.Variable || !f.HandWritten() {
		return
	}
	if difference := cxxDifference(f.Names[name], d, f.AddressSize); difference != "" {
		log.Warn(diag.Mangled, f.At(d.NameSpan), fmt.Sprintf("%s %s", log.Name(f.Names[name]), difference)).Of(f.Names[name]).
			WithHelp("the name says what the source declares; rebuild the module, or rename the function if it was written by hand")
	}
}

// cxxDifference returns how a function differs from its mangled name, in the words of a message; "" if it does not, or
// if the name does not determine it.
func cxxDifference(name string, d *ptx.Decl, addressSize int) string {
	sig, ok := parseCxx(name)
	if !ok {
		return ""
	}
	return sig.difference(d, addressSize)
}

// difference returns how a function differs from a signature, whose hidden parameters
// it may have. It returns "" if it does not.
func (sig *cxxSignature) difference(d *ptx.Decl, addressSize int) string {
	difference := sig.differs(d, addressSize, sig.this)
	for hidden := sig.this + 1; hidden <= sig.this+2 && difference != "" && mayBeHidden(d, addressSize, hidden); hidden++ {
		if sig.differs(d, addressSize, hidden) == "" {
			return ""
		}
	}
	return difference
}

type cxxSignature struct {
	params []cxxType
	this   int // 1 if the name belongs to a non-static member function
}

// cxxType holds what a PTX parameter shows of a type.
type cxxType struct {
	of   demangle.AST
	kind byte  // 'i' integer, 'f' float, 'p' pointer, 's' another scalar, 0 unknown
	size int64 // in bytes; 0 if it depends on the host (pointers, long)
}

// String returns the spelling of a type that classify returned.
func (t cxxType) String() string {
	if t.of == nil {
		return ""
	}
	return demangle.ASTToString(t.of, demangle.MaxLength(8)) // limit: 256 bytes
}

// fills reports whether a value of the type may take a number of bytes.
func (t cxxType) fills(size int64, addressSize int) bool {
	switch t.kind {
	case 'p':
		return addressSize == 0 || size == int64(addressSize)/8
	case 's': // long, wchar_t
		return size == 2 || size == 4 || size == 8
	}
	return size == t.size
}

// parseCxx parses a mangled function name. ok is false for names of other things
// and for unsupported names.
func parseCxx(name string) (sig cxxSignature, ok bool) {
	if len(name) > diag.MaxMangled || diag.Misread(name) {
		return sig, false
	}
	ast, err := demangle.ToAST(name)
	if err != nil {
		return sig, false
	}
	typed, isTyped := ast.(*demangle.Typed)
	if !isTyped || special(typed.Name) {
		return sig, false
	}
	function := typed.Type
	if m, isMethod := function.(*demangle.MethodWithQualifiers); isMethod {
		function, sig.this = m.Method, 1
	}
	ft, isFunction := function.(*demangle.FunctionType)
	if !isFunction {
		return sig, false
	}
	for _, arg := range ft.Args {
		if b, ok := arg.(*demangle.BuiltinType); ok && b.Name == "void" {
			continue
		}
		t := classify(arg)
		if t.kind == 0 { // a class, a pack, variable arguments
			return sig, false
		}
		sig.params = append(sig.params, t)
	}
	return sig, true
}

// special reports constructors and destructors, which cannot be compared because they may take a
// table besides `this`.
func special(name demangle.AST) bool {
	return Within(name, func(a demangle.AST) bool {
		switch a.(type) {
		case *demangle.Constructor, *demangle.Destructor:
			return true
		}
		return false
	})
}

// Within reports whether a name, or any part of it, is as wanted.
func Within(name demangle.AST, wanted func(demangle.AST) bool) bool {
	const few = 32
	found, n := false, 0
	var seen map[demangle.AST]bool // of long names, in which substitutions occur repeatedly
	name.Traverse(func(a demangle.AST) bool {
		found = found || wanted(a)
		if n++; n < few {
			return !found
		}
		return sets.Add(&seen, a) && !found
	})
	return found
}

// mayBeHidden reports whether the first parameters, as many as hidden, can be
// missing from the name, because they are addresses or structures.
func mayBeHidden(d *ptx.Decl, addressSize, hidden int) bool {
	return len(d.Signature.Params) >= hidden && !slices.ContainsFunc(d.Signature.Params[:hidden], func(p ptx.Type) bool {
		return !p.Array && (isFloat(p) || addressSize != 0 && p.Size() != int64(addressSize)/8)
	})
}

// builtins holds built-in types by name; the sizes are the same on every CUDA host.
var builtins = map[string]cxxType{
	"bool": {kind: 'i', size: 1}, "char": {kind: 'i', size: 1}, "signed char": {kind: 'i', size: 1}, "unsigned char": {kind: 'i', size: 1}, "char8_t": {kind: 'i', size: 1},
	"short": {kind: 'i', size: 2}, "unsigned short": {kind: 'i', size: 2}, "char16_t": {kind: 'i', size: 2},
	"int": {kind: 'i', size: 4}, "unsigned int": {kind: 'i', size: 4}, "char32_t": {kind: 'i', size: 4},
	"long": {kind: 's'}, "unsigned long": {kind: 's'}, "wchar_t": {kind: 's'},
	"long long": {kind: 'i', size: 8}, "unsigned long long": {kind: 'i', size: 8},
	"float": {kind: 'f', size: 4}, "double": {kind: 'f', size: 8},
}

func classify(arg demangle.AST) (t cxxType) {
	switch a := arg.(type) {
	case *demangle.TypeWithQualifiers:
		t = classify(a.Base)
	case *demangle.PointerType, *demangle.ReferenceType, *demangle.RvalueReferenceType:
		if t.kind = 'p'; inAddressSpace(a) { // 32 bits with --nvptx-short-ptr
			t.kind = 's'
		}
	case *demangle.BuiltinType:
		t = builtins[a.Name]
	case *demangle.TemplateParam:
		if a.Template != nil && a.Index < len(a.Template.Args) {
			switch inner := a.Template.Args[a.Index].(type) {
			case *demangle.BuiltinType, *demangle.PointerType, *demangle.TypeWithQualifiers:
				return classify(inner)
			}
		}
	}
	t.of = arg
	return t
}

// inAddressSpace reports whether a pointer has clang's address_space or a similar
// qualifier.
func inAddressSpace(pointer demangle.AST) bool {
	return Within(pointer, func(a demangle.AST) bool {
		_, vendor := a.(*demangle.VendorQualifier)
		return vendor
	})
}

// differs returns the difference between a PTX function and the signature with this
// many hidden parameters, or "" if there is none.
func (sig *cxxSignature) differs(d *ptx.Decl, addressSize, hidden int) string {
	want := len(sig.params) + hidden
	if have := len(d.Signature.Params); have != want {
		return fmt.Sprintf("has %s here, but its name says %d", Plural(have, "parameter"), want)
	}
	for i, t := range sig.params {
		x := d.Signature.Params[i+hidden]
		bad := false
		size := t.size
		if x.Array && d.Kind == ptx.Entry && t.fills(x.Size(), addressSize) {
			continue // __grid_constant__
		}
		switch t.kind {
		case 's':
			bad = x.Array
		case 'p':
			bad = x.Array || isFloat(x) || addressSize != 0 && x.Size() != int64(addressSize)/8
		case 'f':
			bad = x.Array || x.Size() != size || !isFloat(x) && ptx.TypeClass(x.Word) != 'b'
		case 'i':
			// 4 bytes are accepted as well, because integers below 32 bits are widened in calls,
			// but not in kernels.
			bad = x.Array || isFloat(x) || x.Size() != size && !(size < 4 && x.Size() == 4)
		}
		if bad {
			return fmt.Sprintf("has %s as parameter %d, but its name says %s", Describe(x), i+hidden+1, t)
		}
	}
	return ""
}
