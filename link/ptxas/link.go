package ptxas

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/dlink"
)

// Cubin links modules and assembles the result for o.Arch, or for the .target of the
// output if that is empty. It runs the ptxas that Find finds. The Result has the
// messages of both steps; its PTX is the linked module. If the modules cannot be
// linked, or ptxas rejects the result, the error is *link.Errors.
//
// The inputs may also be objects, archives and fatbins with cubins for o.Arch, which need the nvlink
// that FindNvlink finds. It links the cubins of archives and of inputs without PTX for o.Arch, and,
// where functions stay separate, those that ptxas made of the PTX of the inputs (Own). All are checked
// as PTX is. LTO-IR and LLVM bitcode must be compiled first (Lowerer, package llvm).
func Cubin(ctx context.Context, o link.Options) (cubin []byte, r *link.Result, err error) {
	b := Build{Options: Options{Spelling: o.Spelling}}
	missing := b.find(ctx)
	t, err := b.link(ctx, o)
	if err = cmp.Or(err, missing); err != nil {
		return nil, nil, err
	}
	if len(t.Cubins) > 0 && b.Nvlink == "" {
		if b.Nvlink, err = b.FindNvlink(ctx, ""); err != nil {
			return nil, nil, err
		}
	}
	if cubin, err = b.target(ctx, t); err != nil {
		return nil, nil, err
	}
	return cubin, t.Result, nil
}

// Cubin assembles the result of a link (not one with Stream) and adds the messages to
// it. Empty fields of b are filled in: Path by Find, Nvlink if it is there, Arch with
// the .target, Debug, LineInfo and Modules with those of the result. If ptxas rejects the
// module, the error is *link.Errors with all messages, and errors.Is finds
// ErrRejected.
func (b Build) Cubin(ctx context.Context, r *link.Result) (cubin []byte, err error) {
	if err := b.find(ctx); err != nil {
		return nil, err
	}
	return b.target(ctx, Target{Arch: cmp.Or(b.Arch, r.Target), Result: r})
}

// find fills in the programs.
func (b *Build) find(ctx context.Context) (err error) {
	if b.Path == "" {
		if b.Path, err = Find(""); err != nil {
			return err
		}
	}
	if b.Nvlink == "" {
		if b.Nvlink, err = b.FindNvlink(ctx, ""); errors.Is(err, tool.ErrHangs) {
			return err
		}
	}
	return nil
}

// link links modules, and finds the cubins that nvlink links with the result.
func (b Build) link(ctx context.Context, o link.Options) (t Target, err error) {
	o.Stream, o.Inputs = false, dlink.Buffered(ctx, o.Inputs, o.MaxInputSize)
	given := o
	apart := func(prefer dlink.Preference) (s dlink.Separated, log diag.Log) {
		log.Spelling = o.Spelling
		s = dlink.Separate(ctx, given.Inputs, dlink.Options{Arch: o.Arch, MaxInputSize: o.MaxInputSize, PTX: o.Arch == "" || len(given.Cubins) > 0, Prefer: prefer}, &log)
		return s, log
	}
	prefer := dlink.PreferArchived
	if b.Nvlink == "" || o.Optimize.Enabled() {
		prefer = dlink.PreferPTX
	}
	s, log := apart(prefer)
	if log.Errors() > 0 {
		return t, &link.Errors{Messages: log.Messages}
	}
	var own func() ([]link.Input, dlink.Cubins, []*link.Message)
	if len(s.LTOIR.Units)+len(s.Bitcode.Units) == 0 { // otherwise link.Link reports them
		o.Inputs, o.Cubins = s.Modules, append(slices.Clip(o.Cubins), s.Cubins.Symbols...)
		if s.BothForms && prefer == dlink.PreferArchived {
			own = func() ([]link.Input, dlink.Cubins, []*link.Message) {
				s, log := apart(dlink.PreferOwn)
				return s.Modules, s.Cubins, log.Messages
			}
		}
	}
	r, err := link.Link(ctx, o)
	if err != nil {
		return t, err
	}
	r.Messages = append(log.Messages, r.Messages...)
	if s.Preferred && r.Untyped() { // PTX says what all functions take
		as, _ := apart(dlink.PreferPTX)
		given.Inputs, given.Cubins, given.CheckOnly = as.Modules, as.Cubins.Symbols, true
		if _, err := link.Link(ctx, given); err != nil {
			return t, err
		}
	}
	return NewTarget(r, o, s.Cubins.Linked(r), own), nil
}

// target assembles a target, and adds the messages to its result.
func (b Build) target(ctx context.Context, t Target) (cubin []byte, err error) {
	r, debug, lines := t.Result, b.Debug, b.LineInfo
	b = b.of(t)
	b.Debug, b.LineInfo = b.Debug || debug, b.LineInfo || lines
	cubin, messages, err := b.Assemble(ctx, r.PTX, r.Lines)
	r.Messages = append(r.Messages, messages...)
	if errors.Is(err, ErrRejected) {
		return nil, errors.Join(&link.Errors{Messages: r.Messages}, ErrRejected)
	}
	return cubin, err
}
