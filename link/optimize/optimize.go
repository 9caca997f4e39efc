// Package optimize rewrites one linked module so that ptxas makes better code of it: it
// inlines functions. It takes a module, reads each function again that it has changed, and
// writes the text of the result once. It looks at nothing but the module.
package optimize

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"ptxlink/internal/globs"
	"ptxlink/internal/parallel"
	"ptxlink/link/diag"
	"ptxlink/object/ptx"
)

// Options are the options of Optimize. The patterns are those of path.Match and are
// compared with the names in the module.
type Options struct {
	// Level is 0, 1 or 2. 1 inlines functions that one call refers to, and functions
	// of at most Limit instructions (see instructions). 2 also inlines functions whose calls together
	// add at most maxGrowth instructions.
	Level int
	// Inline lists functions to inline whatever their size, even at level 0. NoInline
	// lists functions that are never inlined; it wins.
	Inline, NoInline []string
	// Limit is the number of instructions of a small function; 0 means DefaultLimit.
	Limit int
	// Interposable is set if the module will be linked with others by nvlink: other
	// modules can then call its .visible and .weak functions and replace the latter.
	// A module without an entry is a library, for which the same holds.
	Interposable bool
	// Keep lists functions that stay in the module.
	Keep []string
	// Fold replaces functions by others with the same code.
	Fold bool
	// Jobs is the number of functions that are read at a time; 0 means one per CPU.
	Jobs int
	// Spelling is how reasons name options.
	Spelling diag.Spelling
}

// DefaultLimit is the number of instructions of a small function.
const DefaultLimit = 40

const (
	maxGrowth  = 400 // instructions that the calls of one function may add at level 2
	maxNesting = 50  // of inlined functions; 3000 scopes exhaust ptxas
	maxObject  = 512 // bytes of an argument in .local
	maxCells   = 64  // registers that take the place of one argument

	// A thread has 255 registers of 4 bytes.
	maxRegisters = 1020
)

// Result is the rewritten module.
type Result struct {
	Text []byte
	// Statements are the declarations of variables and the definitions of functions in
	// Text, in no order.
	Statements []Statement
	// Lines has, for each line of Text, the line of the original module that it comes
	// from, 1-based.
	Lines []int32
	// Calls are the direct calls of defined functions, in the order of the module.
	Calls []Call
	// Dropped are the functions that are not in Text because all their calls are
	// inlined.
	Dropped []string
	// Moved are the objects of functions that are at module scope in Text.
	Moved []Moved
	// Folded are the functions that another one with the same code replaces.
	Folded []Fold
}

// Statement is a declaration in a module that holds it, and others perhaps.
type Statement struct {
	Module *ptx.Module
	Decl   *ptx.Decl
}

// Moved is an object in .shared, .global or .const that a function declared.
type Moved struct {
	Name             string // at module scope
	Function, Object string
	Space            string // with its dot
	Size, Align      int64
}

// Call is one call and what became of it.
type Call struct {
	Caller, Callee string
	Line           int // in the original module
	Inlined        bool
	Reason         string // why it is not inlined
}

// Enabled reports whether the options ask for anything.
func (o Options) Enabled() bool { return o.inlines() || o.Fold }

func (o Options) inlines() bool { return o.Level > 0 || len(o.Inline) > 0 }

// Check returns an error if an option other than the patterns, which package link checks, is
// invalid.
func (o Options) Check() error {
	switch {
	case o.Level < 0 || o.Level > 2:
		return fmt.Errorf("there is no optimisation level %d", o.Level)
	case o.Limit < 0:
		return fmt.Errorf("the limit %d is negative", o.Limit)
	}
	return nil
}

// Optimize returns the module with functions inlined:
//
//	prepare   calls through a register that holds one function become direct calls;
//	          objects of a function that outlive its calls move to module scope;
//	          names that hide others get new ones
//	inline    callees before callers, in rounds; each changed function is read again
//	spaces    generic accesses in the functions that grew name the space that they access
//	fold      functions with the same code become one
//	drop      functions that nothing refers to any more
//
// Inlining can show which function a register holds, so the first two are repeated. Fold
// alone does nothing but fold.
func Optimize(m *ptx.Module, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	s := newState(m, o)
	if o.inlines() {
		if err := s.inline(); err != nil {
			return nil, err
		}
	}
	if o.Fold {
		if err := s.fold(); err != nil {
			return nil, err
		}
	}
	s.drop(s.functions)
	return s.result()
}

// inline inlines calls until no more can be, and names the spaces of accesses.
func (s *state) inline() error {
	const passes = 4 // each one finds the functions behind one more level of pointers
	for i := range passes {
		if devirtualised, err := s.devirtualise(); err != nil {
			return err
		} else if i > 0 && !devirtualised {
			break
		}
		s.prepared = false
		s.reconsider()
		s.analyse()
		if err := s.prepare(); err != nil {
			return err
		}
		for _, callers := range s.levels() {
			if err := s.round(callers); err != nil {
				return err
			}
		}
	}
	return s.spaces()
}

// state is the module, and what the steps know of it.
type state struct {
	Options
	// The lists Inline, NoInline and Keep of Options.
	inlineAll, noInline, keep globs.List

	m         *ptx.Module // as it was
	functions []*function // in the order of the text
	byName    map[string]*function
	alias     map[string]string
	// first has the offset of the first declaration of each name in m.
	first map[string]int32
	// Variables that are added stand at place, before the first function.
	place  int32
	before *ptx.Decl
	word   string // new names contain it, and the original module does not

	*callGraph
	uses     map[string]int   // of each name, outside the definition of that function
	depths   map[string]int64 // see depth
	numbered map[string]int64 // the least number behind each base of a name
	prepared bool             // see prepare

	inlined   map[string]bool
	grown     map[string]bool // functions that others are inlined into
	spelled   map[string]bool // see static
	variables []variable      // that are added
	added     map[string]bool // their names
	moved     []Moved
	locs      lineInfo
	report    []Call
	reported  map[reportKey]int // index in report
	folded    []Fold
	dropped   []string
	gone      map[string]bool // functions that are removed
}

// variable is a statement that declares variables, and its text.
type variable struct {
	*text
	m *ptx.Module
}

func newState(m *ptx.Module, o Options) *state {
	s := &state{
		Options: o, inlineAll: globs.New(o.Inline), noInline: globs.New(o.NoInline), keep: globs.New(o.Keep), m: m, byName: map[string]*function{}, alias: map[string]string{}, first: map[string]int32{}, place: -1,
		inlined: map[string]bool{}, grown: map[string]bool{}, added: map[string]bool{}, reported: map[reportKey]int{}, locs: lineInfo{labels: map[string]string{}},
		uses: map[string]int{}, gone: map[string]bool{},
	}
	s.listFunctions()
	s.otherUses(func(name string) { s.uses[name]++ })
	for _, f := range s.functions {
		s.tally(f, 1)
	}
	note := func(id ptx.NameID, off int32) {
		name := m.Names[id]
		if first, known := s.first[name]; !known || off < first {
			s.first[name] = off
		}
	}
	for i := range m.Decls {
		note(m.Decls[i].Name, m.Decls[i].Span.Off)
	}
	for _, a := range m.Aliases {
		note(a.Name, a.Span.Off)
		s.alias[m.Names[a.Name]] = m.Names[a.Target]
		s.uses[m.Names[a.Name]]++
	}
	if len(s.functions) > 0 {
		s.before = s.functions[0].original
		s.place = s.before.Span.Off
	}
	if !slices.ContainsFunc(s.functions, func(f *function) bool { return f.decl.Kind == ptx.Entry }) {
		s.Interposable = true
	}
	s.chooseWord()
	return s
}

// declaredAt returns the offset in the original module of the first declaration of a name.
func (s *state) declaredAt(name string) int32 {
	switch off, ok := s.first[name]; {
	case ok:
		return off
	case s.added[name]:
		return s.place - 1
	}
	return int32(len(s.m.Src.Text))
}

type reportKey struct {
	caller, callee string
	line           int
}

// chooseWord chooses a word that is nowhere in the module, so that no name with it can
// be another name or be taken for one.
func (s *state) chooseWord() {
	s.word = "inl_"
	for i := 1; contains(s.m.Src.Text, s.word); i++ {
		s.word = fmt.Sprintf("inl%d_", i)
	}
}

// register returns a new name for a register or object in a function, and label one for a
// label. Functions number them on their own, so that an edit of one leaves others as they
// are. A name that is inlined with its function has a lower number than those that the
// caller gets for the call: none of these is hidden.
func (s *state) register(f *function) string { f.names++; return "%" + s.word + strconv.Itoa(f.names) }
func (s *state) label(f *function) string    { f.names++; return "$" + s.word + strconv.Itoa(f.names) }

// originAt returns the line of the original module that a place comes from.
func (t *text) originAt(off int32) int { return int(t.origin(t.src.Line(off))) }

// each calls work with 0 to n-1 in several goroutines. It may not change the state.
func (s *state) each(n int, work func(i int)) {
	parallel.Each(context.Background(), n, s.Jobs, func(int) string { return "optimising" }, work)
}

// result writes the module.
func (s *state) result() (*Result, error) {
	m := s.m
	original := &text{src: m.Src}
	var edits []edit
	for _, v := range s.variables {
		edits = append(edits, edit{span: ptx.Span{Off: s.place}, write: func(w *writer) {
			w.copy(v.text, ptx.Span{Len: int32(len(v.src.Text))}, nil)
		}})
	}
	for _, f := range s.functions {
		if f.m != m && !s.gone[f.name] {
			edits = append(edits, edit{span: f.original.Span, write: func(w *writer) { w.copy(f.text, f.decl.Span, nil) }})
		}
	}
	for i := range m.Decls {
		if d := &m.Decls[i]; s.gone[m.Names[d.Name]] {
			edits = append(edits, edit{span: d.Span})
		}
	}
	edits = append(edits, s.names()...)
	sortEdits(edits) // .debug_str may stand before the functions
	w := s.writer()
	w.copy(original, ptx.Span{Len: int32(len(m.Src.Text))}, edits)
	if len(w.out) >= math.MaxInt32 {
		return nil, errTooLarge
	}
	return &Result{Text: w.out, Statements: s.statements(), Lines: w.lines, Calls: s.report, Dropped: s.dropped, Moved: s.moved, Folded: s.folded}, nil
}

// writer returns a writer with memory for most of the result.
func (s *state) writer() *writer {
	bytes, lines := len(s.m.Src.Text), int(s.m.Src.Line(int32(len(s.m.Src.Text))))
	for _, f := range s.functions {
		if f.m != s.m {
			bytes += len(f.src.Text) - int(f.original.Span.Len)
			lines += len(f.lines)
		}
	}
	return &writer{out: make([]byte, 0, bytes), lines: make([]int32, 0, lines)}
}

// statements returns what the result declares.
func (s *state) statements() (list []Statement) {
	for _, v := range s.variables {
		for i := range v.m.Decls {
			list = append(list, Statement{v.m, &v.m.Decls[i]})
		}
	}
	for i := range s.m.Decls {
		if d := &s.m.Decls[i]; d.Kind == ptx.Variable {
			list = append(list, Statement{s.m, d})
		}
	}
	for _, f := range s.functions {
		list = append(list, Statement{f.m, f.decl})
	}
	return list
}

// tell adds a call to the report. A call that is looked at again replaces what was said
// of it.
func (s *state) tell(call Call) {
	key := reportKey{call.Caller, call.Callee, call.Line}
	i, known := s.reported[key]
	switch {
	case !known:
		s.reported[key] = len(s.report)
		s.report = append(s.report, call)
	case call.Inlined && !s.report[i].Inlined:
		s.report[i] = call
	}
}
