package optimize

import (
	"strings"

	"ptxlink/object/ptx"
)

// unfit returns the reason why a function cannot be inlined anywhere, or "".
func (s *state) unfit(d *ptx.Decl) string {
	reason, known := s.reasons[d.Name]
	if !known {
		reason = s.findUnfit(d)
		s.reasons[d.Name] = reason
	}
	return reason
}

func (s *state) findUnfit(d *ptx.Decl) string {
	m := s.m
	if d.Kind == ptx.Entry {
		return "it is an entry"
	}
	if s.interposable(d) {
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
		case t.Vector != 0, t.Size() <= 0, t.Space == ".reg" && t.Array:
			return "parameter types that are not understood"
		}
	}
	if s.described(d) {
		return "it has debug information"
	}
	c := s.code(d)
	for _, st := range c.Statements {
		if reason := unfitStatement(c, st); reason != "" {
			return reason
		}
	}
	for _, r := range c.TargetRanges {
		for _, target := range r.Targets {
			if target == ptx.NoReference {
				return "a branch target that is not defined"
			}
		}
	}
	for i := range c.Locals {
		l := &c.Locals[i]
		switch l.Type.Space {
		case "", ".reg", ".param", ".local":
		case ".shared", ".global", ".const":
			if s.prepared {
				return "its static object " + m.Src.String(l.Name) + " cannot be moved"
			}
		default:
			return "it declares " + l.Type.Space
		}
		if l.Count >= 0 && l.Kind == ptx.Object && l.Type.Space == ".param" {
			return "a range of objects"
		}
		if s.prepared && l.Count >= 0 && s.hides(m.Src.String(l.Name), l.Count) {
			return "names that hide those of the module"
		}
	}
	if _, indirect := usages(c); indirect {
		return "an access of parameters through a register"
	}
	return ""
}

// interposable reports whether nvlink may choose another definition of a function.
func (s *state) interposable(d *ptx.Decl) bool { return s.Interposable && d.Linkage == ptx.Weak }

func unfitStatement(c *ptx.Code, st ptx.Statement) string {
	op := c.Opcode(st)
	switch st.Kind {
	case ptx.Instruction:
		switch op {
		case "alloca", "stacksave", "stackrestore":
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
	if s.numbered == nil {
		s.numbered = map[string]int64{}
		for _, name := range s.m.Names {
			if b, number, ok := ptx.SplitNumber(name); ok {
				if least, known := s.numbered[b]; !known || number < least {
					s.numbered[b] = number
				}
			}
		}
	}
	least, known := s.numbered[base]
	return known && least < count
}

// described reports whether DWARF describes a function: a section refers to its name or
// to a label in it.
func (s *state) described(d *ptx.Decl) bool {
	m := s.m
	if len(m.SectionNames()) == 0 {
		return false
	}
	if m.SectionName([]byte(m.Names[d.Name])) >= 0 {
		return true
	}
	c := s.code(d)
	for i := range c.Locals {
		if c.Locals[i].Kind == ptx.CodeLabel && m.SectionName(m.Src.Bytes(c.Locals[i].Name)) >= 0 {
			return true
		}
	}
	return false
}
