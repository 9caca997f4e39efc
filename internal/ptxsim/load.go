package ptxsim

import (
	"fmt"
	"strings"

	"ptxlink/object/ptx"
)

// module is one loaded module.
type module struct {
	*ptx.Module
	symbols map[ptx.NameID]*symbol
}

// symbol is what a module-scope name refers to: a function, an object, or nothing.
type symbol struct {
	name    string
	kind    ptx.DeclKind
	fn      *function
	obj     *Object
	space   space
	builtin func(t *thread, c *call) // of an undefined function
	decl    *ptx.Decl                // the winning declaration
	mod     *module
}

// function is a function with a body.
type function struct {
	name  string
	index int
	mod   *module
	decl  *ptx.Decl
	addr  uint64

	code      []instr
	registers int
	fill      []uint64 // the pattern of the registers
	slots     []*slot  // .param and .local objects
	results   []actual
	params    []actual
	entry     window // the parameters of an entry
	size      uint64 // of the frame
	align     int64
}

// slot is an object in the frame of a function.
type slot struct {
	name      string
	off, size int64
	align     int64
	addressed bool // pointers to it are valid
	unsized   bool // the last parameter of a variadic function; it ends the frame
}

func (m *Machine) load(modules []*ptx.Module) {
	for _, p := range modules {
		if p.AddressSize == 32 {
			panic(&Error{File: p.Src.Name, Thread: -1, Text: "modules with 32-bit addresses are not supported"})
		}
		mod := &module{p, map[ptx.NameID]*symbol{}}
		m.modules = append(m.modules, mod)
		for i := range p.Decls {
			m.declare(mod, &p.Decls[i])
		}
		for _, a := range p.Aliases {
			if s, target := mod.symbols[a.Name], mod.symbols[a.Target]; s != nil && target != nil && s != target {
				s.decl, s.mod = target.decl, target.mod
			}
		}
	}
	m.dynamic = &Object{Name: "dynamic shared memory", Space: ".shared", align: 4}
	// All names are resolved here. An alias shares the declaration of its target.
	done := map[*ptx.Decl]*symbol{}
	// Names that a linker or compiler may have numbered come last, so that they leave the
	// addresses of the others as they are.
	for _, numbered := range []bool{false, true} {
		for _, mod := range m.modules {
			m.defineAll(mod, numbered, done)
		}
	}
	var readers []*reader
	for _, f := range m.inOrder {
		readers = append(readers, m.scan(f))
	}
	// The size of static .shared memory is known here.
	statics := m.shared.objects
	m.shared.add(m.dynamic)
	m.shared.objects = statics
	for _, r := range readers {
		r.translate()
	}
	for _, mod := range m.modules {
		m.initialiseAll(mod)
	}
}

// defineAll defines the names of a module that are numbered, or those that are not.
func (m *Machine) defineAll(mod *module, numbered bool, done map[*ptx.Decl]*symbol) {
	for i := range mod.Decls {
		if d := &mod.Decls[i]; d.Kind == ptx.Variable && d.Linkage == ptx.Extern && d.Space == ".shared" && d.Unsized {
			m.dynamic.align = max(m.dynamic.align, d.Alignment())
		}
		s := mod.symbols[mod.Decls[i].Name]
		if numbered != (original(s.name) != s.name) {
			continue
		}
		if first, seen := done[s.decl]; seen {
			s.fn, s.obj, s.space, s.builtin = first.fn, first.obj, first.space, first.builtin
			continue
		}
		done[s.decl] = s
		m.define(s)
	}
}

// initialiseAll gives the variables of a module their initial values.
func (m *Machine) initialiseAll(mod *module) {
	for i := range mod.Decls {
		d := &mod.Decls[i]
		s := mod.symbols[d.Name]
		if d.Kind == ptx.Variable && d.Init.Len > 0 && s.decl == d {
			c := mod.Code(d)
			mod.initialise(c, 0, int32(len(c.Tokens)), d.Type, mod.dims(d.Dims), s.obj)
		}
	}
}

// declare enters a declaration into the symbols, and replaces a weaker one.
func (m *Machine) declare(mod *module, d *ptx.Decl) {
	name := mod.Names[d.Name]
	s := mod.symbols[d.Name]
	if s == nil && d.Linkage != ptx.Local {
		s = m.symbols[name]
	}
	if s == nil {
		s = &symbol{name: name, kind: d.Kind}
	}
	if mod.symbols[d.Name] == nil && d.Linkage != ptx.Local {
		m.symbols[name] = s
	}
	mod.symbols[d.Name] = s
	if s.decl == nil {
		s.decl, s.mod = d, mod
		return
	}
	old := s.decl
	if old.Kind == ptx.Variable != (d.Kind == ptx.Variable) {
		mod.fail(d.NameSpan.Off, "%s is both a function and a variable", name)
	}
	switch rank, was := strength(d), strength(old); {
	case rank == was && rank == 4:
		mod.fail(d.NameSpan.Off, "%s is defined twice", name)
	case rank > was, rank == was && rank == 1 && d.Size() > old.Size():
		s.decl, s.mod = d, mod
	}
}

// strength orders declarations of one name by what wins.
func strength(d *ptx.Decl) int {
	switch {
	case !d.Defines():
		return 0
	case d.Binding() == ptx.Common:
		return 1
	case d.Linkage == ptx.Weak:
		return 2
	}
	return 4
}

// define gives a symbol its function or memory.
func (m *Machine) define(s *symbol) {
	d := s.decl
	if d.Kind != ptx.Variable {
		if !d.HasBody {
			s.builtin = builtins[s.name]
			return
		}
		f := &function{name: s.name, index: len(m.inOrder), mod: s.mod, decl: d}
		f.addr = alignedTo(codeWindow|hashOf(original(s.name))>>16, 16)
		for m.funcs[f.addr] != nil {
			f.addr += 32
		}
		m.funcs[f.addr] = f
		m.inOrder = append(m.inOrder, f)
		s.fn = f
		return
	}
	if d.Linkage != ptx.Extern {
		o := &Object{Name: s.name, size: d.Size(), align: d.Alignment()}
		m.defineObject(s, o, d.Space, d.NameSpan.Off)
	} else if d.Space == ".shared" && d.Unsized {
		s.obj, s.space = m.dynamic, shared
	}
}

// defineObject places a variable of the module or of a function.
func (m *Machine) defineObject(s *symbol, o *Object, where string, off int32) {
	if o.size < 0 {
		s.mod.fail(off, "the size of %s is unknown", o.Name)
	}
	o.Space = where
	switch {
	case where == ".global":
		s.space = global
		o.Data = make([]byte, o.size)
		m.place(o)
	case strings.HasPrefix(where, ".const"):
		s.space, o.Space = constant, ".const"
		o.Data = make([]byte, o.size)
		m.constant.place(o)
	case where == ".shared":
		s.space = shared
		m.shared.add(o)
	default:
		s.mod.fail(off, "variables in %s are not supported", where)
	}
	s.obj = o
}

// fail ends New with an error at a place.
func (mod *module) fail(off int32, format string, args ...any) {
	panic(&Error{File: mod.Src.Name, Line: mod.Src.Line(off), Thread: -1, Text: fmt.Sprintf(format, args...)})
}
