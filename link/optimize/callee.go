package optimize

import (
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// unfit returns the reason why a function cannot be inlined anywhere, or "".
func (s *state) unfit(f *function) string {
	if f.reason == nil {
		reason := s.findUnfit(f)
		f.reason = &reason
	}
	return *f.reason
}

// reconsider forgets why functions cannot be inlined, and lists the names of the module
// that ranges may hide.
func (s *state) reconsider() {
	for _, f := range s.functions {
		f.reason = nil
	}
	s.numbered = map[string]int64{}
	for name := range s.p.Names { // no range has an added one
		if b, number, ok := ptx.SplitNumber(name); ok {
			if least, known := s.numbered[b]; !known || number < least {
				s.numbered[b] = number
			}
		}
	}
}

func (s *state) findUnfit(f *function) string {
	d := f.decl
	if s.interposable(f) {
		return "nvlink may choose another definition"
	}
	for _, a := range d.Attrs {
		return "it has " + a.Word
	}
	for i := range d.Signature.Len() {
		t := d.Signature.At(i)
		switch {
		case t.Unsized:
			return "it has a variable number of arguments"
		case t.Vector != 0, t.Size() <= 0:
			return "parameter types that are not understood"
		}
	}
	if s.described(f) {
		return "it has debug information"
	}
	c := f.code()
	for _, st := range c.Statements {
		if reason := unfitStatement(c, st); reason != "" {
			return reason
		}
	}
	if slices.ContainsFunc(c.TargetRanges, func(r ptx.TargetRange) bool { return slices.Contains(r.Targets, ptx.NoReference) }) {
		return "a branch target that is not defined"
	}
	if name := c.Undeclared(); name != "" { // the caller may declare it
		return name + " is not declared in it"
	}
	for _, l := range c.Locals {
		switch {
		case !l.Static():
		case !slices.Contains(movable, l.Type.Space):
			return "it declares " + l.Type.Space
		case s.prepared:
			return "its static object " + f.src.String(l.Name) + " cannot be moved"
		}
		if l.Count >= 0 && l.Kind == ptx.Object && l.Type.Space == ".param" {
			return "a range of objects"
		}
	}
	if _, indirect := f.usages(); indirect {
		return "an access of parameters through a register"
	}
	return ""
}

// interposable reports whether nvlink may choose another definition of a function.
func (s *state) interposable(f *function) bool { return s.Interposable && f.linkage == ptx.Weak }

func unfitStatement(c *ptx.Code, st ptx.Statement) string {
	op := c.Opcode(st)
	switch st.Kind {
	case ptx.Instruction:
		switch op {
		case "alloca", "stacksave", "stackrestore", "trace":
			return "it uses " + op
		}
	case ptx.Directive:
		switch op {
		case ".reg", ".local", ".param", ".shared", ".global", ".const", ".loc", ".branchtargets", ".calltargets", ".callprototype":
		case ".pragma":
			for _, t := range c.Tokens[st.Op+1 : st.End] {
				text := strings.Trim(string(c.Text(t)), `"`)
				if t.Kind == ptx.String && text != "nounroll" && !strings.HasPrefix(text, "used_bytes_mask ") {
					return "it has a .pragma for the function"
				}
			}
		default:
			return "it has " + op
		}
	}
	return ""
}

// hides reports whether the module has a name that a range declares.
func (s *state) hides(base string, count int64) bool {
	least, known := s.numbered[base]
	return known && least < count
}

// described reports whether DWARF describes a function: a section refers to its name or
// to a label in it.
func (s *state) described(f *function) bool {
	return s.p.Described[f.name] || len(s.p.Described) > 0 && slices.ContainsFunc(f.code().Locals, func(l ptx.LocalDecl) bool {
		return l.Kind == ptx.CodeLabel && s.p.Described[f.src.String(l.Name)]
	})
}
