package link

import (
	"context"
	"fmt"
	"slices"

	"ptxlink/object"
	"ptxlink/object/diag"
)

// Linker holds libraries that many links share. Links are faster, because it reads the libraries
// once and parses a member only when a link first needs it. A Linker may be used by several
// goroutines at the same time.
type Linker struct {
	libraries []Input
	arch      string
}

// NewLinker reads the libraries completely, so Files and Text may change afterwards. arch must be
// the Arch of all links, because it selects the PTX of a library that has several. If a library
// cannot be read, the error is *Errors.
func NewLinker(ctx context.Context, arch string, libraries ...Input) (*Linker, error) {
	if err := object.CheckArch(arch, diag.Spelling{}); err != nil {
		return nil, err
	}
	l := &Linker{arch: arch}
	var log diag.Log
	io := false
	for _, in := range object.Named(libraries) {
		in.Text = slices.Clone(in.Text)
		opened, unread := object.Keep(ctx, in, object.Options{Arch: arch}, &log)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		io = io || unread
		l.libraries = append(l.libraries, Input{Name: in.Name, Path: in.Path, WholeArchive: in.WholeArchive, Opened: opened})
	}
	if log.Errors() > 0 {
		return nil, &Errors{Messages: log.Messages, IO: io}
	}
	return l, nil
}

// Link links the inputs of o, followed by the libraries, like [Link]. If o.Arch is empty, the Arch
// of the Linker is used; otherwise it is an error if they differ.
func (l *Linker) Link(ctx context.Context, o Options) (*Result, error) {
	switch {
	case o.Arch == "":
		o.Arch = l.arch
	case o.Arch != l.arch:
		return nil, diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("the link is for %s, and its libraries were read for %q", o.Arch, l.arch))
	}
	o.Inputs = slices.Concat(o.Inputs, l.libraries)
	return Link(ctx, o)
}
