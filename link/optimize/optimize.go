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

	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Request says what Optimize does. The patterns are patterns of path.Match, and match names in the
// output.
type Request struct {
	// Level is 0, 1 or 2. Level 1 inlines device functions that are called once, and small
	// functions (see instructions). Level 2 also inlines larger functions whose calls together add
	// little code.
	Level int
	// Inline are patterns of functions to inline whatever their size, even at level 0. NoInline are
	// patterns of functions that must never be inlined; it wins.
	Inline, NoInline []string
	// InlineLimit is the number of instructions of a small function; 0 means DefaultLimit.
	InlineLimit int
	// Fold replaces device functions by others with the same code (--icf). Functions whose address
	// is taken are not folded, because their addresses must differ.
	Fold bool
	// Interposable is set if nvlink will link the output with other modules, as it must if an
	// option left something undefined, or if the output has no entry. All functions with linkage
	// must then be kept, and weak ones may be replaced.
	Interposable bool
}

// Options are the options of Optimize.
type Options struct {
	Request
	Keep     []string      // patterns of functions that stay in the program
	Jobs     int           // number of functions that are read at a time; 0 means one per CPU
	Spelling diag.Spelling // how reasons name options
}

// DefaultLimit is the number of instructions of a small function.
const DefaultLimit = 40

const (
	maxGrowth  = 400 // instructions that the calls of one function may add at level 2
	maxNesting = 50  // depth of inlined functions, because 3000 scopes exhaust ptxas
	maxObject  = 512 // bytes of an argument in .local
	maxCells   = 64  // registers that replace one argument

	// There cannot be more bytes in registers: a thread has 255 registers of 4 bytes.
	maxRegisters = 1020
)

// Moved is an object in .shared, .global or .const that a function declared.
type Moved struct {
	Name             string // at module scope
	Function, Object string
	Space            string // with its dot
	Size, Align      int64
}

// Call is one call and whether it was inlined.
type Call struct {
	Caller, Callee string
	Line           int32 // its number: see Program
	Inlined        bool
	Reason         string // why it is not inlined
}

// Enabled reports whether the options ask for anything.
func (o Request) Enabled() bool { return o.inlines() || o.Fold }

func (o Request) inlines() bool { return o.Level > 0 || len(o.Inline) > 0 }

// String returns the options as they are written on the command line: "-O2 --icf".
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

// Check returns an error if an option is invalid. It does not check the patterns, since package
// link does.
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
// The first two steps are repeated, because inlining can show which function a register holds. If
// only Fold is set, no other step runs.
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

// inline inlines calls until no more can be inlined, and names the spaces of accesses.
func (s *state) inline() {
	const passes = 4 // each resolves one more level of function pointers
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

// state is the program, and the facts that the steps have found.
type state struct {
	Options
	// inlineAll, noInline and keep are Inline, NoInline and Keep of Options.
	inlineAll, noInline, keep sets.Globs

	p         *Program
	percent   bool        // a module-scope name starts with %
	functions []*function // in the order of the output
	byName    map[string]*function
	alias     map[string]string
	word      string // a word that new names contain; it must be nowhere in the program

	*callGraph
	uses     map[string]int   // of each name, outside the definition of that function
	depths   map[string]int64 // see depth
	numbered map[string]int64 // the least number after each base of a name: see reconsider
	prepared bool             // see prepare
	tooLarge atomic.Bool      // set if a function is

	inlined   map[string]bool
	grown     map[string]bool // functions that others are inlined into
	spelled   map[string]bool // see static
	variables []variable      // variables that are added
	added     map[string]bool // names of added variables
	moved     []Moved
	locs      lineInfo
	report    []Call
	reported  map[Call]int // index in report; Inlined and Reason are not set in the key
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
		Options: o, inlineAll: sets.NewGlobs(o.Inline), noInline: sets.NewGlobs(o.NoInline), keep: sets.NewGlobs(o.Keep), p: p, percent: p.Percent(), byName: map[string]*function{}, alias: map[string]string{},
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

// declares reports whether the program declares a name at or before a place of Program.Names.
func (s *state) declares(name string, place int32) bool {
	at, ok := s.p.Names[name]
	return s.added[name] || ok && at <= place
}

// chooseWord chooses a word that is nowhere in the program, so that a name with it cannot equal
// another name or be mistaken for one.
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

// register returns a new name for a register or object in a function, and label a new name for a
// label. Each function has its own numbers, so that an edit of one function leaves others
// unchanged. A name that is inlined with its function must have a lower number than the names that
// the caller adds for the call, because otherwise it could hide one of them.
func (s *state) register(f *function) string { f.names++; return "%" + s.word + strconv.Itoa(f.names) }
func (s *state) label(f *function) string    { f.names++; return "$" + s.word + strconv.Itoa(f.names) }

// each calls work with 0 to n-1 in several goroutines, so work must not change the state.
func (s *state) each(n int, work func(i int)) {
	parallel.Each(context.Background(), n, s.Jobs, func(int) string { return "optimising" }, work)
}

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

// tell adds a call to the report. If the call was reported before, a refusal is replaced once the
// call is inlined.
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
