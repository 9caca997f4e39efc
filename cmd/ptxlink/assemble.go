package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/link/partition"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// readAssembler reads the options for making a cubin from the linked module.
func (j *linkRequest) readAssembler() error {
	opts := j.opts
	j.assembler.Compile, j.assembler.Kernels = opts.Bool("compile-only"), j.options.Kernels
	j.assembler.Budget = opts.Int64("ptxas-budget")
	j.assembler.Jobs, j.assembler.Verbose = int(opts.Int64("ptxas-jobs")), opts.Bool("verbose")
	if err := j.readUsage(); err != nil {
		return err
	}
	if opts.Bool("save-temps") && j.output == "-" {
		return usageError("--save-temps needs an output with a name", "name one with -o")
	}
	j.assembler.Args = splitCommas(opts.StringSlice("Xptxas"))
	if ptxas.SetsArch(j.assembler.Args) {
		return usageError("-Xptxas names a GPU, for which the link is not checked", "name the GPU with --arch")
	}
	for _, arch := range append(j.archs, j.options.Arch) {
		if !object.IsVirtual(arch) || !j.cubin() {
			continue
		}
		help := "name the GPU: --arch=" + object.RealArch(arch)
		if j.format == "fatbin" {
			help += "; a fatbin holds the PTX too"
		}
		return usageError(arch+" is a virtual architecture, for which there is no cubin", help)
	}
	return inOrder(j.readMode, j.checkParts, j.readCache)
}

// readCache reads the options for the cache: --cache-dir or --cache name a directory, and --cache
// may name a cache that machines share. The variable counts only if neither option is given.
func (j *linkRequest) readCache() error {
	dir, where := j.opts.String("cache-dir"), j.opts.String("cache")
	if dir == "" && where == "" {
		where = os.Getenv("PTXLINK_CACHE")
	}
	if where == "" && dir == "" {
		return nil
	}
	c := &ptxas.Cache{Dir: dir}
	if where != "" {
		var err error
		if c, err = ptxas.OpenCache(where); err != nil {
			return usageError(err.Error(), "--cache wants a directory or prog:COMMAND; docs/ptxas.md (Cache) names programs for servers")
		}
		if c.Dir != "" && dir != "" && filepath.Clean(c.Dir) != filepath.Clean(dir) {
			return usageError(fmt.Sprintf("--cache names the directory %s, and --cache-dir %s", where, dir), "leave out one of them; --cache-dir goes with a program in --cache")
		}
		c.Dir = cmp.Or(dir, c.Dir)
	}
	c.Size = j.opts.Int64("cache-size")
	j.assembler.Cache = c
	return nil
}

// warnUnneeded warns about options that only matter for a cubin if the output is PTX. LTO-IR and
// bitcode need some of them for PTX as well. --arch is not among them, because it also chooses
// between PTX for several GPUs.
func (j *linkJob) warnUnneeded() error {
	if j.cubin() || j.apart {
		return nil
	}
	names := []string{"prefer", "ptxas-budget", "Xptxas", "ptxas-mode", "partition", "fatbinary", "resource-usage"}
	if !j.lowered {
		names = append(names, "ptxas", "nvlink", "nvvm")
	}
	if !j.lowered && !j.bitcode {
		names = append(names, "ptxas-jobs", "cache", "cache-dir", "cache-size", "save-temps")
	}
	for _, name := range names {
		if name == "partition" && j.opts.IsSet("emit-parts") {
			continue
		}
		if j.opts.IsSet(name) {
			if err := j.warnUnused(name, map[bool]string{false: "--cubin", true: "--assemble"}[j.checkOnly]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *linkRequest) readMode() error {
	b := &j.assembler
	switch j.opts.String("ptxas-mode") {
	case "whole":
		b.Mode = ptxas.Whole
	case "separate":
		b.Mode, b.Parts = ptxas.Separate, 1
	}
	parts := j.opts.String("partition")
	switch {
	case parts == "":
		return nil
	case b.Mode == ptxas.Whole:
		return usageError("--partition does not go with --ptxas-mode=whole", "whole mode assembles all functions in one run")
	case b.Compile:
		return usageError("--partition does not go with -c", "nvlink joins the parts to a finished cubin")
	}
	b.Mode, b.Parts = ptxas.Separate, 0
	if parts != "auto" {
		n, err := strconv.Atoi(parts)
		if err != nil || n < 1 || n > partition.MaxParts {
			return usageError(fmt.Sprintf("%q is not a number of parts", parts), fmt.Sprintf("--partition wants auto or a number from 1 to %d", partition.MaxParts))
		}
		b.Parts = n
	}
	return nil
}

func (j *linkRequest) checkParts() error {
	pattern := j.opts.String("emit-parts")
	if pattern == "" {
		return nil
	}
	number := partNumber().FindAllString(pattern, -1)
	switch {
	case len(number) != 1 || number[0] != "%d":
		return usageError(fmt.Sprintf("%q is not a pattern for --emit-parts", pattern), "it has one %d, which is replaced by the number of the part: dir/part%d.ptx")
	case j.cubin():
		return usageError("--emit-parts goes with PTX as the output", "--save-temps keeps the parts of a cubin")
	case !j.opts.IsSet("partition"):
		return usageError("--emit-parts needs --partition", "--partition=N writes exactly N parts, and auto chooses their number")
	}
	return nil
}

var partNumber = sets.Regexp(`%.?`)

func partFile(pattern string, i int) string {
	return strings.Replace(pattern, "%d", strconv.Itoa(i), 1)
}

// cut returns the files of --emit-parts. It only cuts the module, and does not assemble the parts.
func (j *linkJob) cut(result *link.Result) (files []outfile.File, err error) {
	defer j.timed("partition", time.Now())
	parts, err := j.build.Cut(result, j.build.Parts)
	if err != nil {
		return nil, &exitError{exitLink, err}
	}
	for i, text := range parts {
		files = append(files, outfile.File{Path: partFile(j.opts.String("emit-parts"), i), Data: text})
	}
	return files, nil
}

// findTools finds ptxas, and nvlink and fatbinary only if they may be needed.
func (j *linkJob) findTools() error {
	b := &j.build
	var err error
	if b.Path, err = b.Find(j.opts.String("ptxas")); err != nil {
		return &exitError{exitIO, err}
	}
	if j.format == "fatbin" {
		if j.fatbinary, err = b.FindFatbinary(j.opts.String("fatbinary")); err != nil {
			return &exitError{exitIO, err}
		}
	}
	if b.Mode == ptxas.Whole || b.Compile {
		return nil
	}
	find := b.TryNvlink
	if b.Mode == ptxas.Separate {
		find = b.FindNvlink
	}
	if b.Nvlink, err = find(j.opts.Context, j.opts.String("nvlink")); err != nil {
		return &exitError{exitIO, err}
	}
	return nil
}

// assemble makes the output from the linked modules, and reports the messages.
func (j *linkJob) assemble(targets []ptxas.Target) ([]byte, error) {
	defer j.timed("ptxas", time.Now())
	b := j.build
	if j.options.Optimize.Enabled() {
		b.Note = "ptxlink " + release() + " " + j.options.Optimize.String()
	}
	dryRun := j.opts.Bool("dry-run")
	if j.opts.Bool("save-temps") && !dryRun {
		b.SavedAs = j.tempPath("")
		b.Temporary = func(name string, data []byte) {
			j.saved = append(j.saved, outfile.File{Path: j.tempPath(name), Data: data})
		}
	}
	if dryRun {
		b.Command = func(args []string) { fmt.Fprintln(j.stdout, commandLine(args, runtime.GOOS)) }
	}
	stop := j.showProgress(&b, targets)
	outputs, messages, err := b.AssembleAll(j.opts.Context, targets)
	stop()
	failed := j.report.write(messages) > 0
	if err := j.writeSaved(); err != nil { // even if ptxas failed, because the files show why
		return nil, err
	}
	if errors.Is(err, ptxas.ErrRejected) || err == nil && failed { // failed alone: --fatal-warnings
		return nil, &exitError{code: exitLink}
	}
	if j.fromPtxas = messages; err == nil && !dryRun {
		for i, o := range outputs {
			if len(o.Usages) > 0 {
				j.gpus = append(j.gpus, b.GPU(targets[i].Arch, o.Usages))
			}
		}
	}
	if err == nil && j.usage {
		var before []ptxas.Output
		if j.compare {
			if before, err = j.unoptimized(targets); err != nil {
				return nil, err
			}
		}
		if err = j.showUsage(targets, outputs, before); err != nil {
			return nil, err
		}
	}
	var output []byte
	switch {
	case err != nil:
	case j.format == "fatbin":
		output, err = b.Fatbin(j.opts.Context, j.fatbinary, targets, outputs)
	default:
		output = outputs[0].Cubin
	}
	if refused, ok := errors.AsType[*diag.Message](err); ok && (refused.ID == diag.Partition || errors.Is(err, ptxas.ErrRejected)) {
		return nil, &exitError{exitLink, err}
	}
	return output, err
}

// writeSaved writes the files of --save-temps, unless there are none or the link was interrupted.
func (j *linkJob) writeSaved() error {
	saved := j.saved
	if j.saved = nil; len(saved) == 0 || j.opts.Err() != nil {
		return nil
	}
	return j.writeFirst(j.paths, saved...)
}

// commandLine quotes a command so that a shell of the system splits it into the same arguments.
func commandLine(args []string, system string) string {
	plain := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%"
	quoted := func(arg string) string { return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'" }
	if system == "windows" {
		plain, quoted = plain+`\`, windowsWord
	}
	var words []string
	for _, arg := range args {
		if strings.Trim(arg, plain) != "" || arg == "" {
			arg = quoted(diag.Escape(arg))
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// showProgress shows the progress of ptxas, from one second on, if standard error is a terminal. It
// rewrites a line such as "ptxlink: assembling 3 of 12 parts (sm_80), 4 s". stop erases the line.
// It uses no control sequences other than CR, so any terminal can show it.
func (j *linkJob) showProgress(b *ptxas.Build, targets []ptxas.Target) (stop func()) {
	if !isTerminal(j.stderr) || os.Getenv("TERM") == "dumb" || b.Verbose || j.opts.Bool("dry-run") || !j.report.text() {
		return func() {}
	}
	var gpus []string
	for _, t := range targets {
		gpus = append(gpus, t.Arch)
	}
	var progress atomic.Pointer[[2]int] // the number of finished parts, and of all parts
	b.Progress = func(done, parts int) { progress.Store(&[2]int{done, parts}) }
	file, start := j.stderr.(*os.File), time.Now()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		shown := 0 // number of characters on the terminal
		for {
			select {
			case <-tick.C:
				parts := ""
				if n := progress.Load(); n != nil && n[1] > 1 {
					parts = fmt.Sprintf(" %d of %d parts", min(n[0]+1, n[1]), n[1])
				}
				text := fmt.Sprintf("ptxlink: assembling%s (%s), %d s", parts, strings.Join(gpus, ", "), int(time.Since(start).Seconds()))
				shown = overwrite(file, shown, text)
			case <-end:
				if shown > 0 {
					fmt.Fprint(file, "\r"+strings.Repeat(" ", shown)+"\r")
				}
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// overwrite replaces a line of shown characters on a terminal, and returns the number of characters
// of the new line. The text is cut to the width, because CR cannot go back over a line break.
func overwrite(file *os.File, shown int, text string) int {
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 && len(text) >= width {
		text = text[:width-1]
	}
	fmt.Fprint(file, "\r"+text+strings.Repeat(" ", max(0, shown-len(text))))
	return len(text)
}
