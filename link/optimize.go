package link

import (
	"errors"
	"math"
	"slices"
	"strings"

	"ptxlink/link/diag"
	"ptxlink/link/optimize"
	"ptxlink/object/ptx"
)

// Optimize says what the second stage of a link does to the linked module. The zero
// value leaves it as it is.
type Optimize struct {
	// Level is 0, 1 or 2. 1 inlines device functions that are called once, and small
	// ones. 2 also inlines larger ones that add little code.
	Level int
	// Inline and NoInline are patterns (path.Match) of names in the output: functions
	// to inline at any level, and functions never to inline.
	Inline, NoInline []string
	// InlineLimit is the number of instructions of a small function; 0 means 40.
	InlineLimit int
	// Fold replaces device functions by others with the same code (--icf). Two
	// functions whose address is taken stay two.
	Fold bool
	// Interposable is set if nvlink will link the output with other modules, as it
	// must if Options.AllowUndefined left something undefined, or if the output has no
	// entry. All functions with linkage are then kept, and weak ones may be replaced.
	Interposable bool
}

// InlinedCall is one direct call of a device function, and whether it is inlined.
type InlinedCall struct {
	Caller, Callee string // names in the output
	Place          Place  // in the input
	Inlined        bool
	Reason         string // why it is not inlined
}

// FoldedFunction is a function that another one with the same code replaces: names in
// the output, or what they would be there.
type FoldedFunction struct{ Name, Into string }

func (o Optimize) options() optimize.Options {
	return optimize.Options{Level: o.Level, Inline: o.Inline, NoInline: o.NoInline, Limit: o.InlineLimit, Fold: o.Fold, Interposable: o.Interposable}
}

// check returns an error if an option is invalid.
func (o Optimize) check(relocatable bool) error {
	if err := o.options().Check(); err != nil {
		return err
	}
	if relocatable && o.options().Enabled() {
		return errors.New("a module that will be linked again cannot be optimised")
	}
	return nil
}

// rewrite replaces the output of a result by the optimised module. A linked module that
// cannot be read is a fault of this package, so rewrite then panics.
func rewrite(r *Result, o Options) error {
	if len(r.PTX) >= math.MaxInt32 {
		return diag.New(diag.Usage, diag.Place{}, "the linked module is 2 GiB or larger, so it cannot be optimised").
			WithHelp(diag.Join(o.Spelling.With("-O", "link it without %s"), o.Spelling.With("-S", "%s removes debug information")))
	}
	m, invalid := ptx.Parse(&diag.Source{Name: "the linked module", Text: r.PTX})
	if invalid != nil {
		panic("the linked module is invalid: " + invalid.Text)
	}
	options := o.Optimize.options()
	options.Jobs, options.Spelling = o.Jobs, o.Spelling
	options.Interposable = options.Interposable || len(o.AllowUndefined) > 0
	options.Keep = slices.Concat(o.Exports, o.Undefined, o.RequireDefined)
	if o.KeepUnused {
		options.Keep = []string{"*"}
	}
	better, err := optimize.Optimize(m, options)
	if err != nil {
		return err
	}
	first := r.Lines
	r.PTX = better.Text
	r.Lines = &LineMap{out: diag.Source{Text: r.PTX}, inner: first, lines: better.Lines}
	for _, c := range better.Calls {
		call := InlinedCall{Caller: c.Caller, Callee: c.Callee, Inlined: c.Inlined, Reason: c.Reason}
		call.Place, _ = first.Origin(c.Line)
		r.InlinedCalls = append(r.InlinedCalls, call)
	}
	for _, f := range better.Folded {
		r.Folded = append(r.Folded, FoldedFunction{Name: f.Name, Into: f.Into})
	}
	gone := map[string]string{}
	for _, name := range better.Dropped {
		gone[name] = "all its calls are inlined"
	}
	for _, f := range better.Folded {
		gone[f.Name] = "folded into " + f.Into + ", which has the same code"
	}
	all := r.describer()
	d := description{dropped: all.dropped, removed: all.removed}
	for _, s := range all.symbols {
		if s.Reason = gone[s.Name]; s.Reason != "" {
			d.dropped = append(d.dropped, s)
		} else {
			d.symbols = append(d.symbols, s)
		}
	}
	d.symbols = addMoved(d.symbols, all.symbols, better.Moved)
	d.edges = remeasure(better.Statements, d.symbols)
	r.describer = func() description { return d }
	return nil
}

// addMoved adds the objects that functions had to the symbols of the output, where
// optimize puts them: before the first function.
func addMoved(symbols, all []Symbol, moved []optimize.Moved) []Symbol {
	var list []Symbol
	for _, o := range moved {
		i := slices.IndexFunc(all, func(s Symbol) bool { return s.Name == o.Function })
		if i >= 0 {
			list = append(list, Symbol{Name: o.Name, Original: o.Object, Module: all[i].Module, Kind: "object", Space: strings.TrimPrefix(o.Space, "."), Size: o.Size, Align: o.Align, place: all[i].place})
		}
	}
	first := slices.IndexFunc(symbols, func(s Symbol) bool { return s.Module != "" && (s.Kind == "entry" || s.Kind == "func") })
	if first < 0 {
		first = len(symbols)
	}
	return slices.Insert(symbols, first, list...)
}

// remeasure gives symbols the sizes of their bodies after optimisation, and returns the
// calls in them.
func remeasure(list []optimize.Statement, symbols []Symbol) (edges []Edge) {
	definitions := map[string]optimize.Statement{}
	for _, d := range list {
		if name := d.Module.Names[d.Decl.Name]; d.Decl.Defines() || definitions[name].Decl == nil {
			definitions[name] = d
		}
	}
	for i := range symbols {
		s := &symbols[i]
		d, ok := definitions[s.Name]
		if !ok {
			continue
		}
		if d.Decl.HasBody {
			s.Size = int64(d.Decl.Body.Len)
		}
		edges = appendEdges(edges, d.Module, d.Decl, s.Name, func(id ptx.NameID) (string, bool) {
			name := d.Module.Names[id]
			to, defined := definitions[name]
			return name, !defined || to.Decl.Kind != ptx.Variable
		})
	}
	return edges
}
