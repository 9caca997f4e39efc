package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// readArchs reads --arch. Each cubin of a fatbin needs a separate link for its GPU, because the
// inputs may hold PTX for several GPUs.
func (j *linkRequest) readArchs() error {
	archs := j.opts.StringSlice("arch")
	for i, arch := range archs {
		if err := object.CheckArch(arch, j.spelling); err != nil {
			return err
		}
		if !slices.Contains(archs[:i], arch) {
			j.archs = append(j.archs, arch)
		}
	}
	switch {
	case len(j.archs) == 1:
		j.options.Arch, j.archs = j.archs[0], nil
	case len(j.archs) > 1 && j.format != "fatbin" && !j.checkOnly:
		what := map[string]string{"ptx": "PTX", "cubin": "a cubin"}[j.format]
		return usageError(fmt.Sprintf("%s is for one GPU, but --arch names %s", what, strings.Join(j.archs, " and ")),
			"write out.fatbin, which holds a cubin for each, or link once for each")
	}
	return nil
}

// linkAll links for each GPU. If it returns an error, the targets are the successful links.
func (j *linkJob) linkAll() (targets []ptxas.Target, err error) {
	archs := j.archs
	if len(archs) == 0 {
		archs = []string{j.options.Arch}
	} else {
		j.report.told = map[string]bool{}
	}
	described, given := map[string]bool{}, dlink.Buffered(j.opts.Context, j.options.Inputs, j.options.MaxInputSize)
	j.linked = nil
	for _, arch := range archs {
		j.now.Arch, j.now.Inputs = arch, given
		linked, linkErr := j.link()
		if linkErr != nil && linked != nil {
			j.report.write(linked.Messages)
		}
		if exit := (*exitError)(nil); linkErr != nil && !errors.As(linkErr, &exit) {
			return nil, linkErr
		}
		if linkErr != nil {
			err = linkErr // the other links may have other errors
			continue
		}
		if text := j.describe(linked.Result); text != "" && !described[text] {
			described[text] = true
			if len(archs) > 1 {
				text = arch + ":\n" + text
			}
			io.WriteString(j.stderr, text)
		}
		if j.assembler.Mode != ptxas.Auto {
			linked.Own = nil
		}
		target := ptxas.NewTarget(linked)
		if j.report.write(linked.Messages) > 0 { // --fatal-warnings
			err = &exitError{code: exitLink}
		}
		j.showCommands(linked.Result)
		j.linked = append(j.linked, linked.Options)
		targets = append(targets, target)
	}
	return targets, cmp.Or(err, j.warnUnneeded())
}

func (j *linkJob) link() (*dlink.Linked, error) {
	j.kept = 0
	linked, err := j.linker().Run(j.opts.Context)
	if unsaved := j.writeSaved(); unsaved != nil { // even after errors, since they name its lines
		return nil, unsaved
	}
	var names []string
	if refused, ok := errors.AsType[*link.Errors](err); ok {
		names = refused.Modules
	} else if err == nil {
		for _, m := range linked.Modules {
			names = append(names, m.Name)
		}
		if j.memory != nil {
			j.memory.linked = linked.Result
		}
	}
	if j.opts.Bool("trace") { // like ld, even if they cannot be linked
		for _, name := range names {
			fmt.Fprintln(j.stderr, diag.Escape(name))
		}
	}
	if err != nil {
		return linked, j.refused(err)
	}
	j.passes = append(j.passes, linked.Passes...)
	if j.options.Optimize.Enabled() {
		j.noteMachineCode(linked.Cubins)
	}
	return linked, j.findNvlinkFor(linked.Cubins)
}

// noteMachineCode says which objects -O cannot change, because they have no PTX for the GPU. It
// does not count NVIDIA's libraries, which never have PTX.
func (j *linkJob) noteMachineCode(cubins []*object.Cubin) {
	var names []string
	for _, c := range cubins {
		if file, _, member := strings.Cut(c.Name, ".a("); !member && !strings.HasSuffix(file, ".cubin") {
			names = append(names, strings.TrimSuffix(file, ":"+j.now.Arch))
		}
	}
	if len(names) == 0 {
		return
	}
	text := names[0] + " has"
	if n := len(names) - 1; n > 0 {
		text = fmt.Sprintf("%s and %d more have", names[0], n)
	}
	number := object.ArchNumber(j.now.Arch)
	var log diag.Log
	log.Note(diag.Place{}, text+" machine code for "+j.now.Arch+" and no PTX, which optimisation does not change").
		WithHelp("compile for compute_" + number + " too: nvcc -arch=" + j.now.Arch + ", or CMAKE_CUDA_ARCHITECTURES=" + number + " without -real")
	j.report.write(log.Messages)
}

// linkWith links, with the libraries that serve keeps if the request names some.
func (j *linkJob) linkWith(ctx context.Context, o link.Options) (*link.Result, error) {
	if j.memory != nil && j.memory.libraries != nil {
		return j.memory.libraries.Link(ctx, o)
	}
	return link.Link(ctx, o)
}

// unused returns the archives that no link needs. An archive is used if one GPU needs it.
func unused(targets []ptxas.Target) []string {
	list := targets[0].Unused
	for _, t := range targets[1:] {
		list = slices.DeleteFunc(slices.Clone(list), func(path string) bool { return !slices.Contains(t.Unused, path) })
	}
	return list
}
