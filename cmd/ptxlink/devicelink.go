package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
	"ptxlink/object/container"
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
		return "", j.neededFor(why, err)
	}
	return path, nil
}

// takeCode takes the inputs apart that have no PTX for the GPU, or for which a cubin is
// preferred: their cubins are left to nvlink, and their LTO-IR is compiled to PTX.
func (j *linkJob) takeCode() (cubins []container.Cubin, err error) {
	if j.separated {
		return nil, nil
	}
	prefer := j.preference()
	given := j.options.Inputs
	cubins, preferred, err := j.takeForms(prefer)
	if err != nil || !preferred {
		return cubins, err
	}
	defer func(t taken) { j.taken = t }(j.taken)
	return cubins, j.checkAsPTX(func() error {
		j.options.Inputs = given
		_, _, err := j.takeForms(dlink.PreferPTX)
		return err
	})
}

// preference returns where cubins are preferred to PTX.
func (j *linkJob) preference() dlink.Preference {
	switch name := j.opts.String("prefer"); {
	case !j.cubin() || name == "ptx":
		return dlink.PreferPTX
	case name == "cubin":
		return dlink.PreferCubins
	case j.assembler.Nvlink == "" || j.assembler.Mode == ptxas.Whole || j.assembler.Compile || len(j.assembler.Args) > 0 || j.optimizes():
		return dlink.PreferPTX
	}
	return dlink.PreferArchived
}

// optimizes reports whether an option asks to change code.
func (j *linkJob) optimizes() bool {
	o := j.options.Optimize
	return o.Level > 0 || o.Fold || len(o.Inline) > 0
}

// checkAsPTX checks the link of the inputs that take sets, in which nothing with PTX is a
// cubin: that says what functions take.
func (j *linkJob) checkAsPTX(take func() error) error {
	options := j.options
	defer func() { j.options = options }()
	j.options.Cubins = nil
	if err := take(); err != nil {
		return err
	}
	_, err := j.checked()
	return err
}

// checked checks the link of what the inputs are now. The link of what they become says some
// of it again, which is not reported twice.
func (j *linkJob) checked() (*link.Result, error) {
	o := j.options
	o.CheckOnly, o.Stream = true, false
	r, err := j.linkWith(o)
	if err != nil {
		return nil, j.refused(err)
	}
	if j.report.told == nil {
		j.report.told = map[string]bool{}
	}
	if j.report.write(r.Messages) > 0 {
		return nil, &exitError{code: exitLink}
	}
	return r, nil
}

// takeForms is takeCode for one preference. preferred is set if a cubin is linked in place of
// PTX.
func (j *linkJob) takeForms(prefer dlink.Preference) (cubins []container.Cubin, preferred bool, err error) {
	o := dlink.Options{Arch: j.options.Arch, MaxInputSize: j.options.MaxInputSize, PTX: !j.cubin() || j.options.Arch == "", Prefer: prefer}
	log := diag.Log{Spelling: j.spelling}
	s := dlink.Separate(j.opts.Context, j.options.Inputs, o, &log)
	if j.report.log(&log) > 0 {
		return nil, false, &exitError{code: exitLink}
	}
	j.options.Inputs, j.taken = s.Modules, taken{archives: s.Archives}
	if len(s.LTOIR.Units) == 0 {
		cubins, err = j.useCubins(&s.Cubins)
		return cubins, s.Preferred, err
	}
	j.lowered = true
	l, err := j.newLowerer(&s.LTOIR)
	if err == nil {
		err = j.lowerApart(l, &s.LTOIR)
	}
	if err == nil {
		cubins, err = j.useCubins(&s.Cubins)
	}
	if err == nil {
		err = j.lowerTogether(l, &s.LTOIR)
	}
	return cubins, s.Preferred, err
}

// newLowerer finds the tools for LTO-IR.
func (j *linkJob) newLowerer(lto *dlink.LTOIR) (*ptxas.Lowerer, error) {
	b := &j.assembler
	why := "needed for " + lto.Units[0].Name + ", which has LTO-IR and no PTX"
	if b.Path == "" {
		var err error
		if b.Path, err = b.Find(j.opts.String("ptxas")); err != nil {
			var m *diag.Message
			if errors.As(err, &m) {
				m.Help = strings.TrimSuffix(m.Help, ptxas.NotForPTX)
			}
			return nil, j.neededFor(why, err)
		}
	}
	l := &ptxas.Lowerer{Options: ptxas.Options{Path: b.Path, Spelling: j.spelling, Cache: b.Cache}, Nvlink: b.Nvlink}
	l.Arch = strings.Replace(cmp.Or(j.options.Arch, lto.Arch()), "compute_", "sm_", 1)
	if l.Nvlink == "" {
		var err error
		if l.Nvlink, err = j.findNvlink(why); err != nil {
			return nil, err
		}
	}
	var err error
	if l.NVVM, err = b.FindNVVM(j.opts.String("nvvm"), l.Nvlink); err != nil {
		return nil, j.neededFor(why, err)
	}
	return l, nil
}

// neededFor adds to an error what a tool is needed for.
func (j *linkJob) neededFor(why string, err error) error {
	var m *diag.Message
	if errors.As(err, &m) {
		m.Note(diag.Place{}, why)
	}
	return &exitError{exitIO, err}
}

// lowerApart compiles each unit of LTO-IR alone.
func (j *linkJob) lowerApart(l *ptxas.Lowerer, lto *dlink.LTOIR) error {
	defer j.timed("LTO-IR", time.Now())
	log := diag.Log{Spelling: j.spelling}
	texts, err := l.LowerEach(j.opts.Context, lto.Units, int(j.opts.Int64("ptxas-jobs")), &log)
	if j.report.log(&log) > 0 {
		return &exitError{code: exitLink}
	}
	if err == nil {
		j.options.Inputs, err = lto.Apart(j.options.Inputs, texts)
	}
	return err
}

// lowerTogether compiles the units of LTO-IR that the link takes to one module. What the link
// reports of the units is reported before, at their files.
func (j *linkJob) lowerTogether(l *ptxas.Lowerer, lto *dlink.LTOIR) error {
	if len(lto.Units) < 2 || j.checkOnly {
		return nil
	}
	r, err := j.checked()
	if err != nil {
		return err
	}
	units := lto.Linked(r)
	if len(units) < 2 {
		return nil
	}
	defer j.timed("LTO-IR", time.Now())
	log := diag.Log{Spelling: j.spelling}
	text, err := l.Lower(j.opts.Context, units, &log)
	if j.report.log(&log) > 0 {
		return &exitError{code: exitLink}
	}
	if err == nil {
		j.options.Inputs = lto.Together(j.options.Inputs, units, text)
		j.taken.apart, j.taken.units = r, lto.Described(r, units)
	}
	return err
}

// taken is what the map says of code that is not among the modules of a link.
type taken struct {
	archives []string     // with cubins and LTO-IR
	pulls    []link.Pull  // members of archives that are cubins
	apart    *link.Result // the link of each unit of LTO-IR, where they were then compiled together
	units    []link.Unit  // those units
}

// tellTaken adds to the result of a link, with these cubins, what it does not know: which unit of
// LTO-IR defines and uses a symbol, why members of archives are linked, and which archives are not
// used.
func (j *linkJob) tellTaken(result *link.Result, cubins []container.Cubin) {
	t, modules := j.taken, result.Modules
	if t.apart != nil {
		result.Units, result.References, result.Pulls = t.units, t.apart.References, t.apart.Pulls
		modules = append(slices.Clip(modules), t.apart.Modules...)
	}
	result.Pulls = append(slices.Clip(result.Pulls), t.pulls...)
	archives := append(slices.Clip(result.Unused), t.archives...)
	slices.SortStableFunc(archives, func(a, b string) int { return cmp.Compare(slices.Index(j.paths, a), slices.Index(j.paths, b)) })
	result.Unused = slices.DeleteFunc(slices.Compact(archives), func(path string) bool {
		return slices.ContainsFunc(modules, func(m link.Module) bool { return strings.HasPrefix(m.Name, path+"(") }) ||
			slices.ContainsFunc(cubins, func(c container.Cubin) bool { return strings.HasPrefix(c.Name, path+"(") })
	})
}

// useCubins leaves cubins to nvlink, and those of archives that something needs.
func (j *linkJob) useCubins(cubins *dlink.Cubins) ([]container.Cubin, error) {
	if err := j.pullCubins(cubins); err != nil {
		return nil, err
	}
	j.taken.pulls = cubins.Pulls
	switch {
	case len(cubins.List) == 0:
		return nil, nil
	case j.assembler.Mode == ptxas.Whole:
		return nil, &usageError{text: "--ptxas-mode=whole links no cubins, and " + cubins.List[0].Name + " has one", help: "without it, nvlink links the cubins"}
	case j.assembler.Nvlink == "":
		var err error
		if j.assembler.Nvlink, err = j.findNvlink("needed for " + cubins.List[0].Name + ", which has no PTX for " + j.options.Arch); err != nil {
			return nil, err
		}
	}
	return cubins.List, nil
}

// pullCubins sets the cubins of the link, and adds the members of archives that the modules
// need, in rounds: the cubins may need modules of archives, and these other cubins.
func (j *linkJob) pullCubins(cubins *dlink.Cubins) error {
	j.options.Cubins = cubins.Offered()
	if len(j.options.Cubins) == len(cubins.List) {
		return nil // there are no archives
	}
	for {
		o := j.options
		o.RequireDefined = nil // what is pulled may define them
		o.CheckOnly, o.CrossReference = true, true
		r, err := j.linkWith(o)
		if refused := (*link.Errors)(nil); errors.As(err, &refused) {
			return nil // the link reports them, and nothing that a member defines
		}
		if err != nil {
			return err
		}
		if !cubins.Pull(r, slices.Concat(o.Undefined, j.options.RequireDefined)) {
			j.options.Cubins = cubins.Symbols
			return nil
		}
		j.options.Cubins = cubins.Offered()
	}
}
