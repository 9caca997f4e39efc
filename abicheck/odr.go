package abicheck

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// WeakBodies warns about weak definitions that lost to one with a different body. Such definitions
// come from inline functions and templates in headers. The linker keeps one, so if the header was
// edited, or read with other macros, between two compilations, the program gets one of two
// functions, and which one depends on the order of the inputs. No compiler can see this.
//
// It must not warn about programs that are right, so it compares only what one compiler would make
// equal:
//
//  1. Modules of different compilers, releases, ISA versions or targets are not compared, because
//     they compile one function differently, nor are modules that do not record their release
//     (object.OneCompiler). Initial values that are integers are the same for all compilers.
//  2. Names without meaning outside the module are compared by their role, and lines are ignored.
//  3. A weak definition that lost to a strong one may be a default that a program replaces (nvcc 13
//     takes __attribute__((weak)) for the device), unless it is an instance of a template.
func WeakBodies(t *resolve.Table, log *diag.Log) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !s.Defined() || len(s.Mentions) < 2 {
			continue
		}
		kept := t.Files[s.Def.File]
		def := kept.DeclOf(s.Def.Name)
		strong := kept.Symbols[s.Def.Name].Linkage != ptx.Weak
		if def == nil || strong && kept.Language() != object.CXX {
			continue
		}
		for _, id := range s.Mentions {
			f := t.Files[id.File]
			sym := f.Symbols[id.Name]
			if id == s.Def || sym.Def < 0 || sym.Linkage != ptx.Weak || !sameSettings(f, kept) || strong && !diag.Instantiated(s.Name) {
				continue
			}
			d := &f.Decls[sym.Def]
			chosen := resolve.DeclID{File: s.Def.File, Decl: kept.Symbols[s.Def.Name].Decl}
			if d.Kind == ptx.Variable && temporaryOf(s.Name) != "" {
				continue // because one number may belong to two temporaries
			}
			if d.Kind != def.Kind || d.Kind == ptx.Variable && !sizesAgree(d, def) { // an error already
				continue
			}
			at := resolve.DeclID{File: id.File, Decl: sym.Def}
			if !object.OneCompiler(f, kept) && !otherNumbers(contents(t, at), contents(t, chosen)) {
				continue
			}
			difference := " another body here than"
			var here, there diag.Span
			if _, same := SameBody(t, at, chosen); !same {
				if d.Kind == ptx.Variable {
					difference = " another initial value here than"
				}
				here, there = firstDifference(t, at, chosen)
			} else if a, b := attributes(f, d), attributes(kept, def); d.Kind == ptx.Entry && a != b {
				difference = cmp.Or(a, " no launch bounds") + " here but" + cmp.Or(b, " none")
				here, there = d.NameSpan, def.NameSpan
			} else {
				continue
			}
			m := log.Warn(diag.ODR, f.At(here), fmt.Sprintf("%s has%s in %s, whose definition is used", log.Name(s.Name), difference, kept.Name)).Of(s.Name).
				Note(kept.At(there), "this definition is used")
			switch {
			case strong:
				m.WithHelp("declare the specialisation where the template is, such as in a header, before anything uses it")
			case f.Language() == object.CXX:
				m.WithHelp(oneVersion)
			}
		}
	}
}

// oneVersion is the advice where two modules of C++ have different definitions of what they share.
const oneVersion = "compile both modules from one version of the source, with the same macros and options"

// attributes returns the directives of a kernel that limit its launches and registers, each with a space before it.
func attributes(f *object.File, d *ptx.Decl) (text string) {
	for _, a := range d.Attrs {
		text += " " + strings.Join(strings.Fields(f.Src.String(a.Span)), " ")
	}
	return text
}

// sameSettings reports whether one compiler would make the same text of the same source in both
// modules.
func sameSettings(a, b *object.File) bool {
	return a.Version == b.Version && a.Debug == b.Debug &&
		slices.EqualFunc(a.Target, b.Target, func(x, y ptx.Option) bool { return x.Word == y.Word })
}

// sameParameterNames reports whether parameters and results have the same names in
// the same order, so that equal text means the same.
func sameParameterNames(x, y content) bool {
	if x.decl.Kind == ptx.Variable || bytes.Equal(x.f.Src.Bytes(x.decl.Header), y.f.Src.Bytes(y.decl.Header)) {
		return true
	}
	return len(x.decl.Signature.Results) == len(y.decl.Signature.Results) &&
		slices.EqualFunc(x.f.Params(x.decl), y.f.Params(y.decl), func(p, q ptx.Param) bool {
			return bytes.Equal(x.f.Src.Bytes(p.NameSpan), y.f.Src.Bytes(q.NameSpan))
		})
}

// sameMeaning reports whether two bodies of equal text do not differ in what the
// declarations of their modules make of it: their indices count the same elements, and
// their calls pass literals to parameters that both or neither take as .f32.
func sameMeaning(x, y content) bool {
	if !slices.EqualFunc(x.f.IndicesIn(x.decl), y.f.IndicesIn(y.decl), func(a, b ptx.Index) bool { return a.Stride == b.Stride }) {
		return false
	}
	takesSingle := func(c content, call *ptx.Call, i int) bool {
		if call.Use < 0 {
			return false
		}
		d := c.f.DeclOf(c.f.Uses[call.Use].Name)
		return d != nil && d.Kind != ptx.Variable && i < d.Signature.Len() && d.Signature.At(i).Word == ".f32"
	}
	return slices.EqualFunc(x.f.CallsIn(x.decl), y.f.CallsIn(y.decl), func(a, b ptx.Call) bool {
		for i := range a.Signature.Len() {
			if a.Signature.At(i).Word == "" && takesSingle(x, &a, i) != takesSingle(y, &b, i) {
				return false
			}
		}
		return true
	})
}

// otherNumbers reports whether two variables of one type have initial values that consist of
// integers, and that differ.
func otherNumbers(x, y content) bool {
	if x.decl.Kind != ptx.Variable || x.decl.Word != y.decl.Word || bytes.Equal(x.f.Src.Bytes(x.span), y.f.Src.Bytes(y.span)) {
		return false
	}
	a, ok := integers(x)
	b, known := integers(y)
	return ok && known && !slices.Equal(a, b)
}

// integers returns the initial value of an array or a scalar without its last zeros. ok is false
// if it has anything but decimal integers, or lists in a list.
func integers(c content) (list []uint64, ok bool) {
	text := strings.TrimSpace(strings.TrimLeft(c.f.Src.String(c.span), "= \t\r\n"))
	if inner, braced := strings.CutPrefix(text, "{"); braced {
		text = strings.TrimSuffix(inner, "}")
	}
	for text != "" {
		var number string
		number, text, _ = strings.Cut(text, ",")
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
		if err != nil {
			return nil, false
		}
		list = append(list, n)
	}
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return list, true
}

// content is the body of a function or the initial value of a variable.
type content struct {
	file int32
	f    *object.File
	decl *ptx.Decl
	span diag.Span
}

func contents(t *resolve.Table, at resolve.DeclID) content {
	f := t.Files[at.File]
	d := &f.Decls[at.Decl]
	span := d.Body
	if d.Kind == ptx.Variable {
		span = d.Init
	}
	return content{at.File, f, d, span}
}

// LocalNames maps each name that one body declares to its name in another. Only the
// first of several with one spelling counts, as for ptxas, and registers do not
// count.
type LocalNames struct {
	numbers renumbering
	names   map[string]string // nil: numbers has all
}

// Of returns the name in the other body, or "" if it has none.
func (l *LocalNames) Of(name string) string {
	if l.names == nil {
		return l.numbers.of(name)
	}
	return l.names[name]
}

// SameBody reports whether two bodies or initial values are equal except for names
// without meaning outside, and maps the names of the first to the names of the second. Lines are
// ignored. names is nil if they differ or neither is there.
func SameBody(t *resolve.Table, a, b resolve.DeclID) (names *LocalNames, same bool) {
	if numbers, same := sameNumbered(t, a, b); same {
		return &LocalNames{numbers: numbers}, true
	}
	m, same := match(t, a, b)
	defer m.done()
	if !same || m.x == nil {
		return nil, same
	}
	names = &LocalNames{names: map[string]string{}}
	for i := range m.x.Locals {
		l := &m.x.Locals[i]
		name := m.a.f.Src.String(l.Name)
		if _, known := names.names[name]; !known && l.Kind != ptx.Register && m.forth[i] >= 0 {
			names.names[name] = m.b.f.Src.String(m.y.Locals[m.forth[i]].Name)
		}
	}
	return names, true
}

// firstDifference returns the first pair of instructions that differ in more than the names of registers, labels
// and parameters, or the places of the two names if no pair differs.
func firstDifference(t *resolve.Table, a, b resolve.DeclID) (here, there diag.Span) {
	m, _ := match(t, a, b)
	defer m.done()
	if m.x != nil && m.y != nil {
		x, y := instructions(m.x), instructions(m.y)
		for i := range min(len(x), len(y)) {
			if !m.sameInstruction(x[i], y[i]) {
				return m.x.Span(x[i]), m.y.Span(y[i])
			}
		}
	}
	return m.a.decl.NameSpan, m.b.decl.NameSpan
}

func instructions(c *ptx.Code) (list []ptx.Statement) {
	for _, st := range c.Statements {
		if st.Kind == ptx.Instruction {
			list = append(list, st)
		}
	}
	return list
}

// sameInstruction reports whether two instructions are the same, apart from names that are local to their bodies.
func (m *matcher) sameInstruction(a, b ptx.Statement) bool {
	if a.End-a.First != b.End-b.First {
		return false
	}
	for k := range a.End - a.First {
		i, j := int(a.First+k), int(b.First+k)
		_, local := m.x.Reference(i).Local()
		_, other := m.y.Reference(j).Local()
		if !(local && other) && !m.sameToken(i, j) {
			return false
		}
	}
	return true
}

// match compares two bodies or initial values. The code of a declaration without either is
// nil.
func match(t *resolve.Table, a, b resolve.DeclID) (m *matcher, same bool) {
	m = &matcher{t: t, a: contents(t, a), b: contents(t, b)}
	m.x, m.y = m.a.f.Borrow(m.a.decl), m.b.f.Borrow(m.b.decl)
	if m.x == nil || m.y == nil {
		return m, m.x == m.y
	}
	return m, sameMeaning(m.a, m.b) && m.match()
}

func (m *matcher) done() {
	m.x.Return()
	m.y.Return()
}

// matcher walks two bodies side by side. forth and back map the locals of one to
// the locals of the other, by index, -1 where that is not known yet; statics maps module-local
// names.
type matcher struct {
	t           *resolve.Table
	a, b        content
	x, y        *ptx.Code
	forth, back []int32
	statics     map[ptx.NameID]ptx.NameID
	staticsBack map[ptx.NameID]ptx.NameID
}

func (m *matcher) match() bool {
	unknown := []int32{-1}
	m.forth, m.back = slices.Repeat(unknown, len(m.x.Locals)), slices.Repeat(unknown, len(m.y.Locals))
	// Parameters match by position, because a body need not name them.
	for i := 0; i < min(len(m.forth), len(m.back)); i++ {
		if m.x.Locals[i].Kind != ptx.Parameter || m.y.Locals[i].Kind != ptx.Parameter {
			break
		}
		m.forth[i], m.back[i] = int32(i), int32(i)
	}
	i, j := 0, 0
	for {
		i, j = nextStatement(m.x, i), nextStatement(m.y, j)
		if i == len(m.x.Statements) || j == len(m.y.Statements) {
			return i == len(m.x.Statements) && j == len(m.y.Statements) && m.sameTargets()
		}
		if !m.sameStatement(m.x.Statements[i], m.y.Statements[j]) {
			return false
		}
		i++
		j++
	}
}

func (m *matcher) sameStatement(a, b ptx.Statement) bool {
	if a.Kind != b.Kind {
		return false
	}
	if a.Kind == ptx.Directive && m.x.Opcode(a) == ".callprototype" {
		return slices.EqualFunc(unnamed(m.x, a), unnamed(m.y, b), func(t, u ptx.Token) bool {
			return t.Kind == u.Kind && bytes.Equal(m.x.Text(t), m.y.Text(u))
		})
	}
	if a.End-a.First != b.End-b.First {
		return false
	}
	marks := a.Kind == ptx.Instruction && m.x.Opcode(a) == "trace" // labels that compilers number by module
	for k := range int(a.End - a.First) {
		i, j := int(a.First)+k, int(b.First)+k
		if !m.sameToken(i, j) && !(marks && m.x.Tokens[i].Kind == ptx.Ident && m.y.Tokens[j].Kind == ptx.Ident && m.x.Reference(i) == ptx.NoReference && m.y.Reference(j) == ptx.NoReference) {
			return false
		}
	}
	return true
}

// unnamed returns the tokens of a .callprototype without its names, which may be
// missing, _, or a word without meaning.
func unnamed(c *ptx.Code, st ptx.Statement) (list []ptx.Token) {
	for _, t := range c.Tokens[st.First:st.End] {
		if t.Kind != ptx.Ident && (t.Kind != ptx.Punct || t.Ch != '_') {
			list = append(list, t)
		}
	}
	return list
}

// nextStatement skips .loc and .file, starting at statement i.
func nextStatement(c *ptx.Code, i int) int {
	for i < len(c.Statements) {
		if st := c.Statements[i]; st.Kind != ptx.Directive || c.Opcode(st) != ".loc" && c.Opcode(st) != ".file" {
			break
		}
		i++
	}
	return i
}

func (m *matcher) sameToken(i, j int) bool {
	t, u := m.x.Tokens[i], m.y.Tokens[j]
	if t.Kind != u.Kind || t.Role() != u.Role() {
		return false
	}
	sameText := bytes.Equal(m.x.Text(t), m.y.Text(u))
	if t.Kind != ptx.Ident {
		return sameText
	}
	p, q := m.x.Reference(i), m.y.Reference(j)
	if !m.sameReference(p, q) {
		return false
	}
	if a, ok := p.Local(); ok && !sameText {
		b, _ := q.Local()
		return m.renamable(a, t, b, u)
	}
	return sameText || p != ptx.NoReference
}

func (m *matcher) sameReference(p, q ptx.Reference) bool {
	if a, ok := p.Local(); ok {
		b, ok := q.Local()
		return ok && m.sameLocal(a, b)
	}
	if a, ok := p.Name(); ok {
		b, ok := q.Name()
		return ok && m.sameSymbol(a, b)
	}
	return q == ptx.NoReference
}

// sameTargets compares what the lists of targets like L<3> stand for.
func (m *matcher) sameTargets() bool {
	return slices.EqualFunc(m.x.TargetRanges, m.y.TargetRanges, func(x, y ptx.TargetRange) bool {
		return slices.EqualFunc(x.Targets, y.Targets, m.sameReference)
	})
}

// alike reports whether two module-local names can stand for one thing: a function
// each, or variables of one type and state space.
func (m *matcher) alike(a, b ptx.NameID) bool {
	x, y := m.a.f.DeclOf(a), m.b.f.DeclOf(b)
	return x == nil && y == nil || x != nil && y != nil && x.Kind == y.Kind &&
		(x.Kind != ptx.Variable || x.Space == y.Space && x.Word == y.Word && x.Size() == y.Size())
}

func (m *matcher) sameLocal(a, b int32) bool {
	if m.forth[a] < 0 && m.back[b] < 0 && m.x.Locals[a].Kind == m.y.Locals[b].Kind && m.x.Locals[a].Count == m.y.Locals[b].Count {
		m.forth[a], m.back[b] = b, a
	}
	return m.forth[a] == b && m.back[b] == a
}

// renamable reports whether the names of two paired locals may differ in spelling.
// Registers that start with % may not, and members of ranges only in their base.
func (m *matcher) renamable(a int32, t ptx.Token, b int32, u ptx.Token) bool {
	x, y := m.x.Text(t), m.y.Text(u)
	return x[0] != '%' && y[0] != '%' && bytes.Equal(x[m.x.Locals[a].Name.Len:], y[m.y.Locals[b].Name.Len:])
}

// sameTemporary reports whether nvcc -G gave two names to one temporary of a
// function: FUNC$5 in one module, FUNC$10 in another.
func (m *matcher) sameTemporary(a, b ptx.NameID) bool {
	x, y := m.a.f.DeclOf(a), m.b.f.DeclOf(b)
	base := temporaryOf(m.a.f.Names[a])
	return base != "" && base == temporaryOf(m.b.f.Names[b]) && x != nil && y != nil && x.Kind == ptx.Variable && y.Kind == ptx.Variable &&
		x.Space == y.Space && x.Word == y.Word && x.Size() == y.Size() && x.Alignment() == y.Alignment() &&
		bytes.Equal(m.a.f.Src.Bytes(x.Init), m.b.f.Src.Bytes(y.Init))
}

// temporaryOf returns the function of a temporary of nvcc -G, which is numbered
// within its module; "" for other names.
func temporaryOf(name string) string {
	base := strings.TrimRight(name, "0123456789")
	if len(base) == len(name) || !strings.HasPrefix(base, "_Z") || !strings.HasSuffix(base, "$") {
		return ""
	}
	return strings.TrimSuffix(base, "$")
}

func (m *matcher) sameSymbol(a, b ptx.NameID) bool {
	s, u := m.t.Of(object.ID{File: m.a.file, Name: a}), m.t.Of(object.ID{File: m.b.file, Name: b})
	if s == u && s != resolve.None {
		return true
	}
	if (s != resolve.None || u != resolve.None) && !m.sameTemporary(a, b) || s == resolve.None && !m.alike(a, b) {
		return false
	}
	forth, known := m.statics[a]
	back, knownBack := m.staticsBack[b]
	if !known && !knownBack {
		sets.Put(&m.statics, a, b)
		sets.Put(&m.staticsBack, b, a)
		return true
	}
	return known && knownBack && forth == b && back == a
}
