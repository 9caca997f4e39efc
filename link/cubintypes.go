package link

import (
	"fmt"
	"strconv"
	"strings"

	"ptxlink/abicheck"
	"ptxlink/internal/lazy"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// cubinType is a type in the prototype of a cubin (container.CubinSymbol.Prototype).
type cubinType struct {
	letter byte
	count  int64 // elements of an array; -1 for a scalar
}

// cubinWords maps the letters of a prototype to their types and sizes in bytes.
var cubinWords = map[byte]struct {
	word string
	size int64
}{'b': {".b8", 1}, 'h': {".b16", 2}, 'i': {".b32", 4}, 'l': {".b64", 8}, 'x': {".b128", 16}, 'f': {".f32", 4}, 'd': {".f64", 8}}

// parsePrototype returns the types of the result, if there is one, and of the parameters. It
// ignores the rest, which is about registers. ok is false for a prototype with other letters.
func parsePrototype(text string) (result *cubinType, params []cubinType, ok bool) {
	text, _, _ = strings.Cut(text, "|")
	if !prototypeForm().MatchString(text) {
		return nil, nil, false
	}
	for i, word := range prototypeWord().FindAllString(text, -1) {
		t := cubinType{word[0], -1}
		if len(word) > 1 {
			n, err := strconv.ParseInt(word[1:], 10, 62)
			if t.count = n; err != nil {
				return nil, nil, false
			}
		}
		switch {
		case i > 0:
			params = append(params, t)
		case t.letter != 'v':
			result = &t
		}
	}
	return result, params, true
}

var (
	prototypeForm = lazy.Regexp(`^#[vbhilxfd][0-9]*([bhilxfd][0-9]*)*$`)
	prototypeWord = lazy.Regexp(`[a-z][0-9]*`)
)

func (t cubinType) size() int64 {
	if t.count < 0 {
		return cubinWords[t.letter].size
	}
	return cubinWords[t.letter].size * t.count
}

// String returns the type as PTX spells it.
func (t cubinType) String() string {
	if t.count >= 0 {
		return fmt.Sprintf("%s[%d]", cubinWords[t.letter].word, t.count)
	}
	return cubinWords[t.letter].word
}

// beside returns a description of the type for a message that names another type, too. It gives the
// size if the sizes differ.
func (t cubinType) beside(other cubinType) string {
	if t.count >= 0 && t.size() != other.size() {
		return fmt.Sprintf("%d bytes", t.size())
	}
	return "a " + t.String()
}

// CubinTypes returns the result, if there is one, and the parameters of a prototype of a cubin in
// PTX: "(.b32) (.b64, .b8[16])" for "#ilb16". It returns a prototype that it cannot parse unchanged.
func CubinTypes(prototype string) string {
	result, params, ok := parsePrototype(prototype)
	if !ok {
		return prototype
	}
	var words []string
	for _, p := range params {
		words = append(words, p.String())
	}
	text := "(" + strings.Join(words, ", ") + ")"
	if result != nil {
		text = "(" + result.String() + ") " + text
	}
	return text
}

// typeOf returns the cubin's form of a type; ok is false if that is not known.
func typeOf(t ptx.Type) (c cubinType, ok bool) {
	if t.Vector > 0 || t.Array && (t.Unsized || t.Count < 0) || len(t.Word) < 3 {
		return c, false
	}
	c.count = -1
	if t.Array {
		c.count = t.Count
	}
	float := t.Word == ".f32" || t.Word == ".f64"
	for letter, w := range cubinWords {
		if w.size == ptx.TypeSize(t.Word) && float == (letter == 'f' || letter == 'd') && w.size > 0 {
			c.letter = letter
			return c, true
		}
	}
	return c, false
}

// differsFrom reports a declaration of a module whose types differ from the types in a cubin. Any
// difference must be reported, even between .b32 and .f32, because nvlink refuses it.
func differsFrom(in cubinSymbol, d *ptx.Decl, at diag.Place, log *diag.Log) bool {
	result, params, ok := parsePrototype(in.Prototype)
	if d == nil || d.Signature == nil || !ok {
		return false
	}
	name, help := log.Name(in.Name), "nvlink compares the types: declare the function as it was compiled, or compile it again"
	var results []cubinType
	if result != nil {
		results = []cubinType{*result}
	}
	for _, part := range []struct {
		what, verb string
		here       []ptx.Type
		there      []cubinType
	}{{"result", "returns", d.Signature.Results, results}, {"parameter", "takes", d.Signature.Params, params}} {
		if len(part.here) != len(part.there) {
			log.Error(diag.ParamCount, at, fmt.Sprintf("%s has %s here but %s in %s", name, abicheck.Plural(len(part.here), part.what), abicheck.Plural(len(part.there), part.what), in.in.File())).Of(in.Name).
				WithHelp(help)
			return true
		}
		for i, t := range part.here {
			ours, known := typeOf(t)
			theirs := part.there[i]
			if !known || ours == theirs {
				continue
			}
			rule := diag.ParamType
			switch {
			case (ours.count < 0) != (theirs.count < 0):
				rule = diag.ParamShape
			case ours.size() != theirs.size():
				rule = diag.ParamSize
			}
			log.Error(rule, at, fmt.Sprintf("%s %s %s here but %s in %s", name, part.verb, ours.beside(theirs), theirs.beside(ours), in.in.File())).Of(in.Name).
				WithHelp(help)
			return true
		}
	}
	return false
}

// kernelDiffers reports a declaration of a kernel whose parameters differ from the cubin that
// defines it, because nvlink does not compare them. A cubin that only uses a kernel does not record
// its parameters.
func kernelDiffers(in cubinSymbol, d *ptx.Decl, at diag.Place, log *diag.Log) bool {
	if d.Signature == nil || in.Params == nil {
		return false
	}
	name, help := log.Name(in.Name), "the launch would pass other bytes: declare the kernel as it was compiled, or compile it again"
	report := func(rule diag.ID, text string) bool {
		log.Error(rule, at, text+" in "+in.in.File()).Of(in.Name).WithHelp(help)
		return true
	}
	if here, there := len(d.Signature.Params), len(in.Params); here != there {
		return report(diag.ParamCount, fmt.Sprintf("%s has %s here but %s", name, abicheck.Plural(here, "parameter"), abicheck.Plural(there, "parameter")))
	}
	end := int64(0)
	for i, t := range d.Signature.Params {
		there := in.Params[i]
		offset := (end + t.Alignment() - 1) / t.Alignment() * t.Alignment()
		switch {
		case t.Size() < 0 || t.Unsized || ptx.Opaque(t.Word):
			return false
		case t.Size() != int64(there.Size):
			return report(diag.ParamSize, fmt.Sprintf("%s takes %d bytes as parameter %d here but %d", name, t.Size(), i+1, there.Size))
		case offset != int64(there.Offset):
			return report(diag.ParamAlign, fmt.Sprintf("parameter %d of %s is at byte %d here but at byte %d", i+1, name, offset, there.Offset))
		}
		end = offset + t.Size()
	}
	return false
}
