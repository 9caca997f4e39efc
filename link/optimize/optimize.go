// Package optimize rewrites one linked module so that ptxas makes better code of it: it
// inlines functions. It reads and writes PTX text, and looks at nothing but the module.
package optimize

import (
	"fmt"
	"path"
	"slices"

	"ptxlink/internal/diag"
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
	Text   []byte
	Module *ptx.Module // Text, parsed
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

// Check returns an error if an option is invalid.
func (o Options) Check() error {
	for _, list := range [][]string{o.Inline, o.NoInline} {
		for _, glob := range list {
			if _, err := path.Match(glob, ""); err != nil {
				return fmt.Errorf("%q is not a pattern: %w", glob, err)
			}
		}
	}
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
//	inline    callees before callers, in rounds; each round writes the module again
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
	s := &state{Options: o, m: m, inlined: map[string]bool{}, grown: map[string]bool{}, reported: map[reportKey]int{}, locs: lineInfo{labels: map[string]string{}}}
	if !slices.ContainsFunc(m.Decls, func(d ptx.Decl) bool { return d.Kind == ptx.Entry && d.HasBody }) {
		s.Interposable = true
	}
	s.chooseWord()
	s.forget()
	if o.inlines() {
		if err := s.inline(); err != nil {
			return nil, err
		}
	}
	var folded []Fold
	if o.Fold {
		var err error
		if folded, err = s.fold(); err != nil {
			return nil, err
		}
	}
	dropped, err := s.drop()
	if err != nil {
		return nil, err
	}
	return &Result{Folded: folded, Text: s.m.Src.Text, Module: s.m, Lines: s.origins(), Calls: s.report, Dropped: dropped, Moved: s.moved}, nil
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
		s.forget()
		s.analyse()
		if err := s.prepare(); err != nil {
			return err
		}
		for level := range maxNesting {
			if err := s.round(level); err != nil {
				return err
			}
		}
	}
	return s.spaces()
}

// state is the module between two steps, and what the steps know of its functions.
// Functions are known by name: the numbers of names and declarations change when the
// module is written again.
type state struct {
	Options
	m     *ptx.Module
	lines []int32 // of each line of m, the line of the original module; nil: the same
	word  string  // new names contain it, and the original module does not
	count int     // of new names

	*graph
	// Of m:
	codes    map[string]*ptx.Code  // by function
	reasons  map[ptx.NameID]string // why a function cannot be inlined, or ""
	sizes    map[string]int        // by function: see instructions
	frames   map[string]*frame     // by function
	numbered map[string]int64      // the least number behind each base of a name
	prepared bool                  // see prepare

	inlined  map[string]bool
	grown    map[string]bool // functions that others are inlined into
	spelled  map[string]bool // see static
	moved    []Moved
	locs     lineInfo
	report   []Call
	reported map[reportKey]int // index in report
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

// register returns a new name for a register or object, and label one for a label.
func (s *state) register() string { s.count++; return fmt.Sprintf("%%%s%d", s.word, s.count) }
func (s *state) label() string    { s.count++; return fmt.Sprintf("$%s%d", s.word, s.count) }

// code returns the code of a function.
func (s *state) code(d *ptx.Decl) *ptx.Code {
	name := s.m.Names[d.Name]
	c := s.codes[name]
	if c == nil {
		c = s.m.Code(d)
		s.codes[name] = c
	}
	return c
}

// forget drops what is known of the current module.
func (s *state) forget() {
	s.codes, s.reasons, s.sizes, s.numbered = map[string]*ptx.Code{}, map[ptx.NameID]string{}, map[string]int{}, nil
	s.frames = map[string]*frame{}
}

// rewrite writes the module with edits and reads it again.
func (s *state) rewrite(edits []edit) error {
	if len(edits) == 0 {
		return nil
	}
	w := writer{src: s.m.Src, from: s.lines}
	w.copy(ptx.Span{Len: int32(len(s.m.Src.Text))}, edits)
	m, err := ptx.Parse(&diag.Source{Name: s.m.Src.Name, Text: w.out})
	if err != nil {
		line := m.Src.Line(err.Span.Off)
		return fmt.Errorf("the optimised module is invalid at line %d: %s", line, err.Text)
	}
	s.m, s.lines = m, w.lines
	s.forget()
	return nil
}

// origin returns the line of the original module that a place comes from.
func (s *state) origin(off int32) int {
	line := s.m.Src.Line(off)
	if s.lines == nil {
		return line
	}
	return int(s.lines[line-1])
}

func (s *state) origins() []int32 {
	if s.lines == nil {
		w := writer{src: s.m.Src}
		w.copy(ptx.Span{Len: int32(len(s.m.Src.Text))}, nil)
		return w.lines
	}
	return s.lines
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
