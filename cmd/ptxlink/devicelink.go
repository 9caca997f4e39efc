package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
)

// tell reports the messages of a device link. quiet suppresses them if they are only
// warnings.
func (c *command) tell(messages []*link.Message, quiet bool) error {
	failed := slices.ContainsFunc(messages, func(m *link.Message) bool { return m.Kind == link.Error })
	if quiet && !failed {
		return nil
	}
	if c.report.write(messages) > 0 {
		return &exitError{code: exitLink}
	}
	return nil
}

// linkVirtual links for a virtual architecture, as nvlink does: the driver links the PTX of
// the objects when the program starts, so only the register file is written. The errors of
// that link are reported now, unless the driver finds more than the PTX that is read here.
func (j *linkJob) linkVirtual(job *dlink.Job, register string) error {
	if j.options.CheckOnly = true; len(job.Messages) == 0 {
		if _, err := j.linkAll(); err != nil {
			return err
		}
	}
	return j.write(j.paths, registerFile(job, register, nil)...)
}

// registerFile returns the file of --register-link-binaries, if there is one. A link for a
// virtual architecture has no result.
func registerFile(job *dlink.Job, path string, result *link.Result) []outfile.File {
	if path == "" {
		return nil
	}
	return []outfile.File{{Path: path, Data: job.RegisterFile(result)}}
}

// findNvlink returns the path of NVIDIA's nvlink. why is what it is needed for.
func (j *linkJob) findNvlink(why string) (path string, err error) {
	if path, err = j.assembler.FindNvlink(""); err != nil {
		var m *diag.Message
		if errors.As(err, &m) {
			m.Note(diag.Place{}, why)
		}
		return "", &exitError{exitIO, err}
	}
	return path, nil
}

// takeCubins leaves the inputs that have a cubin for --arch, and no PTX, to nvlink.
func (j *linkJob) takeCubins() (err error) {
	if j.format != "cubin" || j.options.Arch == "" {
		return nil
	}
	log := diag.Log{Spelling: j.spelling}
	inputs, cubins := dlink.Separate(j.opts.Context, j.options.Inputs, dlink.Options{Arch: j.options.Arch, MaxInputSize: j.options.MaxInputSize}, &log)
	if j.report.log(&log) > 0 {
		return &exitError{code: exitLink}
	}
	j.options.Inputs = inputs
	return j.useCubins(&cubins)
}

// useCubins leaves cubins to nvlink, and those of archives that something needs.
func (j *linkJob) useCubins(cubins *dlink.Cubins) (err error) {
	if err := j.pullCubins(cubins); err != nil {
		return err
	}
	switch {
	case len(cubins.List) == 0:
		return nil
	case j.assembler.Mode == ptxas.Whole:
		return &usageError{text: "--ptxas-mode=whole links no cubins, and " + cubins.List[0].Name + " has one", help: "without it, nvlink links the cubins"}
	case j.assembler.Nvlink == "":
		if j.assembler.Nvlink, err = j.findNvlink("needed for " + cubins.List[0].Name + ", which has no PTX for " + j.options.Arch); err != nil {
			return err
		}
	}
	j.assembler.Mode, j.assembler.Cubins = ptxas.Separate, cubins.List
	return nil
}

// pullCubins sets the cubins of the link, and adds the members of archives that the modules
// need, in rounds: the cubins may need modules of archives, and these other cubins.
func (j *linkJob) pullCubins(cubins *dlink.Cubins) error {
	j.options.Cubins = cubins.Offered()
	if len(j.options.Cubins) == len(cubins.List) {
		return nil // there are no archives
	}
	for i, in := range j.options.Inputs {
		if in.Reader != nil { // each round reads it
			text, err := io.ReadAll(in.Reader)
			if err != nil {
				return &exitError{exitIO, fmt.Errorf("%s: cannot read: %w", in.Name, err)}
			}
			j.options.Inputs[i].Text, j.options.Inputs[i].Reader = text, nil
		}
	}
	for {
		o := j.options
		o.CheckOnly = true
		r, err := link.Link(j.opts.Context, o)
		if refused := (*link.Errors)(nil); errors.As(err, &refused) {
			return nil // the link reports them, and nothing that a member defines
		}
		if err != nil {
			return err
		}
		if !cubins.Pull(r) {
			j.options.Cubins = cubins.Symbols
			return nil
		}
		j.options.Cubins = cubins.Offered()
	}
}
