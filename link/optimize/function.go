package optimize

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// function is the definition of one function. At first it is part of a larger text. Once it
// changes, it has its own text, which must be read again after each change.
type function struct {
	name    string
	linkage ptx.Linkage
	index   int // in Program.Functions

	*text
	m     *ptx.Module // the module that text is part of, or all of
	decl  *ptx.Decl   // in m
	calls []ptx.Call  // in m
	names int         // the number of new names in it: see register
	gone  bool        // set once it is removed

	facts
}

// facts are known facts about the text of a function. They must be dropped when the text changes.
type facts struct {
	codeOf   *ptx.Code
	usagesOf []usage
	indirect bool    // see usages
	reason   *string // why it cannot be inlined, or ""
	sized    bool
	sizeOf   int // see size
	frameOf  *frame
}

func (f *function) uses() []ptx.Use { return f.m.Uses[f.decl.FirstUse:f.decl.EndUse] }

func (f *function) place() int32 { return 2*int32(f.index) + 1 }

// target returns the name that a call refers to directly, or pointed.
func (f *function) target(c ptx.Call) string {
	if c.Use < 0 {
		return pointed
	}
	return f.m.Names[f.m.Uses[c.Use].Name]
}

func (f *function) code() *ptx.Code {
	if f.codeOf == nil {
		f.codeOf = f.m.Code(f.decl)
	}
	return f.codeOf
}

// usages returns the result of the function usages for f, and keeps it.
func (f *function) usages() (list []usage, indirect bool) {
	if f.usagesOf == nil {
		f.usagesOf, f.indirect = usages(f.code())
	}
	return f.usagesOf, f.indirect
}

// look computes what callers will need from a function, so that several goroutines can then read
// it.
func (s *state) look(f *function) {
	if s.wanted(f) {
		f.frame()
	}
}

// forget drops the code of a function whose calls have been handled, to save memory, unless callers
// will need it.
func (s *state) forget(f *function) {
	if f.codeOf != nil && !s.wanted(f) {
		f.codeOf, f.usagesOf = nil, nil
	}
}

// wanted reports whether calls of a function may be inlined.
func (s *state) wanted(f *function) bool { return s.sites[f.name] > 0 && s.unwanted(f) == "" }

// change is a change to a function: edits, or bodies that replace calls.
type change struct {
	*function
	edits []edit
	sites []*site
}

func (s *state) edit(edits func(i int, f *function) []edit) (changed bool) {
	var changes []change
	for i, f := range s.functions {
		if list := edits(i, f); len(list) > 0 {
			changes = append(changes, change{function: f, edits: list})
		}
	}
	s.apply(changes)
	return len(changes) > 0
}

// apply changes functions and reads them again. Once a function is too large it changes nothing,
// since Optimize then fails.
func (s *state) apply(changes []change) {
	if s.tooLarge.Load() {
		return
	}
	changed := make([]function, len(changes))
	s.each(len(changes), func(i int) { changed[i] = s.change(changes[i]) })
	if s.tooLarge.Load() {
		return
	}
	for i, c := range changes {
		s.tally(c.function, -1)
		*c.function = changed[i]
		s.tally(c.function, 1)
	}
	s.depths = map[string]int64{}
}

func (s *state) change(c change) function {
	if len(c.sites) > 0 {
		c.edits = s.paste(c.function, c.sites)
	}
	sortEdits(c.edits)
	w := writers.Get().(*writer)
	defer writers.Put(w)
	*w = writer{out: w.out[:0], lines: w.lines[:0]}
	from := c.decl.Header.Off // after the linkage, which is kept apart
	w.copy(c.text, ptx.Span{Off: from, Len: c.decl.Body.End() - from}, c.edits)
	t, m := s.read(w, c.place())
	if m == nil {
		return function{}
	}
	f := function{name: c.name, linkage: c.linkage, index: c.index, text: t, m: m, decl: &m.Decls[0], calls: m.Calls, names: c.names}
	if s.prepared {
		s.look(&f) // because its callers are next
	}
	return f
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// read reads a statement at a place of Program.Names, and keeps a copy of it; nil if it is too
// large. It panics if the statement cannot be read, because only a fault of this package can cause
// that.
func (s *state) read(w *writer, place int32) (*text, *ptx.Module) {
	if len(w.out) >= math.MaxInt32 {
		s.tooLarge.Store(true)
		return nil, nil
	}
	t := &text{src: &diag.Source{Text: bytes.Clone(w.out)}, lines: slices.Clone(w.lines)}
	scope := ptx.Scope{Version: s.p.Version, AddressSize: s.p.AddressSize, Percent: s.percent, Declared: func(spelling []byte) (string, bool) {
		name := string(spelling)
		return name, s.declares(name, place)
	}}
	m, err := scope.Read(t.src)
	if err != nil || len(m.Decls) == 0 {
		panic(fmt.Sprintf("an optimised function is invalid: %v\n%s", err, t.src.Text))
	}
	return t, m
}
