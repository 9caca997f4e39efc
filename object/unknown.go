package object

import (
	"strings"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Words returns the words of a statement that the parser does not know. The first is its directive.
func (f *File) Words(o ptx.Other) []string {
	return strings.FieldsFunc(f.Src.String(o.Span), func(r rune) bool { return strings.ContainsRune(" \t\r\n\f(){}[],;:+=\"", r) })
}

// directives begin the statements that define and declare names.
var directives = []string{".visible", ".extern", ".weak", ".common", ".func", ".entry", ".global", ".const", ".alias"}

// Misspelt returns the directive that an unknown one is probably meant to be, or "".
func Misspelt(directive string) string { return diag.Nearest(directives, directive) }
