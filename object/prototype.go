package object

import (
	"fmt"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/ptx"
)

// prototypeWords maps the letters of a prototype of a cubin (container.CubinSymbol) to types.
var prototypeWords = map[byte]string{'b': ".b8", 'h': ".b16", 'i': ".b32", 'l': ".b64", 'x': ".b128", 'f': ".f32", 'd': ".f64"}

var (
	prototypeForm = sets.Regexp(`^#[vbhilxfd][0-9]*([bhilxfd][0-9]*)*$`)
	prototypeWord = sets.Regexp(`[a-z][0-9]*`)
)

// ParsePrototype returns the types of the result, if there is one, and of the parameters. It
// ignores the rest, which is about registers. ok is false for a prototype with other letters.
func ParsePrototype(text string) (s ptx.Signature, ok bool) {
	text, _, _ = strings.Cut(text, "|")
	if !prototypeForm().MatchString(text) {
		return s, false
	}
	for i, word := range prototypeWord().FindAllString(text, -1) {
		t := ptx.Type{Word: prototypeWords[word[0]], Array: len(word) > 1}
		if t.Array {
			n, err := strconv.ParseInt(word[1:], 10, 62)
			if t.Count = n; err != nil {
				return ptx.Signature{}, false
			}
		}
		switch {
		case i > 0:
			s.Params = append(s.Params, t)
		case t.Word != "":
			s.Results = append(s.Results, t)
		}
	}
	return s, true
}

// PrototypeType returns a type of a prototype as PTX spells it.
func PrototypeType(t ptx.Type) string {
	if t.Array {
		return fmt.Sprintf("%s[%d]", t.Word, t.Count)
	}
	return t.Word
}

// PrototypeText returns the result, if there is one, and the parameters of a prototype of a cubin in
// PTX: "(.b32) (.b64, .b8[16])" for "#ilb16". It returns a prototype that it cannot parse unchanged.
func PrototypeText(prototype string) string {
	s, ok := ParsePrototype(prototype)
	if !ok {
		return prototype
	}
	var words []string
	for _, t := range s.Params {
		words = append(words, PrototypeType(t))
	}
	text := "(" + strings.Join(words, ", ") + ")"
	if len(s.Results) > 0 {
		text = "(" + PrototypeType(s.Results[0]) + ") " + text
	}
	return text
}
