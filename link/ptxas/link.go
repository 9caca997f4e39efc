package ptxas

import (
	"cmp"
	"context"
	"errors"

	"ptxlink/internal/tool"
	"ptxlink/link"
)

// Cubin links modules and assembles the result for o.Arch, or for the .target of the
// output if that is empty. It runs the ptxas that Find finds. The Result has the
// messages of both steps; its PTX is the linked module. If the modules cannot be
// linked, or ptxas rejects the result, the error is *link.Errors.
func Cubin(ctx context.Context, o link.Options) (cubin []byte, r *link.Result, err error) {
	o.Stream = false
	if r, err = link.Link(ctx, o); err != nil {
		return nil, nil, err
	}
	b := Build{Options: Options{Arch: o.Arch}}
	if cubin, err = b.Cubin(ctx, r); err != nil {
		return nil, nil, err
	}
	return cubin, r, nil
}

// Cubin assembles the result of a link (not one with Stream) and adds the messages to
// it. Empty fields of b are filled in: Path by Find, Nvlink if it is there, Arch with
// the .target, Debug, LineInfo and Modules with those of the result. If ptxas rejects the
// module, the error is *link.Errors with all messages, and errors.Is finds
// ErrRejected.
func (b Build) Cubin(ctx context.Context, r *link.Result) (cubin []byte, err error) {
	if b.Path == "" {
		if b.Path, err = Find(""); err != nil {
			return nil, err
		}
	}
	if b.Nvlink == "" {
		if b.Nvlink, err = b.FindNvlink(ctx, ""); errors.Is(err, tool.ErrHangs) {
			return nil, err
		}
	}
	b.Arch = cmp.Or(b.Arch, r.Target)
	b.Debug, b.LineInfo, b.Modules = b.Debug || r.Debug, b.LineInfo || r.LineInfo, r.Modules
	cubin, messages, err := b.Assemble(ctx, r.PTX, r.Lines)
	r.Messages = append(r.Messages, messages...)
	if errors.Is(err, ErrRejected) {
		return nil, errors.Join(&link.Errors{Messages: r.Messages}, ErrRejected)
	}
	return cubin, err
}
