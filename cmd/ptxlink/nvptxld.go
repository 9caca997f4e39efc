package main

import (
	"os"
	"slices"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
)

var nvptxLdCommand = subcommand{
	Command: cli.Command{
		Name:      "nvptx-none-ld",
		Usage:     "link like gcc's nvptx-none-ld; also if called so",
		ArgsUsage: "FILE...",
		Description: `Accepts the command lines of gcc's offload compiler, and writes PTX for its
mkoffload (default: a.out). docs/from-gcc.md describes how to let gcc call
ptxlink.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written.`,
	},
	flags: func() []cli.Flag {
		const messages = "Messages"
		return append(linkFlags("output", "relocatable", "Map", "dependency-file", "L", "l", "whole-archive", "no-whole-archive", "start-group", "end-group", "undefined", "max-input-size", "threads", "allow-undefined", "gc-sections", "strip-debug"),
			append([]cli.Flag{
				&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: messages, Usage: "print what was renamed, dropped and assumed"},
				&cli.BoolFlag{Name: "version", Aliases: []string{"V"}, Category: messages, Usage: "show the version"},
			}, linkFlags("help", "w", "W", "fatal-warnings", "error-limit", "color-diagnostics")...)...)
	},
	run: links((*linkJob).nvptxLd),
}

// nvptxLd runs ptxlink nvptx-none-ld.
func (j *linkJob) nvptxLd() error {
	if j.opts.Bool("version") {
		return j.show([]byte("ptxlink nvptx-none-ld: " + version() + "\n"))
	}
	j.anySuffix = true
	if err := j.readOptions(); err != nil {
		return err
	}
	if j.opts.String("output") == "" {
		j.output = "a.out"
	}
	// libgomp looks up functions and variables by the names in the maps.
	j.options.KeepUnused = !j.opts.Bool("gc-sections")
	j.options.OffloadMaps = true
	j.options.Stream = false
	// gcc names the directories that it may have, also those that it has not.
	dirs := slices.DeleteFunc(j.opts.StringSlice("L"), func(dir string) bool {
		_, err := os.Stat(dir)
		return err != nil
	})
	if err := j.readInputs(dirs); err != nil {
		return err
	}
	if err := j.checkFiles(); err != nil {
		return err
	}
	targets, err := j.linkAll()
	if err != nil {
		return err
	}
	result := targets[0].Result
	// mkoffload finds the end of a module by its NUL, where ptxas stops, too.
	text := slices.Concat(result.PTX, result.OffloadMaps, []byte{0})
	return j.writeResult(result, unused(targets), outfile.File{Path: j.output, Data: text})
}
