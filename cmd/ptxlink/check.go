package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

var checkCommand = subcommand{
	Command: described("check"),
	flags: func() []cli.Flag {
		const checks = "Checks"
		return append([]cli.Flag{
			&cli.BoolFlag{Name: "atomics", Category: checks, Usage: "also check atomic operations against the mappings of C++"},
			&cli.BoolFlag{Name: "assemble", Category: checks, Usage: "also assemble the result, as for a cubin"},
		}, linkFlags("relocatable", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "require-defined", "max-input-size", "arch", "threads", "no-threads", "gc-sections", "no-gc-sections", "gc-variables", "entry", "kernels-used", "export", "localize", "version-script", "allow-undefined", "unresolved-symbols", "warn-unresolved-symbols", "error-unresolved-symbols", "ptx-version", "defsym", "wrap", "allow-multiple-definition", "z", "dedupe-identical", "weaken-symbol", "localize-symbol", "push-state", "pop-state", "host", "allow-host-mismatch",
			"ptxas", "Xptxas", "ptxas-mode", "ptxas-jobs", "ptxas-budget", "prefer", "nvlink", "nvvm", "clang", "cache", "cache-dir", "cache-size",
			"help", "trace", "trace-symbol", "demangle", "no-demangle", "verbose", "time", "w", "W", "fatal-warnings", "error-limit", "diagnostics-format", "color-diagnostics")...)
	},
	run: links((*linkJob).check),
}

// linkFlags returns the options of linking with these names.
func linkFlags(names ...string) []cli.Flag {
	return slices.DeleteFunc(newFlags(), func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
}

func (j *linkJob) check() error {
	j.checkOnly = true
	if err := inOrder(j.readOptions, j.readInputs); err != nil {
		return err
	}
	j.options.Atomics = j.opts.Bool("atomics")
	j.assembler.Compile = j.cubin() && j.opts.Bool("relocatable")
	if _, _, err := j.make(nil); err != nil {
		return err
	}
	if j.opts.Bool("time") {
		j.showTimes()
	}
	// Scripts expect no output unless there is a problem.
	if !j.cubin() && (j.opts.Bool("verbose") || j.report.text() && isTerminal(j.stderr)) {
		j.report.note("ptxas has not run on the result; --assemble runs it")
	}
	return nil
}
