package object

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ptxlink/object/container"
	"ptxlink/object/diag"
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
	if !ok || IsVirtual(arch) || !errors.As(err, &fault) || len(fault.Cubins) == 0 {
		return
	}
	for _, target := range fault.Cubins {
		if t, ok := ParseGPU(target); !ok || gpu.RunsCubin(t) {
			return
		}
	}
	fault.Text += "; none of it runs on " + arch
	fault.Help = fmt.Sprintf("compile it for %s: -gencode arch=compute_%s,code=[%[1]s,compute_%[2]s] (nvcc) or --offload-arch=%[1]s (clang)", arch, ArchNumber(arch))
}

// Walk reads an input, and calls use with each object of device code in it, in file order, until it returns false. PTX has
// the names that a link gives it. It returns false, and logs the error,
// if the input cannot be read to its end, or has neither PTX nor code of the forms.
//
// Memory of a mapped file is given back while Walk reads it, so that only what use keeps stays in memory.
func Walk(ctx context.Context, in Input, forms []container.Form, o Options, log *diag.Log, use func(container.Object) bool) bool {
	in.NoIndex = true
	var op opening
	files := newFileTable(ctx, o.Map)
	data, _, ok := op.contents(ctx, files, &in, o)
	log.Append(&op.log)
	if !ok {
		return false
	}
	if o.MaxSize == 0 { // device code is read one after the other, and expands to 10 times its size
		o.MaxSize = container.DefaultMaxSize + 16*int64(len(data))
	}
	const header, often = 64 << 10, 1 << 20 // the system maps 64 KiB at once
	touched := 0
	options := container.Options{MaxSize: o.MaxSize, Open: files.readRegular, Touched: func(bytes int) {
		if touched += header + bytes; touched > often {
			touched = 0
			o.Map.DropAll()
		}
	}}
	found := false
	err := container.EachObject(in.name(), data, options, func(object container.Object) bool {
		found = found || object.Has(container.PTX) || slices.ContainsFunc(forms, object.Has)
		return use(object)
	})
	if err == nil && !found && ctx.Err() == nil {
		_, err = container.Open(in.name(), data, options) // which says what it holds instead
	}
	if err != nil {
		Refuse(in.name(), err, log)
	}
	return err == nil
}

// Choose returns the PTX of an object that a link for an architecture takes, or all of it without one. It logs why
// none can be taken.
func Choose(from container.Object, arch string, log *diag.Log) (chosen []container.Code) {
	var codes []container.Code
	var members []container.Member
	for _, c := range from.Codes {
		if c.Form == container.PTX {
			codes, members = append(codes, c), append(members, c.Member)
		}
	}
	if arch == "" {
		return codes
	}
	at := 0
	alternatives(members, arch, func(group []container.Member, best int) {
		if best >= 0 {
			chosen = append(chosen, codes[at+best])
		} else {
			(&Unit{member: &group[0], unusable: noneRuns(group, arch)}).refuse(Options{Arch: arch}, log)
		}
		at += len(group)
	})
	return chosen
}

// ReadCode calls use with the record of each module in PTX, which it keeps no longer, and logs the errors of the others.
func ReadCode(c container.Code, path string, log *diag.Log, use func(*File)) {
	members, err := c.Modules()
	if err != nil {
		Refuse(c.Name, err, log)
		return
	}
	before := len(log.Messages)
	for i := range members {
		if f := parse(&members[i], log); f != nil {
			f.Path = path
			use(f)
		}
	}
	if len(log.Messages) == before { // which would have the text
		c.Release()
	}
}
