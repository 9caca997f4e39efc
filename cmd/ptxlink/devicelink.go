package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/llvm"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// linkVirtual links for a virtual architecture, as nvlink does. Only the register file is written,
// because the driver links the PTX of the objects when the program starts. The errors of that link
// are reported now, unless the driver would find more than the PTX that is read here.
func (j *linkRequest) linkVirtual(job *dlink.Job, register string) error {
	if j.options.CheckOnly = true; len(job.Messages) == 0 {
		if _, err := j.job().linkAll(); err != nil {
			return err
		}
	}
	return j.write(j.paths, registerFile(job, register, nil)...)
}

// registerFile returns the file of --register-link-binaries, if the option is given. result is nil
// for a virtual architecture.
func registerFile(job *dlink.Job, path string, result *link.Result) []outfile.File {
	if path == "" {
		return nil
	}
	return []outfile.File{{Path: path, Data: job.RegisterFile(result)}}
}

// findNvlink returns the path of NVIDIA's nvlink. why is the note that says what needs it, whatever
// the mode.
func (j *linkJob) findNvlink(why string) (path string, err error) {
	if path, err = j.build.FindNvlink(j.opts.Context, j.opts.String("nvlink")); err != nil {
		return "", j.neededFor(why, j.spelling.With("--ptxas-mode=whole", ptxas.OrWhole), err)
	}
	return path, nil
}

// preference says where cubins are linked instead of PTX. nvlink is its path, or "".
func (j *linkRequest) preference(nvlink string) dlink.Preference {
	switch name := j.opts.String("prefer"); {
	case !j.cubin() || name == "ptx":
		return dlink.PreferPTX
	case name == "cubin":
		return dlink.PreferCubins
	case nvlink == "" || j.assembler.Mode == ptxas.Whole || j.assembler.Compile || len(j.assembler.Args) > 0 || j.options.Optimize.Enabled():
		return dlink.PreferPTX
	}
	return dlink.PreferArchived
}

// linker returns the linker for device code of all forms.
func (j *linkJob) linker() dlink.Linker {
	l := dlink.Linker{
		Options: j.now, PTX: !j.cubin() && !j.checkOnly || j.now.Arch == "", Prefer: j.prefer, MapInputs: j.memory == nil,
		Separate: j.separate, Link: j.linkWith, Jobs: int(j.opts.Int64("ptxas-jobs")), Apart: j.apart,
	}
	if l.Separate == nil {
		l.Prefer = j.preference(j.build.Nvlink)
	}
	l.LTOIR = func(lto *dlink.Intermediate) (dlink.Compiler, error) {
		j.lowered = true
		c, err := j.newLowerer(lto)
		return &keeper{Compiler: c, linkJob: j}, err
	}
	l.Bitcode = func(bitcode *dlink.Intermediate) (dlink.Compiler, error) {
		j.bitcode = true
		c, err := j.newCompiler(bitcode)
		return &keeper{Compiler: c, linkJob: j}, err
	}
	return l
}

// keeper is a compiler that keeps its input and output for --save-temps.
type keeper struct {
	dlink.Compiler
	*linkJob
}

func (k *keeper) LowerEach(ctx context.Context, units []container.Unit, jobs int, log *diag.Log) ([][]byte, error) {
	texts, err := k.Compiler.LowerEach(ctx, units, jobs, log)
	for i, u := range units {
		name, form := fmt.Sprintf("unit%d", k.kept), ".ltoir"
		if u.Bitcode != nil {
			form = ".bc"
		}
		k.kept++
		k.keep(name+form, u.Data)
		if i < len(texts) {
			k.keep(name+".ptx", texts[i])
		}
	}
	return texts, err
}

func (k *keeper) Lower(ctx context.Context, units []container.Unit, log *diag.Log) ([]byte, error) {
	text, err := k.Compiler.Lower(ctx, units, log)
	name := "ltoir"
	if units[0].Bitcode != nil {
		name = "bc"
	}
	k.keep(name+".ptx", text)
	return text, err
}

func (j *linkJob) keep(name string, data []byte) {
	if len(j.archs) > 0 {
		name = j.now.Arch + "." + name
	}
	if data != nil && j.opts.Bool("save-temps") && !j.opts.Bool("dry-run") {
		j.saved = append(j.saved, outfile.File{Path: j.tempPath(name), Data: data})
	}
}

func (j *linkRequest) tempPath(name string) string {
	return strings.TrimSuffix(j.output, filepath.Ext(j.output)) + "." + name
}

// newCompiler finds the compiler for LLVM bitcode.
func (j *linkJob) newCompiler(bitcode *dlink.Intermediate) (*llvm.Compiler, error) {
	c := &llvm.Compiler{Arch: bitcode.Arch(j.now.Arch), Spelling: j.spelling}
	if c.Arch == "" {
		return nil, usageError(bitcode.Units[0].Name+", which is LLVM bitcode, records no GPU", "--arch=sm_80 names one")
	}
	c.Quick = len(bitcode.Units) > 1 && dlink.Combines(j.now)
	bitcode.Quick, bitcode.Unchecked = c.Quick, c.Quick && j.fromRustc
	c.Cache, c.Command = j.assembler.Cache, j.noteCommands
	if err := j.readCompilerOptions(c); err != nil {
		return nil, err
	}
	if err := c.Find(j.opts.Context, j.opts.String("clang"), j.besideCompiler(), bitcode.Units); err != nil {
		return nil, j.neededFor("needed for "+bitcode.Units[0].Name+", which is LLVM bitcode", "", err)
	}
	return c, nil
}

// newLowerer finds the tools for LTO-IR.
func (j *linkJob) newLowerer(lto *dlink.Intermediate) (l *ptxas.Lowerer, err error) {
	b := &j.build
	why := ptxas.NeededFor(lto)
	if b.Path == "" {
		if b.Path, err = b.Find(j.opts.String("ptxas")); err != nil {
			return nil, j.neededFor(why, ptxas.NotForPTX, err)
		}
	}
	l = &ptxas.Lowerer{Options: ptxas.Options{Path: b.Path, Spelling: j.spelling, Cache: b.Cache, Arch: lto.Arch(j.now.Arch)}, Nvlink: b.Nvlink, Command: j.noteCommands}
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

// noteCommands keeps the commands that compile units to a module. Only the last commands for a
// module count, because earlier ones are for checks.
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
				fmt.Fprintln(j.stdout, commandLine(args, runtime.GOOS))
			}
		}
	}
	j.compiled.Clear()
}

// neededFor adds to an error why a tool is needed, and removes from its help the advice to do
// without, which would be wrong.
func (j *linkRequest) neededFor(why, without string, err error) error {
	if m, ok := errors.AsType[*diag.Message](err); ok {
		m.Help = strings.TrimSuffix(m.Help, without)
		m.Note(diag.Place{}, why)
	}
	return &exitError{exitIO, err}
}

// findNvlinkFor finds nvlink for the cubins of a link, unless it was needed before.
func (j *linkJob) findNvlinkFor(list []*object.Cubin) (err error) {
	switch {
	case len(list) == 0 || j.options.CheckOnly:
	case j.assembler.Mode == ptxas.Whole:
		return usageError("--ptxas-mode=whole links no cubins, and "+list[0].Name+" has one", "without it, nvlink links the cubins")
	case j.build.Nvlink == "":
		j.build.Nvlink, err = j.findNvlink("needed for " + list[0].Name + ", which has no PTX for " + j.now.Arch)
	}
	return err
}
