package object

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ptxlink/link/diag"
	"ptxlink/object/container"
)

// Refuse logs an error of package container.
func Refuse(name string, err error, log *diag.Log) {
	var fault *container.Error
	if !errors.As(err, &fault) {
		log.Error(diag.BadContainer, diag.At(&diag.Source{Name: name}, diag.Span{}), err.Error())
		return
	}
	text := fault.Text
	if fault.Offset > 0 {
		text = fmt.Sprintf("at byte %#x: %s", fault.Offset, text)
	}
	id := diag.BadContainer
	switch {
	case fault.Err != nil:
		id = diag.IO
	case fault.NoPTX:
		id = diag.NotPTX
	}
	log.Error(id, diag.At(&diag.Source{Name: fault.Name}, diag.Span{}), text).WithHelp(fault.Help).Err = fault.Err
}

// unread reports whether an error of package container says that something could not be read, rather
// than that it is damaged.
func unread(err error) bool {
	fault, ok := errors.AsType[*container.Error](err)
	return ok && fault.Err != nil
}

// otherGPU changes an error if the reason is that none of the cubins in a file runs on the GPU of a link.
func otherGPU(err error, arch string) {
	var fault *container.Error
	gpu, ok := ParseGPU(arch)
	number, machine := strings.CutPrefix(arch, "sm_")
	if !ok || !machine || !errors.As(err, &fault) || len(fault.Cubins) == 0 {
		return
	}
	for _, target := range fault.Cubins {
		if t, ok := ParseGPU(target); !ok || gpu.RunsCubin(t) {
			return
		}
	}
	fault.Text += "; none of it runs on " + arch
	fault.Help = fmt.Sprintf("compile it for %s: -gencode arch=compute_%s,code=[%[1]s,compute_%[2]s] (nvcc) or --offload-arch=%[1]s (clang)", arch, number)
}

// Members returns the unparsed PTX texts of one input, linkable or not: all of
// them, or the one for Options.Arch of each group of alternatives. unread is set if
// the input could not be read at all.
func Members(ctx context.Context, in Input, o Options, log *diag.Log) (members []container.Member, unread bool) {
	in.NoIndex = true
	var op opening
	op.open(ctx, newFileTable(ctx, nil), &in, 0, o)
	log.Append(&op.log)
	for _, u := range op.units {
		if u.unusable != "" {
			u.refuse(o, log)
			continue
		}
		members = append(members, *u.member)
	}
	return members, op.unread
}
