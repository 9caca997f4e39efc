package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/link/llvm"
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
			const ignored, bitcode = "Accepted, without effect", "LLVM bitcode"
			return append(linkFlags("output", "format", "arch", "ptxas", "nvlink", "nvvm", "clang", "verbose", "dry-run", "L", "l", "whole-archive", "no-whole-archive", "push-state", "pop-state", "start-group", "end-group",
				"undefined", "threads", "max-input-size", "help", "version", "w", "W", "fatal-warnings", "error-limit", "diagnostics-format", "color-diagnostics"),
				&cli.BoolFlag{Name: "debug", Aliases: []string{"g"}, Category: ignored, Usage: "debug information is kept if the inputs have it"},
				&cli.BoolFlag{Name: "save-temps", Category: ignored, Usage: "there are no other files"},
				&cli.StringFlag{Name: "plugin", Category: bitcode, Usage: "`FILE` in ../lib of the directory of clang"},
				&cli.StringSliceFlag{Name: "plugin-opt", Category: bitcode, Usage: "compile with `OPTION`: O0 to O3, -mattr=FEATURES; others have no effect"},
				&cli.StringSliceFlag{Name: "feature", Category: bitcode, Usage: "compile for the feature `NAME`, such as +ptx83"},
				&cli.StringSliceFlag{Name: "mllvm", Category: bitcode, Usage: "pass `OPTION` to LLVM"},
			)
		},
		first:  clangFile,
		before: func(_ *command, _ table, args []string) []string { return clangArguments(args) },
		run:    links((*linkJob).run),
	}
}

// clangFile makes @FILE of what clang passes if the arguments are too long: --options-fileFILE, in
// one word, which its own wrapper does not take.
func clangFile(args []string) (out []string) {
	for _, arg := range args {
		if file, ok := strings.CutPrefix(arg, "--options-file"); ok && file != "" {
			arg = "@" + strings.TrimPrefix(file, "=")
		}
		out = append(out, arg)
	}
	return out
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

// readCompilerOptions reads the options for LLVM bitcode that clang gives its wrapper. Other links
// have none of them.
func (j *linkJob) readCompilerOptions(c *llvm.Compiler) {
	features := j.opts.StringSlice("feature")
	for _, option := range j.opts.StringSlice("plugin-opt") {
		if level, ok := strings.CutPrefix(option, "O"); ok && len(level) == 1 {
			c.Level = level
		} else if list, ok := strings.CutPrefix(option, "-mattr="); ok {
			features = append(features, list)
		}
	}
	c.Features, c.Args = strings.Join(features, ","), j.opts.StringSlice("mllvm")
}

// besideCompiler returns the directories that clang is first looked for in: that of the clang that
// calls this program, and that of this program if it was called by its path.
func (j *linkJob) besideCompiler() (dirs []string) {
	if plugin := j.opts.String("plugin"); filepath.Base(filepath.Dir(plugin)) == "lib" {
		dirs = append(dirs, filepath.Join(filepath.Dir(plugin), "..", "bin"))
	}
	if filepath.Base(os.Args[0]) != os.Args[0] {
		if dir, err := filepath.Abs(filepath.Dir(os.Args[0])); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
