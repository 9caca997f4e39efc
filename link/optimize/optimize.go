// Package optimize, of use to this module only, changes the functions of a linked program
// so that ptxas makes better code of it: it inlines and folds them, and names state spaces.
// It takes functions and returns functions, and reads again only those that it has changed.
package optimize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"ptxlink/internal/globs"
	"ptxlink/internal/parallel"
	"ptxlink/link/diag"
	"ptxlink/object/ptx"
)

// Request says what Optimize does. The patterns are those of path.Match and are compared with the
// names in the output.
type Request struct {
	// Level is 0, 1 or 2. 1 inlines device functions that are called once, and small
	// ones (see instructions). 2 also inlines larger ones whose calls together add little code.
	Level int
	// Inline are patterns of functions to inline whatever their size, even at level 0. NoInline
	// are those of functions that are never inlined; it wins.
	Inline, NoInline []string
	// InlineLimit is the number of instructions of a small function; 0 means DefaultLimit.
	InlineLimit int
	// Fold replaces device functions by others with the same code (--icf). Functions whose
	// address is taken are not folded.
	Fold bool
	// Interposable is set if nvlink will link the output with other modules, as it
	// must if an option left something undefined, or if the output has no entry. All functions with linkage are then kept, and weak ones may be replaced.
	Interposable bool
}

// Options are the options of Optimize.
type Options struct {
	Request
	Keep     []string      // patterns of functions that stay in the program
	Jobs     int           // the number of functions that are read at a time; 0 means one per CPU
	Spelling diag.Spelling // how reasons name options
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
	Line           int32 // its number
	Inlined        bool
	Reason         string // why it is not inlined
}

// Enabled reports whether the options ask for anything.
func (o Request) Enabled() bool { return o.inlines() || o.Fold }

func (o Request) inlines() bool { return o.Level > 0 || len(o.Inline) > 0 }

// String returns the options as the command has them: "-O2 --icf".
func (o Request) String() string {
	var words []string
	if o.Level > 0 {
		words = append(words, fmt.Sprintf("-O%d", o.Level))
	}
	for _, pattern := range o.Inline {
		words = append(words, "--inline="+pattern)
	}
	for _, pattern := range o.NoInline {
		words = append(words, "--no-inline="+pattern)
	}
	if o.InlineLimit > 0 {
		words = append(words, fmt.Sprintf("--inline-limit=%d", o.InlineLimit))
	}
	if o.Fold {
		words = append(words, "--icf")
	}
	return strings.Join(words, " ")
}

// Check returns an error if an option other than the patterns, which package link checks, is
// invalid.
func (o Request) Check() error {
	switch {
	case o.Level < 0 || o.Level > 2:
		return diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("there is no optimisation level %d", o.Level))
	case o.InlineLimit < 0:
		return diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("the limit %d is negative", o.InlineLimit))
	}
	return nil
}

// Optimize inlines functions of a program:
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
func Optimize(p *Program, o Options) (*Result, error) {
	o.InlineLimit = cmp.Or(o.InlineLimit, DefaultLimit)
	s := newState(p, o)
	if o.inlines() {
		s.inline()
	}
	if o.Fold {
		s.fold()
	}
	if s.tooLarge.Load() {
		return nil, errors.New("an optimised function is 2 GiB or larger")
	}
	s.drop(s.functions)
	return s.result(), nil
}

// inline inlines calls until no more can be, and names the spaces of accesses.
func (s *state) inline() {
	const passes = 4 // each one finds the functions behind one more level of pointers
	for i := range passes {
		if devirtualised := s.devirtualise(); i > 0 && !devirtualised {
			break
		}
		s.prepared = false
		s.reconsider()
		s.analyse()
		s.prepare()
		for _, callers := range s.levels() {
			s.round(callers)
		}
	}
	s.spaces()
}

// state is the program, and what the steps know of it.
type state struct {
	Options
	// The lists Inline, NoInline and Keep of Options.
	inlineAll, noInline, keep globs.List

	p         *Program
	percent   bool        // a module-scope name starts with %
	functions []*function // in the order of the output
	byName    map[string]*function
	alias     map[string]string
	word      string // new names contain it, and the program does not

	*callGraph
	uses     map[string]int   // of each name, outside the definition of that function
	depths   map[string]int64 // see depth
	numbered map[string]int64 // the least number behind each base of a name
	prepared bool             // see prepare
	tooLarge atomic.Bool      // a function is

	inlined   map[string]bool
	grown     map[string]bool // functions that others are inlined into
	spelled   map[string]bool // see static
	variables []variable      // that are added
	added     map[string]bool // their names
	moved     []Moved
	locs      lineInfo
	report    []Call
	reported  map[Call]int // index in report, without what became of them
	folded    []Fold
	dropped   []string
}

// variable is a statement that declares variables, and its text.
type variable struct {
	*text
	m *ptx.Module
}

func newState(p *Program, o Options) *state {
	s := &state{
		Options: o, inlineAll: globs.New(o.Inline), noInline: globs.New(o.NoInline), keep: globs.New(o.Keep), p: p, percent: p.Percent(), byName: map[string]*function{}, alias: map[string]string{},
		inlined: map[string]bool{}, grown: map[string]bool{}, added: map[string]bool{}, reported: map[Call]int{}, locs: lineInfo{labels: map[string]string{}},
		uses: map[string]int{},
	}
	for i := range p.Functions {
		of := &p.Functions[i]
		m, d := of.Module, of.Decl
		if of.Kept {
			s.keep.AddName(of.Name)
		}
		f := &function{name: of.Name, linkage: of.Linkage, index: i, text: &text{src: m.Src, shift: of.Shift}, m: m, decl: d, calls: m.CallsIn(d)}
		s.functions = append(s.functions, f)
		s.byName[f.name] = f
	}
	s.otherUses(func(name string) { s.uses[name]++ })
	for _, f := range s.functions {
		s.tally(f, 1)
	}
	for _, a := range p.Aliases {
		s.alias[a.Name] = a.Target
		s.uses[a.Name]++
	}
	if !slices.ContainsFunc(s.functions, func(f *function) bool { return f.decl.Kind == ptx.Entry }) {
		s.Interposable = true
	}
	s.chooseWord()
	return s
}

// declares reports whether the program declares a name at a place of Program.Names, or before it.
func (s *state) declares(name string, place int32) bool {
	at, ok := s.p.Names[name]
	return s.added[name] || ok && at <= place
}

// chooseWord chooses a word that is nowhere in the program, so that no name with it can
// be another name or be taken for one.
func (s *state) chooseWord() {
	used := func() bool {
		for part := range s.p.Text {
			if bytes.Contains(part, []byte(s.word)) {
				return true
			}
		}
		return false
	}
	s.word = "inl_"
	for i := 1; used(); i++ {
		s.word = fmt.Sprintf("inl%d_", i)
	}
}

// register returns a new name for a register or object in a function, and label one for a
// label. Functions number them on their own, so that an edit of one leaves others as they
// are. A name that is inlined with its function has a lower number than those that the
// caller gets for the call: none of these is hidden.
func (s *state) register(f *function) string { f.names++; return "%" + s.word + strconv.Itoa(f.names) }
func (s *state) label(f *function) string    { f.names++; return "$" + s.word + strconv.Itoa(f.names) }

// each calls work with 0 to n-1 in several goroutines. It may not change the state.
func (s *state) each(n int, work func(i int)) {
	parallel.Each(context.Background(), n, s.Jobs, func(int) string { return "optimising" }, work)
}

// result returns what became of the program.
func (s *state) result() *Result {
	r := &Result{Strings: s.names(), Calls: s.report, Dropped: s.dropped, Moved: s.moved, Folded: s.folded}
	for _, v := range s.variables {
		r.Variables = append(r.Variables, Changed{Module: v.m, Lines: v.lines})
	}
	for _, f := range s.functions {
		r.Functions = append(r.Functions, Changed{f.index, f.m, f.decl, f.lines})
	}
	return r
}

// tell adds a call to the report. A call that is looked at again replaces what was said
// of it.
func (s *state) tell(call Call) {
	key := Call{Caller: call.Caller, Callee: call.Callee, Line: call.Line}
	i, known := s.reported[key]
	switch {
	case !known:
		s.reported[key] = len(s.report)
		s.report = append(s.report, call)
	case call.Inlined && !s.report[i].Inlined:
		s.report[i] = call
	}
}
