package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

var checkCommand = subcommand{
	Command: cli.Command{
		Name:      "check",
		Usage:     "run all checks of a link without writing output",
		ArgsUsage: "FILE...",
		Description: `Reads, resolves and checks the inputs as a link does, and prints every message.
Machine code for --arch is checked as for a link into a cubin. -r allows
undefined symbols. --assemble also runs ptxas, and nvlink if needed, as for a
cubin; with -r it runs ptxas -c. Without it, on a terminal or with --verbose, a
note reminds you that ptxas may still refuse the result.

Exit codes: 0 no errors, 1 the inputs cannot be linked or ptxas refuses the
result, 2 usage error, 3 a file cannot be read or ptxas cannot be run.`,
	},
	flags: func() []cli.Flag {
		const checks = "Checks"
		return append([]cli.Flag{
			&cli.BoolFlag{Name: "atomics", Category: checks, Usage: "also check atomic operations against the mappings of C++"},
			&cli.BoolFlag{Name: "assemble", Category: checks, Usage: "also run ptxas on the result"},
		}, linkFlags("relocatable", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "require-defined", "max-input-size", "arch", "threads", "no-threads", "gc-sections", "no-gc-sections", "gc-variables", "entry", "kernels-used", "export", "localize", "version-script", "allow-undefined", "unresolved-symbols", "warn-unresolved-symbols", "error-unresolved-symbols", "ptx-version", "defsym", "wrap", "allow-multiple-definition", "z", "dedupe-identical", "weaken-symbol", "localize-symbol", "push-state", "pop-state", "host", "allow-host-mismatch",
			"ptxas", "Xptxas", "ptxas-mode", "ptxas-jobs", "prefer", "nvlink", "nvvm", "clang", "cache", "cache-dir", "cache-size",
			"help", "trace", "trace-symbol", "demangle", "no-demangle", "verbose", "time", "w", "W", "fatal-warnings", "error-limit", "diagnostics-format", "color-diagnostics")...)
	},
	run: links((*linkJob).check),
}

// linkFlags are the options of linking with these names.
func linkFlags(names ...string) []cli.Flag {
	return slices.DeleteFunc(newFlags(), func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
}

// check runs ptxlink check.
func (j *linkJob) check() error {
	j.checkOnly = true
	if err := j.readOptions(); err != nil {
		return err
	}
	if err := j.readInputs(j.opts.StringSlice("L")); err != nil {
		return err
	}
	j.options.Atomics = j.opts.Bool("atomics")
	if j.cubin() {
		j.assembler.Compile = j.opts.Bool("relocatable")
		if err := j.findTools(); err != nil {
			return err
		}
	}
	targets, err := j.linkAll()
	if err != nil {
		return err
	}
	if j.cubin() {
		if _, err := j.assemble(targets); err != nil {
			return err
		}
	}
	if j.opts.Bool("time") {
		j.showTimes()
	}
	// Scripts expect nothing where there is nothing wrong.
	if !j.cubin() && (j.opts.Bool("verbose") || j.report.text() && isTerminal(j.stderr)) {
		j.report.note("ptxas has not run on the result; --assemble runs it")
	}
	return nil
}
