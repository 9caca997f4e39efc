package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

var checkCommand = subcommand{
	name:  "check",
	usage: "run all checks of a link without writing output",
	args:  "FILE...",
	flags: func() []cli.Flag {
		const checks = "Checks"
		return append([]cli.Flag{
			&cli.BoolFlag{Name: "atomics", Category: checks, Usage: "also check atomic operations against the mappings of C++"},
		}, linkFlags("relocatable", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "require-defined", "max-input-size", "arch", "threads", "allow-undefined", "host", "allow-host-mismatch",
			"help", "verbose", "time", "w", "W", "fatal-warnings", "error-limit", "color-diagnostics")...)
	},
	description: `Reads, resolves and checks the inputs as a link does, and prints every message.
-r allows undefined symbols.

Exit codes: 0 no errors, 1 the inputs cannot be linked, 2 usage error, 3 a file
cannot be read.`,
	run: (*command).check,
}

// linkFlags are the options of linking with these names.
func linkFlags(names ...string) []cli.Flag {
	return slices.DeleteFunc(newFlags(), func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
}

// check runs ptxlink check.
func (c *command) check(ctx *cli.Context) error {
	if err := c.readOptions(ctx); err != nil {
		return err
	}
	if err := c.findInputs(ctx.StringSlice("L")); err != nil {
		return err
	}
	c.linkOptions.CheckOnly = true
	c.linkOptions.Atomics = ctx.Bool("atomics")
	if _, err := c.link(ctx.Context); err != nil {
		return err
	}
	if ctx.Bool("time") {
		c.showTimes()
	}
	return nil
}
