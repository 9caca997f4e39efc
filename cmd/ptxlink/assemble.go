package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/partition"
	"ptxlink/link/ptxas"
)

// readAssembler reads the options for the way from the linked module to a cubin.
func (c *command) readAssembler(opts *cli.Context) error {
	c.assembler.Compile = opts.Bool("compile-only")
	c.assembler.Jobs, c.assembler.Verbose = int(opts.Int64("ptxas-jobs")), opts.Bool("verbose")
	c.saveTemps, c.dryRun = opts.Bool("save-temps"), opts.Bool("dry-run")
	if err := c.readUsage(opts); err != nil {
		return err
	}
	if c.saveTemps && c.output == "-" {
		return &usageError{text: "--save-temps needs an output with a name", help: "name one with -o"}
	}
	for _, list := range opts.StringSlice("Xptxas") {
		c.assembler.Args = append(c.assembler.Args, strings.Split(list, ",")...)
	}
	if len(c.archs) > 0 && ptxas.SetsArch(c.assembler.Args) {
		return &usageError{text: "-Xptxas names a GPU, but --arch names several", help: "name the GPUs with --arch only"}
	}
	for _, arch := range append(c.archs, c.linkOptions.Arch) {
		name, virtual := strings.CutPrefix(arch, "compute_")
		if !virtual || !c.cubin || ptxas.SetsArch(c.assembler.Args) {
			continue
		}
		help := "name the GPU: --arch=sm_" + name
		if c.format == "fatbin" {
			help += "; a fatbin holds the PTX too"
		}
		return &usageError{text: arch + " is a virtual architecture, for which there is no cubin", help: help}
	}
	if err := c.readMode(opts.String("ptxas-mode"), opts.String("partition")); err != nil {
		return err
	}
	if err := c.checkParts(opts); err != nil {
		return err
	}
	if dir := cmp.Or(opts.String("cache-dir"), os.Getenv("PTXLINK_CACHE")); dir != "" {
		c.assembler.Cache = &ptxas.Cache{Dir: dir, Size: opts.Int64("cache-size")}
	}
	// --arch also chooses between PTX for several GPUs.
	for _, name := range []string{"ptxas", "Xptxas", "ptxas-mode", "partition", "ptxas-jobs", "nvlink", "fatbinary", "save-temps", "resource-usage", "cache-dir", "cache-size"} {
		if name == "partition" && c.partFiles != "" {
			continue
		}
		if opts.IsSet(name) && !c.cubin {
			if err := c.warnUnused(name, map[bool]string{false: "--cubin", true: "--assemble"}[c.checkOnly]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readMode reads --ptxas-mode and --partition.
func (c *command) readMode(mode, parts string) error {
	b := &c.assembler
	switch mode {
	case "whole":
		b.Mode = ptxas.Whole
	case "separate":
		b.Mode, b.Parts = ptxas.Separate, 1
	}
	if parts == "" {
		return nil
	}
	switch {
	case b.Mode == ptxas.Whole:
		return &usageError{text: "--partition does not go with --ptxas-mode=whole", help: "whole mode assembles all functions in one run"}
	case b.Compile:
		return &usageError{text: "--partition does not go with -c", help: "nvlink joins the parts to a finished cubin"}
	}
	b.Mode, b.Parts = ptxas.Separate, 0
	if parts != "auto" {
		n, err := strconv.Atoi(parts)
		if err != nil || n < 1 || n > partition.MaxParts {
			return &usageError{text: fmt.Sprintf("%q is not a number of parts", parts), help: fmt.Sprintf("--partition wants auto or a number from 1 to %d", partition.MaxParts)}
		}
		b.Parts = n
	}
	return nil
}

// checkParts checks the use of --emit-parts.
func (c *command) checkParts(opts *cli.Context) error {
	if !opts.IsSet("emit-parts") {
		return nil
	}
	number := partNumber().FindAllString(c.partFiles, -1)
	switch {
	case len(number) != 1 || number[0] != "%d":
		return &usageError{text: fmt.Sprintf("%q is not a pattern for --emit-parts", c.partFiles), help: "it has one %d, which is replaced by the number of the part: dir/part%d.ptx"}
	case c.cubin:
		return &usageError{text: "--emit-parts goes with PTX as the output", help: "--save-temps keeps the parts of a cubin"}
	case !opts.IsSet("partition"):
		return &usageError{text: "--emit-parts needs --partition", help: "--partition=N writes exactly N parts, and auto chooses their number"}
	}
	return nil
}

var partNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%.?`) })

// partFile returns the name of a part.
func partFile(pattern string, i int) string {
	return strings.Replace(pattern, "%d", strconv.Itoa(i), 1)
}

// cut returns the files of --emit-parts.
func (c *command) cut(result *link.Result) (files []outfile.File, err error) {
	defer c.timed("partition", time.Now())
	parts, err := c.assembler.Cut(result.PTX, result.Lines, c.assembler.Parts)
	if err != nil {
		return nil, &exitError{exitLink, err}
	}
	for i, text := range parts {
		files = append(files, outfile.File{Path: partFile(c.partFiles, i), Data: text})
	}
	return files, nil
}

// findTools finds ptxas, and nvlink if it may be needed.
func (c *command) findTools(opts *cli.Context) error {
	b := &c.assembler
	var err error
	if b.Path, err = b.Find(opts.String("ptxas")); err != nil {
		return &exitError{exitIO, err}
	}
	if c.format == "fatbin" {
		if c.fatbinary, err = b.FindFatbinary(opts.String("fatbinary")); err != nil {
			return &exitError{exitIO, err}
		}
	}
	if b.Mode == ptxas.Whole || b.Compile {
		return nil
	}
	b.Nvlink, err = b.FindNvlink(opts.String("nvlink"))
	if err != nil && (b.Mode == ptxas.Separate || opts.IsSet("nvlink") || os.Getenv("NVLINK") != "") {
		return &exitError{exitIO, err}
	}
	return nil
}

// assemble makes the output of the linked modules and reports the messages.
func (c *command) assemble(ctx context.Context, targets []ptxas.Target) ([]byte, error) {
	defer c.timed("ptxas", time.Now())
	b := c.assembler
	var saved []outfile.File
	if c.saveTemps && !c.dryRun {
		stem := strings.TrimSuffix(c.output, filepath.Ext(c.output))
		b.SavedAs = stem + "."
		b.Temporary = func(name string, data []byte) {
			saved = append(saved, outfile.File{Path: stem + "." + name, Data: data})
		}
	}
	if c.dryRun {
		b.Command = func(args []string) { fmt.Fprintln(c.stdout, commandLine(args)) }
	}
	stop := c.showProgress(&b, targets)
	outputs, messages, err := b.AssembleAll(ctx, targets)
	stop()
	failed := c.report.write(messages) > 0
	// Also if ptxas failed: the files show on what.
	if len(saved) > 0 && ctx.Err() == nil {
		if err := c.write(c.paths, saved...); err != nil {
			return nil, err
		}
	}
	if errors.Is(err, ptxas.ErrRejected) || err == nil && failed { // failed alone: --fatal-warnings
		return nil, &exitError{code: exitLink}
	}
	if c.fromPtxas = messages; err == nil && !c.dryRun {
		for i, o := range outputs {
			if len(o.Usages) > 0 {
				c.gpus = append(c.gpus, ptxas.GPU(targets[i].Arch, o.Usages))
			}
		}
	}
	if err == nil && c.usage {
		var before []ptxas.Output
		if c.compare {
			if before, err = c.unoptimized(ctx, targets); err != nil {
				return nil, err
			}
		}
		if err = c.showUsage(targets, outputs, before); err != nil {
			return nil, err
		}
	}
	var output []byte
	switch {
	case err != nil:
	case c.format == "fatbin":
		output, err = b.Fatbin(ctx, c.fatbinary, targets, outputs)
	default:
		output = outputs[0].Cubin
	}
	var refused *diag.Message
	if errors.As(err, &refused) && (refused.ID == diag.Partition || refused.ID == diag.Fatbinary) {
		return nil, &exitError{exitLink, err}
	}
	return output, err
}

// commandLine quotes a command for a shell.
func commandLine(args []string) string {
	var words []string
	for _, arg := range args {
		if strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%") != "" || arg == "" {
			arg = "'" + strings.ReplaceAll(diag.Escape(arg), "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
