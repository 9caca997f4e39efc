package main

import (
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// clangWrapperCommand is linking for clang. It is a function, as a run may use what leads back
// to it.
func clangWrapperCommand() subcommand {
	return subcommand{
		Command: cli.Command{
			Name:      "clang-nvlink-wrapper",
			Usage:     "link for clang --target=nvptx64-nvidia-cuda; also if called so",
			ArgsUsage: "FILE...",
			Description: `Accepts the command lines that clang 19 and newer give their
clang-nvlink-wrapper, and writes a cubin. docs/from-clang.md describes how to
let clang call ptxlink.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written.`,
		},
		flags: func() []cli.Flag {
			const ignored = "Accepted, without effect"
			return append(linkFlags("output", "format", "arch", "ptxas", "nvlink", "nvvm", "verbose", "dry-run", "L", "l", "whole-archive", "no-whole-archive", "push-state", "pop-state", "start-group", "end-group",
				"undefined", "threads", "max-input-size", "help", "version", "w", "W", "fatal-warnings", "error-limit", "diagnostics-format", "color-diagnostics"),
				&cli.BoolFlag{Name: "debug", Aliases: []string{"g"}, Category: ignored, Usage: "debug information is kept if the inputs have it"},
				&cli.BoolFlag{Name: "save-temps", Category: ignored, Usage: "there are no other files"},
				&cli.StringFlag{Name: "plugin", Category: ignored, Usage: "`FILE`, for LLVM IR"},
				&cli.StringSliceFlag{Name: "plugin-opt", Category: ignored, Usage: "`OPTION`, for LLVM IR"},
				&cli.StringFlag{Name: "feature", Category: ignored, Usage: "`NAME`, for LLVM IR"},
				&cli.StringSliceFlag{Name: "mllvm", Category: ignored, Usage: "`OPTION`, for LLVM IR"},
			)
		},
		first: clangArguments,
		run:   links((*linkJob).run),
	}
}

// clangArguments makes arguments for clang's wrapper those of a link to a cubin.
// --cuda-path names the toolkit, whose programs are in bin, and -v is --verbose.
func clangArguments(args []string) []string {
	out := []string{"--format=cubin"}
	for _, arg := range args {
		if dir, ok := strings.CutPrefix(arg, "--cuda-path="); ok {
			out = append(out, "--ptxas="+filepath.Join(dir, "bin", "ptxas"), "--nvlink="+filepath.Join(dir, "bin", "nvlink"))
		} else if arg == "-v" {
			out = append(out, "--verbose")
		} else {
			out = append(out, arg)
		}
	}
	return out
}
