package main

import (
	"slices"
)

var checkCommand = subcommand{
	name:  "check",
	usage: "run all checks of a link without writing output",
	args:  "FILE...",
	flags: func() []option {
		const checks = "Checks"
		return append([]option{
			{kind: toggleKind, name: "atomics", category: checks, usage: "also check atomic operations against the mappings of C++"},
		}, linkFlags("relocatable", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "require-defined", "max-input-size", "arch", "threads", "gc-sections", "no-gc-sections", "gc-variables", "entry", "export", "localize", "version-script", "allow-undefined", "unresolved-symbols", "defsym", "wrap", "allow-multiple-definition", "z", "dedupe-identical", "weaken-symbol", "localize-symbol", "push-state", "pop-state", "host", "allow-host-mismatch",
			"help", "trace", "trace-symbol", "demangle", "no-demangle", "verbose", "time", "w", "W", "fatal-warnings", "error-limit", "diagnostics-format", "color-diagnostics")...)
	},
	description: `Reads, resolves and checks the inputs as a link does, and prints every message.
-r allows undefined symbols.

Exit codes: 0 no errors, 1 the inputs cannot be linked, 2 usage error, 3 a file
cannot be read.`,
	run: (*command).check,
}

// linkFlags are the options of linking with these names.
func linkFlags(names ...string) []option {
	return slices.DeleteFunc(newFlags(), func(f option) bool { return !slices.Contains(names, f.name) })
}

// check runs ptxlink check.
func (c *command) check(opts *options) error {
	c.checkOnly = true
	if err := c.readOptions(opts); err != nil {
		return err
	}
	if err := c.findInputs(opts.list("L")); err != nil {
		return err
	}
	c.linkOptions.Atomics = opts.toggle("atomics")
	if _, err := c.linkAll(opts.ctx); err != nil {
		return err
	}
	if opts.toggle("time") {
		c.showTimes()
	}
	return nil
}
