package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/dlink"
	"ptxlink/link/llvm"
	"ptxlink/link/ptxas"
	"ptxlink/object/container"
)

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

// findNvlink returns the path of NVIDIA's nvlink. why is what it is needed for, in every mode.
func (j *linkJob) findNvlink(why string) (path string, err error) {
	if path, err = j.assembler.FindNvlink(j.opts.Context, j.opts.String("nvlink")); err != nil {
		return "", j.neededFor(why, j.spelling.With("--ptxas-mode=whole", ptxas.OrWhole), err)
	}
	return path, nil
}

// takeCode takes the inputs apart that have no PTX for the GPU, or for which a cubin is
// preferred: their cubins are left to nvlink, and their LTO-IR or LLVM bitcode is compiled to PTX.
func (j *linkJob) takeCode() error {
	if j.separated {
		return nil
	}
	given := j.options.Inputs
	preferred, err := j.takeForms(j.preference())
	if preferred {
		j.taken.asPTX = func() error {
			j.options.Inputs = given
			_, err := j.takeForms(dlink.PreferPTX)
			return err
		}
	}
	return err
}

// preference returns where cubins are preferred to PTX.
func (j *linkJob) preference() dlink.Preference {
	switch name := j.opts.String("prefer"); {
	case !j.cubin() || name == "ptx":
		return dlink.PreferPTX
	case name == "cubin":
		return dlink.PreferCubins
	case j.assembler.Nvlink == "" || j.assembler.Mode == ptxas.Whole || j.assembler.Compile || len(j.assembler.Args) > 0 || j.options.Optimize.Enabled():
		return dlink.PreferPTX
	}
	return dlink.PreferArchived
}

// checkAsPTX checks the link of the inputs that take sets, in which nothing with PTX is a
// cubin: PTX says what all functions take.
func (j *linkJob) checkAsPTX(take func() error) error {
	options, code := j.options, j.taken
	defer func() { j.options, j.taken = options, code }()
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
	r.Messages = slices.DeleteFunc(r.Messages, ptxas.OnlyAssembled)
	return r, j.tell(r.Messages, exitLink)
}

// takeForms is takeCode for one preference. preferred is set if a cubin is linked in place of
// PTX.
func (j *linkJob) takeForms(prefer dlink.Preference) (preferred bool, err error) {
	o := dlink.Options{Arch: j.options.Arch, MaxInputSize: j.options.MaxInputSize, PTX: !j.cubin() && !j.checkOnly || j.options.Arch == "", Prefer: prefer, MapInputs: j.memory == nil}
	log := diag.Log{Spelling: j.spelling}
	given := j.options.Inputs
	s := dlink.Separate(j.opts.Context, given, o, &log)
	if err := j.tell(log.Messages, exitLink); err != nil {
		return false, err
	}
	j.options.Inputs, j.options.Cubins, j.taken = s.Modules, s.Cubins.Symbols, taken{cubins: s.Cubins, archives: s.Archives}
	j.assembler.Kernels = j.options.Kernels
	if j.checkOnly && len(s.Cubins.List) > 0 { // a check as for a cubin
		j.options.Spelling = j.spelling.Without("--allow-undefined")
	}
	var compilers []intermediate
	if len(s.LTOIR.Units) > 0 {
		j.lowered = true
		l, err := j.newLowerer(&s.LTOIR)
		if err != nil {
			return false, err
		}
		compilers = append(compilers, intermediate{"LTO-IR", &s.LTOIR, false, l})
	}
	if len(s.Bitcode.Units) > 0 {
		j.bitcode = true
		l, err := j.newCompiler(&s.Bitcode)
		if err != nil {
			return false, err
		}
		s.Bitcode.Unchecked = j.fromRustc && l.Quick
		compilers = append(compilers, intermediate{"LLVM bitcode", &s.Bitcode, l.Quick, l})
	}
	for _, code := range compilers {
		if err := j.lowerApart(code, &s.Cubins); err != nil {
			return false, err
		}
	}
	for _, code := range compilers {
		if err == nil {
			err = j.lowerTogether(code, &s.Cubins)
		}
	}
	j.options.Inputs = dlink.Filled(j.options.Inputs)
	if o.Prefer == dlink.PreferArchived && s.BothForms && len(compilers) == 0 {
		j.taken.own = func() ([]link.Input, dlink.Cubins, []*link.Message) {
			var log diag.Log
			o.Prefer = dlink.PreferOwn
			s := dlink.Separate(j.opts.Context, given, o, &log)
			return s.Modules, s.Cubins, log.Messages
		}
	}
	return s.Preferred, err
}

// intermediate is code of one kind, and what compiles it.
type intermediate struct {
	kind  string
	units *dlink.Intermediate
	quick bool // what is compiled alone is for checks only
	lowerer
}

type lowerer interface {
	Lower(context.Context, []container.Unit, *diag.Log) ([]byte, error)
	LowerEach(ctx context.Context, units []container.Unit, jobs int, log *diag.Log) ([][]byte, error)
}

// newCompiler finds the compiler for LLVM bitcode.
func (j *linkJob) newCompiler(bitcode *dlink.Intermediate) (*llvm.Compiler, error) {
	c := &llvm.Compiler{Arch: strings.Replace(cmp.Or(j.options.Arch, bitcode.Arch()), "compute_", "sm_", 1), Spelling: j.spelling}
	if c.Arch == "" {
		return nil, usageError(bitcode.Units[0].Name+", which is LLVM bitcode, records no GPU", "--arch=sm_80 names one")
	}
	c.Quick = len(bitcode.Units) > 1 && j.compilesTogether()
	c.Cache, c.Command = j.assembler.Cache, j.noteCommands
	j.readCompilerOptions(c)
	if err := c.Find(j.opts.Context, j.opts.String("clang"), j.besideCompiler(), bitcode.Units); err != nil {
		return nil, j.neededFor("needed for "+bitcode.Units[0].Name+", which is LLVM bitcode", "", err)
	}
	return c, nil
}

// newLowerer finds the tools for LTO-IR.
func (j *linkJob) newLowerer(lto *dlink.Intermediate) (l *ptxas.Lowerer, err error) {
	b := &j.assembler
	why := "needed for " + lto.Units[0].Name + ", which has LTO-IR and no PTX"
	if b.Path == "" {
		if b.Path, err = b.Find(j.opts.String("ptxas")); err != nil {
			return nil, j.neededFor(why, ptxas.NotForPTX, err)
		}
	}
	l = &ptxas.Lowerer{Options: ptxas.Options{Path: b.Path, Spelling: j.spelling, Cache: b.Cache}, Nvlink: b.Nvlink, Command: j.noteCommands}
	l.Arch = strings.Replace(cmp.Or(j.options.Arch, lto.Arch()), "compute_", "sm_", 1)
	if l.Nvlink == "" {
		if l.Nvlink, err = j.findNvlink(why); err != nil {
			return nil, err
		}
	}
	if l.NVVM, err = b.FindNVVM(j.opts.String("nvvm"), l.Nvlink); err != nil {
		return nil, j.neededFor(why, "", err)
	}
	return l, nil
}

// noteCommands keeps the commands that compile units to a module, the last of several: those before
// are for checks.
func (j *linkJob) noteCommands(units []container.Unit, commands [][]string) {
	if j.opts.Bool("dry-run") {
		j.compiled.Store(dlink.ModuleOf(units), commands)
	}
}

// showCommands prints the commands that have compiled modules of a link, for --dry-run.
func (j *linkJob) showCommands(r *link.Result) {
	for _, m := range r.Modules {
		if commands, found := j.compiled.Load(m.Name); found {
			for _, args := range commands.([][]string) {
				fmt.Fprintln(j.stdout, commandLine(args))
			}
		}
	}
	j.compiled.Clear()
}

// neededFor adds to an error what a tool is needed for, and removes from its help how to do without.
func (j *linkJob) neededFor(why, without string, err error) error {
	if m, ok := errors.AsType[*diag.Message](err); ok {
		m.Help = strings.TrimSuffix(m.Help, without)
		m.Note(diag.Place{}, why)
	}
	return &exitError{exitIO, err}
}

// lowerApart compiles each unit alone, those in archives if something needs them. That is asked
// again when they are compiled, since modules that they need may need others.
func (j *linkJob) lowerApart(code intermediate, cubins *dlink.Cubins) error {
	for {
		if err := j.lowerNext(code); err != nil {
			return err
		}
		offered := code.units.Offered()
		if len(offered) == 0 {
			return nil
		}
		o := j.options
		o.RequireDefined = nil // what is pulled may define them
		o.Cubins, o.CheckOnly, o.Stream = slices.Concat(cubins.Symbols, offered, code.units.Hidden()), true, false
		r, err := j.linkWith(o)
		if refused := (*link.Errors)(nil); err != nil && !errors.As(err, &refused) {
			return err
		} // the link of all units reports what is wrong
		if !code.units.Pull(r, j.wanted()) {
			return nil
		}
	}
}

// lowerNext compiles the units that are known to be needed.
func (j *linkJob) lowerNext(code intermediate) error {
	defer j.timed(code.kind, time.Now())
	for {
		units, members := code.units.Next()
		if len(units) == 0 {
			break
		}
		log := diag.Log{Spelling: j.spelling}
		texts, err := code.LowerEach(j.opts.Context, units, int(j.opts.Int64("ptxas-jobs")), &log)
		switch {
		case members && j.compilesTogether() && errors.Is(err, llvm.ErrRejected): // the compiler may take what is needed of them
		case j.report.write(log.Messages) > 0:
			return &exitError{code: exitLink}
		case err != nil:
			return err
		}
		code.units.Compiled(texts)
	}
	var err error
	j.options.Inputs, err = code.units.Apart(j.options.Inputs)
	return err
}

// wanted returns the names whose members of archives options ask for.
func (j *linkJob) wanted() []string {
	return slices.Concat(j.options.Undefined, j.options.RequireDefined)
}

// compilesTogether reports whether units of intermediate code are compiled to one module, in which
// a use is of the definition of its name.
func (j *linkJob) compilesTogether() bool {
	o := j.options
	return len(o.Wrap)+len(o.Define)+len(o.Weaken)+len(o.LocalizeInputs) == 0
}

// lowerTogether compiles the units that the link takes to one module. What the link reports of
// the units is reported before, at their files.
func (j *linkJob) lowerTogether(code intermediate, cubins *dlink.Cubins) error {
	if len(code.units.Units) < 2 || j.apart || !j.compilesTogether() {
		return nil
	}
	o := j.options
	j.options.Cubins = append(slices.Clip(o.Cubins), code.units.Hidden()...)
	// Code of the other kind, if compiled together before, has left empty places.
	j.options.CrossReference, j.options.Inputs = true, dlink.Filled(slices.Clone(o.Inputs))
	r, err := j.checked()
	j.options.CrossReference, j.options.Cubins, j.options.Inputs = o.CrossReference, o.Cubins, o.Inputs
	if err != nil {
		return err
	}
	units := code.units.Linked(r, dlink.Outside{
		All: o.KeepUnused || o.Relocatable || len(o.Exports) > 0, Names: j.wanted(), Variables: !o.CollectVariables, Cubins: cubins.Taken(r),
	})
	if len(units) == 0 || len(units) == 1 && !code.quick {
		return nil
	}
	defer j.timed(code.kind, time.Now())
	log := diag.Log{Spelling: j.spelling}
	text, err := code.Lower(j.opts.Context, units, &log)
	if err := j.tell(log.Messages, exitLink); err != nil {
		return err
	}
	if err == nil {
		j.options.Inputs = code.units.Together(j.options.Inputs, units, text)
		if len(units) > 1 {
			j.taken.apart, j.taken.units = r, append(j.taken.units, code.units.Described(r, units)...)
		}
	}
	return err
}

// taken is the device code of a link that is not among its modules.
type taken struct {
	cubins dlink.Cubins
	// asPTX sets the inputs of the link with PTX in place of the preferred cubins. It is nil if no
	// cubin is preferred.
	asPTX func() error
	// own reads the inputs with PreferOwn. It is nil if no input has both PTX and a cubin.
	own func() ([]link.Input, dlink.Cubins, []*link.Message)

	archives []string     // with cubins, LTO-IR and bitcode
	apart    *link.Result // the link of each unit of LTO-IR, where they were then compiled together
	units    []link.Unit  // those units
}

// tellTaken adds to the result of a link, with these cubins, what it does not know: which unit of
// LTO-IR or bitcode defines and uses a symbol, and which archives are not used.
func (j *linkJob) tellTaken(result *link.Result, cubins []container.Cubin) {
	t, modules := j.taken, result.Modules
	if t.apart != nil {
		result.Units, result.References, result.Pulls = t.units, t.apart.References, t.apart.Pulls
		modules = append(slices.Clip(modules), t.apart.Modules...)
	}
	if len(t.archives) == 0 { // the link knows all that it has used
		return
	}
	used := map[string]bool{}
	use := func(member string) {
		for i := range member {
			if member[i] == '(' {
				used[member[:i]] = true
			}
		}
	}
	for _, m := range modules {
		use(m.Name)
	}
	for _, u := range t.units {
		use(u.Name)
	}
	for _, c := range cubins {
		use(c.Name)
	}
	named := map[string]int{} // how many paths are named from it on
	for i := len(j.paths) - 1; i >= 0; i-- {
		named[j.paths[i]] = len(j.paths) - i
	}
	archives := append(slices.Clip(result.Unused), t.archives...)
	slices.SortStableFunc(archives, func(a, b string) int { return cmp.Compare(named[b], named[a]) })
	result.Unused = slices.DeleteFunc(slices.Compact(archives), func(path string) bool { return used[path] })
}

// leaveToNvlink returns the cubins of a link that nvlink links with its result, after a check of
// what they do not say.
func (j *linkJob) leaveToNvlink(r *link.Result) ([]container.Cubin, error) {
	if j.taken.asPTX != nil && r.Untyped() {
		if err := j.checkAsPTX(j.taken.asPTX); err != nil {
			return nil, err
		}
	}
	list := j.taken.cubins.Linked(r)
	switch {
	case len(list) == 0 || j.options.CheckOnly:
	case j.assembler.Mode == ptxas.Whole:
		return nil, usageError("--ptxas-mode=whole links no cubins, and "+list[0].Name+" has one", "without it, nvlink links the cubins")
	case j.assembler.Nvlink == "":
		var err error
		if j.assembler.Nvlink, err = j.findNvlink("needed for " + list[0].Name + ", which has no PTX for " + j.options.Arch); err != nil {
			return nil, err
		}
	}
	return list, nil
}
