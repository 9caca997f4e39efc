package main

import (
	"os"
	"slices"

	"ptxlink/internal/outfile"
)

var nvptxLdCommand = subcommand{
	name:  "nvptx-none-ld",
	usage: "link like gcc's nvptx-none-ld; also if called so",
	args:  "FILE...",
	flags: func() []option {
		const messages = "Messages"
		return append(linkFlags("output", "relocatable", "Map", "dependency-file", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "max-input-size", "threads", "allow-undefined", "gc-sections", "strip-debug"),
			append([]option{
				{kind: toggleKind, name: "verbose", aliases: []string{"v"}, category: messages, usage: "print what was renamed, dropped and assumed"},
				{kind: toggleKind, name: "version", aliases: []string{"V"}, category: messages, usage: "show the version"},
			}, linkFlags("help", "w", "W", "fatal-warnings", "error-limit", "color-diagnostics")...)...)
	},
	description: `Takes the command lines of gcc's offload compiler, and writes PTX for its
mkoffload (default: a.out). docs/from-gcc.md describes how to let gcc call
ptxlink.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written.`,
	run: (*command).nvptxLd,
}

// nvptxLd runs ptxlink nvptx-none-ld.
func (c *command) nvptxLd(opts *options) error {
	if opts.toggle("version") {
		return c.show([]byte("ptxlink nvptx-none-ld: " + version() + "\n"))
	}
	c.anySuffix = true
	if err := c.readOptions(opts); err != nil {
		return err
	}
	if opts.text("output") == "" {
		c.output = "a.out"
	}
	// libgomp looks up functions and variables by the names in the maps.
	c.linkOptions.KeepUnused = !opts.toggle("gc-sections")
	c.linkOptions.OffloadMaps = true
	c.linkOptions.Stream = false
	// gcc names the folders that it may have, also those that it has not.
	folders := slices.DeleteFunc(opts.list("L"), func(folder string) bool {
		_, err := os.Stat(folder)
		return err != nil
	})
	if err := c.findInputs(folders); err != nil {
		return err
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	targets, err := c.linkAll(opts.ctx)
	if err != nil {
		return err
	}
	result := targets[0].Result
	// mkoffload finds the end of a module by its NUL, where ptxas stops, too.
	text := slices.Concat(result.PTX, result.OffloadMaps, []byte{0})
	return c.writeResult(result, unused(targets), outfile.File{Path: c.output, Data: text})
}
