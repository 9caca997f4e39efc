package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/link/llvm"
	"ptxlink/link/ptxas"
	"ptxlink/object/diag"
)

var nvptxLdCommand = subcommand{
	Command: described("nvptx-none-ld"),
	run:     links((*linkRequest).nvptxLd),
}

func (j *linkRequest) nvptxLd() error {
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
	// Unused definitions must be kept, because libgomp looks up functions and variables by the
	// names in the maps.
	j.options.KeepUnused = !j.opts.Bool("gc-sections")
	j.options.OffloadMaps = true
	j.options.Stream = false
	// gcc names all directories that it could have, so missing ones must not cause warnings.
	dirs := slices.DeleteFunc(j.opts.StringSlice("L"), func(dir string) bool {
		_, err := os.Stat(dir)
		return infile.Absent(err)
	})
	inputs, err := j.findInputs(dirs)
	if j.options.Inputs = inputs; err != nil {
		return err
	}
	if err := j.checkFiles(); err != nil {
		return err
	}
	job := j.job()
	targets, err := job.linkAll()
	if err != nil {
		return err
	}
	result := targets[0].Result
	// The text must end in a NUL, because mkoffload finds the end of a module by it. ptxas stops
	// there, too.
	text := slices.Concat(result.PTX, result.OffloadMaps, []byte{0})
	return job.writeResult(result, unused(targets), outfile.File{Path: j.output, Data: text})
}

// clangWrapperCommand is linking for clang. It has the options of LLVM's wrapper (NVLinkOpts.td),
// and some of nvlink, because the wrapper passes unknown options to nvlink.
var clangWrapperCommand = subcommand{
	Command: described("clang-nvlink-wrapper"),
	first:   clangFile,
	before:  func(_ *command, _ table, args []string) []string { return clangArguments(args) },
	like:    map[string]string{"-c": "-r"},
	unknown: "clang without -B calls LLVM's own clang-nvlink-wrapper, which may know it",
	run: links(func(j *linkRequest) error {
		if dir := j.opts.String("cuda-path"); dir != "" { // clang adds Debian's, whose bin is empty
			j.assembler.First = append(j.assembler.First, ptxas.Directory{Path: filepath.Join(dir, "bin"), Option: "--cuda-path"})
		}
		if dir := j.opts.String("ptxas-path"); dir != "" {
			j.assembler.First = append(j.assembler.First, ptxas.Directory{Path: dir, Option: "--ptxas-path"})
		}
		j.assembler.SuppressStackWarnings = j.opts.Bool("suppress-stack-size-warning")
		return j.run()
	}),
}

// clangFile makes @FILE of --options-fileFILE. clang passes this in one word if the arguments are
// too long; its own wrapper cannot read it.
func clangFile(args []string) (out []string) {
	for _, arg := range args {
		if file, ok := strings.CutPrefix(arg, "--options-file"); ok && file != "" {
			arg = "@" + strings.TrimPrefix(file, "=")
		}
		out = append(out, arg)
	}
	return out
}

// clangArguments translates the arguments of clang-nvlink-wrapper into ptxlink options for a cubin:
// -v is --verbose, and -r writes a relocatable cubin. Assembly must keep undefined symbols, because
// LLVM's wrapper writes assembly before it looks for them.
func clangArguments(args []string) []string {
	format, relocatable, rest := "cubin", false, []string{}
	for _, arg := range args {
		name, isOption := strings.CutPrefix(arg, "-")
		name = strings.TrimPrefix(name, "-")
		cpu, names := strings.CutPrefix(name, "plugin-opt=mcpu=")
		value, chosen := strings.CutPrefix(name, "format=")
		switch {
		case !isOption:
		case arg == "-v":
			arg = "--verbose"
		case names:
			arg = "--arch=" + cpu
		case chosen:
			format = value
		case name == "lto-emit-asm" || name == "plugin-opt=emit-asm":
			arg, format = "--relocatable", "ptx"
		case name == "plugin-opt=emit-llvm":
			arg = "--lto-emit-llvm" // which is refused
		case name == "r" || name == "relocatable":
			relocatable = true
		}
		rest = append(rest, arg)
	}
	out := []string{"--format=" + format}
	if relocatable && format == "cubin" {
		out = append(out, "--compile-only")
	}
	return append(out, rest...)
}

// readCompilerOptions reads the options for LLVM bitcode that clang passes to its wrapper. Other
// links cannot have them.
func (j *linkRequest) readCompilerOptions(c *llvm.Compiler) error {
	var log diag.Log
	features := j.opts.StringSlice("feature")
	for _, option := range j.opts.StringSlice("plugin-opt") {
		if level, ok := strings.CutPrefix(option, "O"); ok && len(level) == 1 {
			c.Level = level
		} else if list, ok := strings.CutPrefix(option, "-mattr="); ok {
			features = append(features, list)
		} else if file, ok := strings.CutPrefix(option, "opt-remarks-filename="); ok {
			log.Warn(diag.UnusedOption, diag.Place{}, "no remarks are written to "+file+": --plugin-opt=opt-remarks-filename has no effect")
		}
	}
	c.Features, c.Args = strings.Join(features, ","), j.opts.StringSlice("mllvm")
	return j.tell(log.Messages, exitUsage)
}

// besideCompiler returns the directories in which clang is first looked for: the directory of the
// clang that calls this program, and the directory of this program if it was called by its path.
func (j *linkRequest) besideCompiler() (dirs []string) {
	if plugin := j.opts.String("plugin"); filepath.Base(filepath.Dir(plugin)) == "lib" {
		dirs = append(dirs, filepath.Join(filepath.Dir(plugin), "..", "bin"))
	}
	if names := calledBy(); len(names) > 0 {
		dirs = append(dirs, filepath.Dir(names[0]))
	}
	return dirs
}

// calledBy returns the path by which this program was called. If that is a symbolic link, it also
// returns each path that the links lead through. It returns nothing if the program was found on
// PATH.
func calledBy() (paths []string) {
	path := os.Args[0]
	if filepath.Base(path) == path {
		return nil
	}
	path, err := filepath.Abs(path)
	for err == nil && len(paths) < 40 { // systems follow no more
		paths = append(paths, path)
		dir, to := filepath.Dir(path), ""
		if to, err = os.Readlink(path); err == nil && !filepath.IsAbs(to) { // it starts from the real directory
			dir, err = filepath.EvalSymlinks(dir)
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return paths
}

var rustLinkerCommand = subcommand{
	Command: described(rustLinker),
	before:  func(_ *command, _ table, args []string) []string { return rustArguments(args) },
	run: links(func(j *linkRequest) error {
		j.anySuffix, j.fromRustc = true, true
		return j.run()
	}),
}

const rustLinker = "llvm-bitcode-linker"

// fromRustc reports whether rustc calls this program: because of the name of one of its linkers, or
// because of arguments that only rustc passes for nvptx64.
func fromRustc(name string, args []string) bool {
	if len(args) > 0 && args[0] == rustLinker {
		return false // a user has typed it
	}
	target := slices.Index(args, "--target")
	return name == rustLinker || name == "rust-ptx-linker" || slices.Contains(args, "--fallback-arch") ||
		target >= 0 && target+1 < len(args) && strings.HasPrefix(args[target+1], "nvptx") && slices.Contains(args, "--target-cpu")
}

// rustArguments translates the arguments of rustc's linkers. Symbols that rustc exports must be
// kept.
func rustArguments(args []string) (out []string) {
	if slices.Contains(args, "--export-symbol") {
		out = []string{"--gc-variables"} // since rustc exports the ones that the host looks up
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
		case "-L": // rustc names directories that may be missing
			if _, err := os.Stat(value); !infile.Absent(err) {
				out = append(out, arg, value)
			}
		case "--debug", "-Olto": // not needed for bitcode
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
