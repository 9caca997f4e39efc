package ptxas

import (
	"cmp"
	"context"
	"errors"

	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/object/diag"
)

// Cubin links modules and assembles the result for o.Arch, or for the .target of the
// output if that is empty. It runs the ptxas that Find finds. The Result has the
// messages of both steps; its PTX is the linked module. If the modules cannot be
// linked, or ptxas rejects the result, the error is *link.Errors.
//
// The inputs may also be objects, archives and fatbins with cubins for o.Arch, which need the
// nvlink that FindNvlink finds. nvlink links the cubins of archives and of inputs without PTX for
// o.Arch and, if functions stay separate, the cubins that ptxas made of the PTX of the inputs
// (Own). All are checked like PTX. LTO-IR is compiled to PTX, for which nvlink needs the libnvvm
// that FindNVVM finds. LLVM bitcode must be compiled first (package llvm).
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
	if o.Optimize.Enabled() {
		b.Note = "ptxlink " + o.Optimize.String()
	}
	if cubin, err = b.target(ctx, t); err != nil {
		return nil, nil, err
	}
	return cubin, t.Result, nil
}

// Cubin assembles the result of a link, which must not have Stream, and adds the messages to it. It
// fills in empty fields of b: Path by Find, Nvlink if it is there, Arch from the .target, and
// Debug, LineInfo and Modules from the result. If ptxas rejects the module, the error is
// *link.Errors with all messages, and errors.Is finds ErrRejected.
func (b Build) Cubin(ctx context.Context, r *link.Result) (cubin []byte, err error) {
	if err := b.find(ctx); err != nil {
		return nil, err
	}
	return b.target(ctx, Target{Arch: cmp.Or(b.Arch, r.Target), Result: r})
}

func (b *Build) find(ctx context.Context) (err error) {
	if b.Path == "" {
		if b.Path, err = Find(""); err != nil {
			return err
		}
	}
	if b.Nvlink == "" {
		b.Nvlink, err = b.TryNvlink(ctx, "")
	}
	return err
}

func (b Build) link(ctx context.Context, o link.Options) (t Target, err error) {
	o.Stream, o.Assembled = false, true
	l := dlink.Linker{Options: o, PTX: o.Arch == "" || len(o.Cubins) > 0, Prefer: dlink.PreferArchived, Jobs: b.Jobs}
	if b.Nvlink == "" || o.Optimize.Enabled() {
		l.Prefer = dlink.PreferPTX
	}
	l.LTOIR = func(lto *dlink.Intermediate) (dlink.Compiler, error) {
		l, err := b.lowerer(ctx, lto.Arch(o.Arch))
		if m, ok := errors.AsType[*link.Message](err); ok {
			m.Note(diag.Place{}, NeededFor(lto))
		}
		return l, err
	}
	linked, err := l.Run(ctx)
	if err != nil {
		return t, err
	}
	return NewTarget(linked), nil
}

// NeededFor returns the part of a message that names the input that needs the tools for LTO-IR.
func NeededFor(lto *dlink.Intermediate) string {
	return "needed for " + lto.Units[0].Name + ", which has " + lto.Units[0].Form() + " and no PTX"
}

func (b Build) lowerer(ctx context.Context, arch string) (l *Lowerer, err error) {
	if err := b.find(ctx); err != nil {
		return nil, err
	}
	l = &Lowerer{Options: b.Options, Nvlink: b.Nvlink}
	if l.Arch = arch; l.Nvlink == "" {
		if l.Nvlink, err = b.FindNvlink(ctx, ""); err != nil {
			return nil, err
		}
	}
	l.NVVM, err = b.FindNVVM("", l.Nvlink)
	return l, err
}

// target assembles a target, and adds the messages to its result.
func (b Build) target(ctx context.Context, t Target) (cubin []byte, err error) {
	outputs, messages, err := b.AssembleAll(ctx, []Target{t})
	r := t.Result
	r.Messages = append(r.Messages, messages...)
	if errors.Is(err, ErrRejected) {
		return nil, errors.Join(&link.Errors{Messages: r.Messages}, ErrRejected)
	}
	if err != nil {
		return nil, err
	}
	return outputs[0].Cubin, nil
}
