package optimize

import (
	"slices"
	"strings"
	"sync"

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

// reconsider forgets why functions cannot be inlined, because a pass may have removed the reasons,
// and lists the names of the module that ranges may hide.
func (s *state) reconsider() {
	for _, f := range s.functions {
		f.reason = nil
	}
	s.numbered = map[string]int64{}
	for name := range s.p.Names { // added names cannot be in a range
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
	if name := c.Undeclared(); name != "" { // because only the caller may declare it
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
		if _, known := slices.BinarySearch(knownInstructions(), op); !known {
			return "it uses " + op + ", which ptxlink does not know"
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

// knownInstructions lists the instructions that a function may have to be inlined, sorted. Others
// must be refused, because a later version of PTX may add an instruction that belongs to its
// function, as alloca does, or returns from it.
var knownInstructions = sync.OnceValue(func() []string {
	list := strings.Fields(`abs activemask add addc and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call cctl cctlu clusterlaunchcontrol clz
		cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu
		lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt
		rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct spcompress spdecompress sqrt st stmatrix sub subc suld suq sured sust
		szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4
		vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor`)
	slices.Sort(list)
	return list
})

// hides reports whether the module has a name that a range declares.
func (s *state) hides(base string, count int64) bool {
	least, known := s.numbered[base]
	return known && least < count
}

// described reports whether DWARF describes a function, because a section refers to its name or to
// a label in it.
func (s *state) described(f *function) bool {
	return s.p.Described[f.name] || len(s.p.Described) > 0 && slices.ContainsFunc(f.code().Locals, func(l ptx.LocalDecl) bool {
		return l.Kind == ptx.CodeLabel && s.p.Described[f.src.String(l.Name)]
	})
}
