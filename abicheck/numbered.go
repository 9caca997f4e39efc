package abicheck

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// numberedNames are what compilers write before the number of a function, a label or (in
// comments) a call in its module.
var numberedNames = [...]string{"$L__BB", "__local_depot", "$L__tmp", "$L__func_begin", "$L__func_end", "// callseq "}

// renumbering is how the numbers after these names differ between two bodies.
type renumbering [len(numberedNames)]struct {
	by int // what the second has more
	n  int // of the names
}

// of returns the name in the second body of what the first one declares.
func (r *renumbering) of(name string) string {
	for k, prefix := range numberedNames {
		if rest, ok := strings.CutPrefix(name, prefix); ok && r[k].n > 0 {
			if number, digits := leadingNumber(rest); digits > 0 {
				return prefix + strconv.Itoa(number+r[k].by) + rest[digits:]
			}
		}
	}
	return name
}

// sameNumbered reports whether two bodies or initial values are equal to the letter, except
// for their .loc lines, module-scope names that mean the same, and a constant difference of
// such numbers. It is tried before match, because most copies of an inline function in several
// modules are equal in this way, and it takes a small part of the time of match, which finds them
// equal, too.
func sameNumbered(t *resolve.Table, a, b resolve.DeclID) (r renumbering, same bool) {
	m := matcher{t: t, a: contents(t, a), b: contents(t, b)}
	same = sameMeaning(m.a, m.b) && sameParameterNames(m.a, m.b) && r.read(&m)
	return r, same
}

func (r *renumbering) read(m *matcher) bool {
	x, y := m.a, m.b
	cuts, others := newCuts(x), newCuts(y)
	from, otherFrom := x.span.Off, y.span.Off
	for {
		cut, name := cuts.next()
		other, otherName := others.next()
		if cut.Off < from || other.Off < otherFrom { // the names of a list such as L<3>
			return false
		}
		if !r.part(x.f.Src.Text[from:cut.Off], y.f.Src.Text[otherFrom:other.Off]) || (name < 0) != (otherName < 0) || name >= 0 && !m.sameSymbol(name, otherName) {
			return false
		}
		if from, otherFrom = cut.End(), other.End(); from == x.span.End() && otherFrom == y.span.End() {
			break
		}
	}
	for k, name := range numberedNames {
		if r[k].n > 0 && r[k].n != bytes.Count(x.f.Src.Bytes(x.span), []byte(name)) {
			return false // because some have the same number
		}
	}
	return true
}

func (r *renumbering) part(a, b []byte) bool {
	for {
		at := commonPrefix(a, b)
		if at == len(a) || at == len(b) {
			return len(a) == len(b)
		}
		for at > 0 && isDigit(a[at-1]) {
			at--
		}
		k := slices.IndexFunc(numberedNames[:], func(name string) bool {
			before, found := bytes.CutSuffix(a[:at], []byte(name))
			return found && (len(before) == 0 || bytes.IndexByte([]byte(" \t\n["), before[len(before)-1]) >= 0) // not the end of a longer name
		})
		p, digits := leadingNumber(a[at:])
		q, otherDigits := leadingNumber(b[at:])
		if k < 0 || digits == 0 || otherDigits == 0 {
			return false
		}
		if r[k].n == 0 {
			r[k].by = q - p
		}
		if r[k].n++; q-p != r[k].by {
			return false
		}
		a, b = a[at+digits:], b[at+otherDigits:]
	}
}

// leadingNumber returns the number at the start of a text, and its digits; none if it is not
// spelled as compilers spell it.
func leadingNumber[T string | []byte](text T) (number, digits int) {
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	if digits == 0 || digits > 9 || text[0] == '0' && digits > 1 {
		return 0, 0
	}
	number, _ = strconv.Atoi(string(text[:digits]))
	return number, digits
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func commonPrefix(a, b []byte) int {
	at, end := 0, min(len(a), len(b))
	for at < end && a[at] == b[at] {
		at++
	}
	return at
}

// cuts are the parts of a content that are not compared as text: .loc lines, and the uses of
// module-scope names.
type cuts struct {
	content
	locs []ptx.Loc
	used []ptx.Use
}

func newCuts(c content) *cuts {
	first, end := c.f.LocsIn(c.span)
	return &cuts{c, c.f.Locs[first:end], c.f.Uses[c.decl.FirstUse:c.decl.EndUse]}
}

// next returns the next cut, and the name that is used or -1. The last cut is empty, at the end of
// the content.
func (c *cuts) next() (span diag.Span, name ptx.NameID) {
	switch {
	case len(c.locs) > 0 && (len(c.used) == 0 || c.locs[0].Span.Off < c.used[0].Off):
		span, name = c.locs[0].Span, -1
		c.locs = c.locs[1:]
	case len(c.used) > 0:
		span, name = c.f.UseSpan(c.used[0]), c.used[0].Name
		c.used = c.used[1:]
	default:
		span, name = diag.Span{Off: c.span.End()}, -1
	}
	return span, name
}
