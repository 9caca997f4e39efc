package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

var checkCommand = subcommand{
	name:  "check",
	usage: "run every check of a link and write nothing",
	args:  "FILE...",
	flags: func() []cli.Flag {
		const checks = "Checks"
		return append([]cli.Flag{
			&cli.BoolFlag{Name: "atomics", Category: checks, Usage: "also compare atomic operations with the mappings of C++"},
		}, linkFlags("relocatable", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "require-defined", "max-input-size", "arch", "threads", "allow-undefined", "host", "allow-host-mismatch",
			"help", "verbose", "time", "w", "W", "fatal-warnings", "error-limit", "color-diagnostics")...)
	},
	description: `The inputs are read, resolved and checked as for a link, and every message is
shown. -r takes undefined symbols as they are.

Exit codes: 0 nothing wrong (warnings aside), 1 cannot be linked, 2 wrong usage,
3 a file cannot be read.`,
	run: (*command).check,
}

// linkFlags are the options of linking with these names.
func linkFlags(names ...string) []cli.Flag {
	return slices.DeleteFunc(newFlags(), func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
}

// check is ptxlink check.
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
