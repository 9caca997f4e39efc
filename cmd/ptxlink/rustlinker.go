package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// rustLinkerCommand is linking for rustc. It is a function, as a run may use what leads back to
// it.
func rustLinkerCommand() subcommand {
	return subcommand{
		Command: cli.Command{
			Name:      rustLinker,
			Usage:     "link for rustc --target=nvptx64-nvidia-cuda; also if called so",
			ArgsUsage: "FILE...",
			Description: `Accepts the command lines that rustc gives its linkers for nvptx64, which are
llvm-bitcode-linker (Rust 1.96) and rust-ptx-linker (1.85), and writes PTX, or
a cubin to a name that ends in .cubin. The crates are LLVM bitcode, which clang
compiles. docs/from-rust.md describes how to let rustc call ptxlink, and how to
pass it other options.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written.`,
		},
		flags: func() []cli.Flag {
			return append(linkFlags("output", "format", "cubin", "relocatable", "arch", "ptxas", "nvlink", "nvvm", "clang", "verbose", "dry-run", "Map", "L", "l", "whole-archive", "no-whole-archive",
				"undefined", "require-defined", "allow-undefined", "entry", "export", "localize", "gc-sections", "no-gc-sections", "gc-variables", "strip-debug", "keep-line-info", "ptx-version", "resource-usage",
				"threads", "max-input-size", "help", "version", "trace", "w", "W", "fatal-warnings", "error-limit", "diagnostics-format", "color-diagnostics"),
				&cli.StringSliceFlag{Name: "plugin-opt", Category: "LLVM bitcode", Usage: "compile with `OPTION`: O0 to O3, Os, Oz; what rustc passes as -O3"})
		},
		before: func(_ *command, _ table, args []string) []string { return rustArguments(args) },
		run: links(func(j *linkJob) error {
			j.anySuffix, j.fromRustc = true, true
			return j.run()
		}),
	}
}

const rustLinker = "llvm-bitcode-linker"

// fromRustc reports whether a program is called by rustc: by the name of one of its linkers, or
// with the arguments that all its calls for nvptx64 have.
func fromRustc(name string, args []string) bool {
	if len(args) > 0 && args[0] == rustLinker {
		return false // typed
	}
	target := slices.Index(args, "--target")
	return name == rustLinker || name == "rust-ptx-linker" || slices.Contains(args, "--fallback-arch") ||
		target >= 0 && target+1 < len(args) && strings.HasPrefix(args[target+1], "nvptx") && slices.Contains(args, "--target-cpu")
}

// rustArguments makes arguments for rustc's linkers those of a link. That rustc exports a symbol
// keeps it.
func rustArguments(args []string) (out []string) {
	if slices.Contains(args, "--export-symbol") {
		out = []string{"--gc-variables"} // rustc exports those that the host looks up
	}
	for i := 0; i < len(args); i++ {
		arg, value := args[i], ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch arg {
		case "--bitcode", "--rlib":
			out = append(out, value)
		case "--fallback-arch", "--target-cpu":
			out = append(out, "--arch="+value)
		case "--export-symbol":
			out = append(out, "--undefined="+value)
		case "--target":
		case "-L": // rustc names directories that it may have
			if _, err := os.Stat(value); err == nil {
				out = append(out, arg, value)
			}
		case "--debug", "-Olto": // the bitcode has debug information, and is compiled together, anyway
			continue
		case "-O0", "-O1", "-O2", "-O3", "-Os", "-Oz":
			out = append(out, "--plugin-opt="+arg[1:])
			continue
		default:
			out = append(out, arg)
			continue
		}
		i++
	}
	return out
}
