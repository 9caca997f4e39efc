package program

import (
	"slices"
	"strings"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// contents are the sections of an output, in their order. Sections make it possible to replace functions after
// the plan: what stands before and after them stays.
type contents struct {
	head       ptx.Pieces // the record of the inputs, .version, .target, .address_size, files, pragmas
	externs    ptx.Pieces
	prototypes ptx.Pieces // one for each of Layout.declared
	statements ptx.Pieces // variables, aliases, unknown statements, metadata; variables of the optimiser
	bodies     ptx.Pieces // one for each of Layout.Bodies
	debug      []debugSection
	spaced     bool // the head ends with an empty line
}

type debugSection struct {
	name   string
	pieces ptx.Pieces
}

func (c *contents) each(yield func(ptx.Pieces) bool) {
	for _, section := range [...]ptx.Pieces{c.head, c.externs, c.prototypes, c.statements, c.bodies} {
		if !yield(section) {
			return
		}
	}
	for _, section := range c.debug {
		if !yield(section.pieces) {
			return
		}
	}
}

func (c *contents) all() (pieces ptx.Pieces) {
	count := 0
	for section := range c.each {
		count += len(section)
	}
	pieces = make(ptx.Pieces, 0, count)
	for section := range c.each {
		pieces = append(pieces, section...)
	}
	return pieces
}

func (c *contents) size() (n int) {
	for section := range c.each {
		n += section.Size()
	}
	return n
}

// parts yields the text in chunks that never split a name.
func (c *contents) parts(yield func([]byte) bool) {
	for section := range c.each {
		for part := range section.Parts {
			if !yield(part) {
				return
			}
		}
	}
}

// blank reports whether the first body must follow an empty line.
func (c *contents) blank() bool {
	return !c.spaced || len(c.externs)+len(c.prototypes)+len(c.statements) > 0
}

// addSection adds a debug section after an empty line, unless nothing but the head stands before it.
func (c *contents) addSection(name string, pieces ptx.Pieces) {
	if len(pieces) > 0 {
		pieces[0].Before = c.blank() || len(c.bodies)+len(c.debug) > 0
		c.debug = append(c.debug, debugSection{name, pieces})
	}
}

// addStrings adds text at the end of .debug_str.
func (c *contents) addStrings(text string) {
	for _, section := range slices.Backward(c.debug) {
		if section.name != ".debug_str" {
			continue
		}
		p := &section.pieces[len(section.pieces)-1]
		if p.Src == nil {
			p.Text = strings.TrimSuffix(p.Text, "}\n") + text + "}\n"
		} else {
			p.Edits = append(slices.Clip(p.Edits), ptx.Edit{Span: diag.Span{Off: p.Span.End() - 1}, Text: text})
		}
		return
	}
	c.debug = append(c.debug, debugSection{".debug_str", ptx.Pieces{{Text: "\n.section .debug_str\n{" + text + "}\n"}}})
}
