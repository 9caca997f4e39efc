package container

import (
	"fmt"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
)

// PrototypeType is a type in the prototype of a cubin (CubinSymbol.Prototype).
type PrototypeType struct {
	Letter byte
	Count  int64 // elements of an array; -1 for a scalar
}

// PrototypeWords maps the letters of a prototype to their types and sizes in bytes.
var PrototypeWords = map[byte]struct {
	Word string
	Size int64
}{'b': {".b8", 1}, 'h': {".b16", 2}, 'i': {".b32", 4}, 'l': {".b64", 8}, 'x': {".b128", 16}, 'f': {".f32", 4}, 'd': {".f64", 8}}

// ParsePrototype returns the types of the result, if there is one, and of the parameters. It
// ignores the rest, which is about registers. ok is false for a prototype with other letters.
func ParsePrototype(text string) (result *PrototypeType, params []PrototypeType, ok bool) {
	text, _, _ = strings.Cut(text, "|")
	if !prototypeForm().MatchString(text) {
		return nil, nil, false
	}
	for i, word := range prototypeWord().FindAllString(text, -1) {
		t := PrototypeType{word[0], -1}
		if len(word) > 1 {
			n, err := strconv.ParseInt(word[1:], 10, 62)
			if t.Count = n; err != nil {
				return nil, nil, false
			}
		}
		switch {
		case i > 0:
			params = append(params, t)
		case t.Letter != 'v':
			result = &t
		}
	}
	return result, params, true
}

var (
	prototypeForm = sets.Regexp(`^#[vbhilxfd][0-9]*([bhilxfd][0-9]*)*$`)
	prototypeWord = sets.Regexp(`[a-z][0-9]*`)
)

// Bytes returns the size of the type.
func (t PrototypeType) Bytes() int64 {
	if t.Count < 0 {
		return PrototypeWords[t.Letter].Size
	}
	return PrototypeWords[t.Letter].Size * t.Count
}

// String returns the type as PTX spells it.
func (t PrototypeType) String() string {
	if t.Count >= 0 {
		return fmt.Sprintf("%s[%d]", PrototypeWords[t.Letter].Word, t.Count)
	}
	return PrototypeWords[t.Letter].Word
}

// PrototypeText returns the result, if there is one, and the parameters of a prototype of a cubin in
// PTX: "(.b32) (.b64, .b8[16])" for "#ilb16". It returns a prototype that it cannot parse unchanged.
func PrototypeText(prototype string) string {
	result, params, ok := ParsePrototype(prototype)
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
