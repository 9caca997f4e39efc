package link

import (
	"context"
	"slices"
	"sync"

	"ptxlink/link/optimize"
	"ptxlink/link/program"
)

// Optimize says which functions a link inlines and folds. The zero value changes none.
type Optimize = optimize.Request

// InlinedCall is one direct call of a device function, and whether it is inlined.
type InlinedCall struct {
	Caller, Callee string // names in the output
	Place          Place  // in the input
	Inlined        bool
	Reason         string // why it is not inlined
}

// FoldedFunction is a function that another function with the same code replaces. Both have the
// names that they have, or would have, in the output.
type FoldedFunction = optimize.Fold

func (r *Result) optimize(ctx context.Context, p *program.Program, sections *program.DebugSections, o Options) error {
	options := optimize.Options{Request: o.Optimize, Keep: slices.Concat(o.Exports, o.Undefined, o.RequireDefined), Jobs: o.Jobs, Spelling: o.Spelling}
	options.Interposable = options.Interposable || len(o.AllowUndefined) > 0 || o.WarnUndefined
	if o.KeepUnused {
		options.Keep = []string{"*"}
	}
	better, err := p.Optimize(ctx, sections, options)
	if err != nil {
		return err
	}
	r.describer = sync.OnceValue(describer{p}.describe)
	for _, c := range better.Calls {
		call := InlinedCall{Caller: c.Caller, Callee: c.Callee, Inlined: c.Inlined, Reason: c.Reason}
		call.Place, _ = p.Place(c.Line)
		r.InlinedCalls = append(r.InlinedCalls, call)
	}
	r.Folded = better.Folded
	return nil
}
