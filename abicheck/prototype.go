package abicheck

import (
	"fmt"
	"strconv"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

const maxDiffer = 3

// prototype reports the first difference between the calls that two prototypes
// describe (PTX Interoperability 2.3), and names the others.
func (c *checker) prototype(name string, a, b side) {
	if c.count(name, "result", a, b, a.decl.Signature.Results, b.decl.Signature.Results) ||
		c.count(name, "parameter", a, b, a.decl.Signature.Params, b.decl.Signature.Params) {
		return
	}
	if a.decl.Has(".noreturn") && b.decl.HasBody && !b.decl.Has(".noreturn") {
		// This is an error, because ptxas drops the code after a call that does not return.
		c.log.Error(diag.Noreturn, a.at(a.decl.NameSpan), fmt.Sprintf("%s is .noreturn here but may return where it is defined", c.log.Name(name))).Of(name).
			Note(b.at(b.decl.NameSpan), b.note()).
			WithHelp(remedy(a, b, "prototype"))
	}
	for _, word := range []string{".abi_preserve", ".abi_preserve_control"} {
		if x, y := numberOf(a, word), numberOf(b, word); x != y {
			c.log.Error(diag.ABIPreserve, a.at(a.decl.NameSpan), fmt.Sprintf("%s has %s here but %s %s", c.log.Name(name), x, y, b.where())).Of(name).
				Note(b.at(b.decl.NameSpan), b.note()).
				WithHelp("caller and function would keep different registers; " + remedy(a, b, "prototype"))
		}
	}
	apart := moved(a.decl.Signature, b.decl.Signature)
	if apart != nil && (a.file == b.file || a.decl.Kind == ptx.Entry || c.aliased(a) || c.aliased(b)) {
		for i := range apart {
			apart[i] = true // because ptxas requires these to be equal
		}
	}
	var first *diag.Message
	var differ []string
	for i := range a.decl.Signature.Len() {
		difference := Difference(*a.decl.Signature.At(i), *b.decl.Signature.At(i))
		if difference == "" || difference == "alignment" && (apart == nil || !apart[i]) {
			continue
		}
		if first == nil {
			first = c.param(name, i, a, b, difference)
		}
		differ = append(differ, fmt.Sprintf("%s differs in %s", numbered(i, len(a.decl.Signature.Results)), difference))
	}
	if n := len(differ) - maxDiffer; n > 0 {
		differ = append(differ[:maxDiffer], fmt.Sprintf("and %d more", n))
	}
	if first != nil {
		first.WithHelp(strings.Join(differ, ", ") + "; " + remedy(a, b, "prototype"))
	}
}

// numberOf returns a directive of a function with its number in decimal:
// ".abi_preserve 8", "no .abi_preserve".
func numberOf(s side, word string) string {
	for _, a := range s.decl.Attrs {
		if a.Word == word {
			number := strings.TrimSpace(strings.TrimPrefix(s.file.Src.String(a.Span), word))
			if n, ok := ptx.ParseInt(number); ok {
				number = strconv.FormatInt(n, 10)
			}
			return word + " " + number
		}
	}
	return "no " + word
}

// aliased reports whether the function is an alias or has one. Its prototype must
// then be identical.
func (c *checker) aliased(s side) bool {
	if c.aliases == nil {
		c.aliases = map[*ptx.Decl]bool{}
		for _, f := range c.t.Files {
			for _, a := range f.Aliases {
				c.aliases[f.DeclOf(a.Name)] = true
				c.aliases[f.DeclOf(a.Target)] = true
			}
		}
	}
	return c.aliases[s.decl]
}

// remedy returns how to make two prototypes, or declarations of a variable, agree.
// Modules of C++ get them from one header, others have their own.
func remedy(a, b side, what string) string {
	if a.decl.Defines() {
		a, b = b, a
	}
	const numba = `pass abi="c" to declare_device`
	more := what == "prototype" && a.decl.Signature.Len() > b.decl.Signature.Len() // perhaps of Numba, because it returns a status, and the result through a pointer
	name, line, _ := a.at(a.decl.NameSpan).Position()
	name = diag.Escape(name)
	switch {
	case a.file != b.file && a.file.Language() == object.CXX && b.file.Language() == object.CXX:
		switch {
		case a.decl.Defines():
			return oneVersion
		case what == "prototype" && !strings.HasPrefix(a.file.Names[a.decl.Name], "_Z"): // because it is not known which types are old
			help := "compile both modules with one declaration of it"
			if more {
				help += "; if Numba compiled " + name + ", " + numba
			}
			return help
		}
		return "rebuild the module that saw the old " + what
	case a.decl.Defines():
		return "make the definitions agree"
	}
	correct := fmt.Sprintf("correct the declaration at %s:%d", name, line)
	if more && a.file.Language() == object.Numba {
		return numba + " if the function has the ABI of C; otherwise " + correct
	}
	return correct
}

func (c *checker) count(name, what string, a, b side, x, y []ptx.Type) (differs bool) {
	if len(x) == len(y) {
		return false
	}
	m := c.log.Error(diag.ParamCount, a.at(a.decl.NameSpan), fmt.Sprintf("%s has %s here but %s %s", c.log.Name(name), Plural(len(x), what), Plural(len(y), what), b.where())).Of(name).
		Note(b.at(b.decl.NameSpan), b.note()).
		WithHelp(remedy(a, b, "prototype"))
	if d := len(x) - len(y); what == "parameter" && d*d == 1 && strings.HasPrefix(name, "_ZN") { // the name has the others
		m.WithHelp("a member function has its object as the first parameter; declare it static in both modules, or in none")
	}
	return true
}

// Plural returns "2 parameters", or "no results".
func Plural(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// param reports that result or parameter i, an index of Signature.At, differs.
func (c *checker) param(name string, i int, a, b side, difference string) *diag.Message {
	x, y := c.params(a)[i], c.params(b)[i]
	verb := "returns"
	if i >= len(a.decl.Signature.Results) {
		verb = "takes"
	}
	return c.log.Error(rules[difference], a.at(x.Span), fmt.Sprintf("%s %s %s here but %s %s", c.log.Name(name), verb, Describe(x.Type), Describe(y.Type), b.where())).Of(name).
		Note(b.at(y.Span), b.note())
}

// numbered returns "parameter 2", or "result" if there is one, for an index of Signature.At.
func numbered(i, results int) string {
	switch {
	case i >= results:
		return "parameter " + strconv.Itoa(i-results+1)
	case results == 1:
		return "result"
	}
	return "result " + strconv.Itoa(i+1)
}

// Describe returns a type in the words of a message: "a .b32", "16 bytes aligned to
// 8".
func Describe(t ptx.Type) string {
	reg := ""
	if t.Space == ".reg" {
		reg = " in a register"
	}
	switch {
	case t.Unsized:
		return fmt.Sprintf("any number of bytes aligned to %d%s", t.Alignment(), reg)
	case t.Array && t.Size() < 0:
		return fmt.Sprintf("an unknown number of bytes aligned to %d%s", t.Alignment(), reg)
	case t.Array:
		return fmt.Sprintf("%d bytes aligned to %d%s", t.Size(), t.Alignment(), reg)
	case t.Vector > 0:
		return fmt.Sprintf("a .v%d %s%s", t.Vector, t.Word, reg)
	case t.Alignment() != max(1, t.ElementSize()):
		return fmt.Sprintf("a %s aligned to %d%s", t.Word, t.Alignment(), reg)
	}
	return "a " + t.Word + reg
}

// Difference returns how two parameters differ in the ABI, in one or two words. It
// returns "" if a call may be written against one and defined with the other:
//
//  1. the same state space (.param or .reg)
//  2. the same shape: a scalar, an array or an unsized array
//  3. the same size, and the same alignment unless both are passed in the same
//     place (moved)
//  4. .bN matches every type of its width; .uN and .sN match each other; an integer
//     does not match a float
//
// Unknown types of the same spelling are equal.
func Difference(a, b ptx.Type) string {
	sizeA, sizeB := a.Size(), b.Size()
	switch {
	case a.Space != b.Space:
		return "state space"
	case a.Array != b.Array || a.Unsized != b.Unsized || a.Vector != b.Vector:
		return "shape"
	case sizeA != sizeB:
		return "size"
	case sizeA < 0 && a.Word != b.Word:
		return "type"
	case a.Alignment() != b.Alignment():
		return "alignment"
	case !a.Array && isFloat(a) != isFloat(b) && ptx.TypeClass(a.Word) != 'b' && ptx.TypeClass(b.Word) != 'b':
		return "type"
	}
	return ""
}

// rules maps the words of Difference to the rules that they break.
var rules = map[string]diag.ID{
	"state space": diag.ParamSpace, "shape": diag.ParamShape, "size": diag.ParamSize, "alignment": diag.ParamAlign, "type": diag.ParamType,
}

func isFloat(t ptx.Type) bool { return ptx.TypeClass(t.Word) == 'f' }
