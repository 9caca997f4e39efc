package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// newFlags returns the table of options. An option must be added only here, because parsing, help,
// completion and the manual all read the table. A word in backquotes is the name of the value. Only
// the manual page and docs/options.md show the lines of Usage after the first.
func newFlags() []cli.Flag {
	const output, input, linking, optimizing, assembler, messages, also = "Output", "Inputs", "Linking", "Optimisation", "ptxas", "Messages", alsoCategory
	table := []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output, Usage: "write to `FILE` (default: a.out.ptx, a.out.cubin, a.out.fatbin)"},
		&cli.BoolFlag{Name: "relocatable", Aliases: []string{"r"}, Category: output, Usage: "keep undefined symbols, for another link"},
		&cli.BoolFlag{Name: "cubin", Category: output, Usage: "assemble to a cubin with ptxas; -o NAME.cubin implies it"},
		&cli.GenericFlag{Name: "format", Category: output, Value: oneOf("ptx cubin fatbin"), Usage: "write `FORMAT`: ptx, cubin or fatbin (default: by the suffix of -o)"},
		&cli.BoolFlag{Name: "compile-only", Aliases: []string{"c"}, Category: output, Usage: "write a relocatable cubin (with -r: undefined symbols allowed)"},
		&cli.GenericFlag{Name: "print-dependencies", Category: output, Value: maybe(), Usage: "print why each archive member is linked, or write it to `FILE`"},
		&cli.StringFlag{Name: "Map", Category: output, Usage: "write a link map to `FILE`, as JSON if it ends in .json"},
		&cli.BoolFlag{Name: "cref", Category: output, Usage: "add the modules that use each symbol to the map, or print them"},
		&cli.StringFlag{Name: "report", Category: output, Usage: "write an HTML page about the link to `FILE`"},
		&cli.StringFlag{Name: "dot", Category: output, Usage: "write the call graph to `FILE`, for Graphviz"},
		&cli.StringFlag{Name: "dependency-file", Aliases: []string{"MF"}, Category: output, Usage: "write a dependency file for Make to `FILE`"},
		&cli.BoolFlag{Name: "MD", Category: output, Usage: "write a dependency file named after the output, with .d added"},
		&cli.StringFlag{Name: "reproduce", Category: output, Usage: "write a tar `FILE` with the inputs and options of this link\n" +
			"It is written before the link, for a report of a fault: tar xf x.tar; cd x; ptxlink @response.txt. It holds neither the programs that ptxlink runs nor the members of thin archives."},
		&cli.StringFlag{Name: "time-trace", Category: output, Usage: "write the time of each pass to `FILE`, as JSON for Chrome's tracing"},

		&cli.StringSliceFlag{Name: "L", Aliases: []string{"library-path"}, Category: input, Usage: "search `DIR` for -l libraries"},
		&cli.StringSliceFlag{Name: "l", Aliases: []string{"library"}, Category: input, Usage: "link lib`NAME`.a or .ptx from a -L directory (or .lib); -l:FILE: that file"},
		&cli.BoolFlag{Name: "whole-archive", Category: input, Usage: "link all members of the following archives"},
		&cli.StringSliceFlag{Name: "undefined", Aliases: []string{"u"}, Category: input, Usage: "link the archive member that defines `NAME`"},
		&cli.StringSliceFlag{Name: "require-defined", Category: input, Usage: "like -u, and report an error if `NAME` is undefined"},
		&cli.Int64Flag{Name: "max-input-size", Category: input, Usage: "limit of decompressed inputs and pipes: `SIZE` in bytes, or as 4G (default: 4G)"},
		&cli.Int64Flag{Name: "threads", Aliases: []string{"j"}, Category: input, Usage: "read `N` inputs in parallel (default: number of CPUs)"},

		&cli.StringSliceFlag{Name: "allow-undefined", Category: linking, Usage: "allow undefined symbols that match `GLOB`"},
		&cli.GenericFlag{Name: "unresolved-symbols", Category: linking,
			Value: oneOf("report-all ignore-all ignore-in-object-files ignore-in-shared-libs"), Usage: "`HOW`: report-all (default); ignore-all allows all undefined symbols\n" +
				"ignore-in-object-files is ignore-all, and ignore-in-shared-libs is report-all, since PTX has no shared libraries."},
		&cli.BoolFlag{Name: "warn-unresolved-symbols", Category: linking, Usage: "report undefined symbols as warnings, and leave them open"},
		&cli.StringSliceFlag{Name: "defsym", Category: linking, Usage: "define a symbol: `NAME=SYMBOL` or NAME=NUMBER\n" +
			"NAME=SYMBOL: what refers to NAME refers to SYMBOL; the output has no symbol NAME. NAME=NUMBER: NAME is a variable of this value, with the state space and type that the inputs declare, because symbols of PTX have no absolute addresses."},
		&cli.StringSliceFlag{Name: "wrap", Category: linking, Usage: "uses of `NAME` become uses of __wrap_NAME\n" +
			"Uses of __real_NAME become uses of NAME. As in GNU ld, uses in the module that defines NAME stay. NAME may be a system call, such as malloc."},
		&cli.GenericFlag{Name: "z", Category: linking, Value: &choice{words: "defs undefs muldefs", open: true}, Usage: "accept the `KEYWORD` defs, undefs or muldefs, and ignore others"},
		&cli.BoolFlag{Name: "dedupe-identical", Category: linking, Usage: "use the first of several strong definitions with the same text\n" +
			"What they use that is private to their modules must be the same too, and must not change while the program runs."},
		&cli.StringSliceFlag{Name: "weaken-symbol", Category: linking, Usage: "make definitions that match `GLOB` .weak in each input"},
		&cli.StringSliceFlag{Name: "localize-symbol", Category: linking, Usage: "make definitions that match `GLOB` local in each input\n" +
			"--localize does so in the output only: other inputs can use them."},
		&cli.BoolFlag{Name: "gc-sections", Category: linking, Usage: "remove what nothing refers to (default, except with -r and -c)"},
		&cli.BoolFlag{Name: "gc-variables", Category: linking, Usage: "remove also variables that only the host could use"},
		&cli.StringSliceFlag{Name: "entry", Aliases: []string{"e"}, Category: linking, Usage: "keep only kernels that match `GLOB`"},
		&cli.StringSliceFlag{Name: "export", Category: linking, Usage: "keep definitions that match `GLOB`"},
		&cli.StringSliceFlag{Name: "localize", Category: linking, Usage: "make definitions that match `GLOB` local"},
		&cli.StringFlag{Name: "version-script", Category: linking, Usage: "export and localize what `FILE` lists, in the language of GNU ld"},
		&cli.BoolFlag{Name: "print-gc-sections", Category: linking, Usage: "print what is removed"},
		&cli.StringSliceFlag{Name: "why-live", Category: linking, Usage: "print what keeps `SYMBOL`"},
		&cli.BoolFlag{Name: "strip-debug", Aliases: []string{"S", "strip-all", "s"}, Category: linking, Usage: "remove debug information"},
		&cli.StringFlag{Name: "ptx-version", Category: linking, Usage: "write `VERSION` as .version (default: the highest of the inputs)\n" +
			"A lower version than an input has gives a warning, because only ptxas knows which targets, directives and instructions it lacks."},
		&cli.StringFlag{Name: "host", Category: linking, Usage: "host platform of inputs that do not record one: `OS-CPU`\n" +
			"For example linux-x86_64."},
		&cli.BoolFlag{Name: "allow-host-mismatch", Category: linking, Usage: "allow different host operating systems, with a warning"},

		&cli.GenericFlag{Name: "O", Category: optimizing, Value: oneOf("0 1 2"), Usage: "inline functions: small ones at `LEVEL` 1, more at 2 (default: 0)"},
		&cli.StringSliceFlag{Name: "inline", Category: optimizing, Usage: "inline functions that match `GLOB`, whatever their size"},
		&cli.StringSliceFlag{Name: "no-inline", Category: optimizing, Usage: "never inline functions that match `GLOB`"},
		&cli.Int64Flag{Name: "inline-limit", Category: optimizing, Usage: "-O1 inlines functions that add at most `N` instructions (default: 40)"},
		&cli.BoolFlag{Name: "icf", Category: optimizing, Usage: "replace functions by others with the same code"},
		&cli.BoolFlag{Name: "print-icf-sections", Category: optimizing, Usage: "print which functions --icf replaces"},
		&cli.BoolFlag{Name: "print-inlining", Category: optimizing, Usage: "print which calls are inlined, and why others are not"},

		&cli.StringSliceFlag{Name: "arch", Category: assembler, Usage: "link for the GPU `sm_NN` (default: the .target); several: a fatbin"},
		&cli.StringFlag{Name: "ptxas", Category: assembler, Usage: "`PATH` of ptxas (default: $PTXAS, $CUDA_HOME, $CUDA_PATH, $PATH, the usual directories, pip's wheels)"},
		&cli.StringSliceFlag{Name: "Xptxas", Category: assembler, Usage: "pass `ARG` to ptxas; -Xptxas -v,-O1 passes two"},
		&cli.GenericFlag{Name: "ptxas-mode", Category: assembler, Value: oneOf("auto whole separate"), Usage: "`MODE`: auto (default), whole, or separate, which needs nvlink"},
		&cli.GenericFlag{Name: "prefer", Category: assembler, Value: oneOf("ptx cubin"), Usage: "`FORM` of inputs with both: ptx or cubin (default: cubin in archives, and in place of separate functions)"},
		budgetFlag(0),
		&cli.StringFlag{Name: "partition", Category: assembler, Usage: "assemble at most `N` parts in parallel, or auto; implies separate"},
		&cli.StringFlag{Name: "emit-parts", Category: assembler, Usage: "write the parts as PTX to `PATTERN`, such as dir/part%d.ptx"},
		&cli.Int64Flag{Name: "ptxas-jobs", Category: assembler, Usage: "run at most `N` ptxas at a time (default: number of CPUs)"},
		&cli.StringFlag{Name: "nvlink", Category: assembler, Usage: "`PATH` of nvlink (default: $NVLINK, else beside ptxas)"},
		&cli.StringFlag{Name: "nvvm", Category: assembler, Usage: "`PATH` of libnvvm, for LTO-IR (default: $NVVM, else that of nvlink)"},
		&cli.StringFlag{Name: "clang", Category: assembler, Usage: "`PATH` of clang or llc, for LLVM bitcode (default: $CLANG, else on $PATH)"},
		&cli.StringFlag{Name: "fatbinary", Category: assembler, Usage: "`PATH` of fatbinary (default: $FATBINARY, else beside ptxas)"},
		&cli.GenericFlag{Name: "resource-usage", Category: assembler, Value: &choice{words: "compare", optional: true, bare: "table"}, Usage: "print registers, spills, sizes; with `compare` also those without -O"},
		&cli.BoolFlag{Name: "save-temps", Category: assembler, Usage: "keep the linked PTX, the parts and what is compiled to PTX beside the output"},
		&cli.BoolFlag{Name: "dry-run", Category: assembler, Usage: "print the commands that make the cubin, and write nothing"},
		&cli.StringFlag{Name: "cache", Category: assembler, Usage: "keep cubins at `WHERE`: a directory or prog:COMMAND (default: $PTXLINK_CACHE)"},
		&cli.StringFlag{Name: "cache-dir", Category: assembler, Usage: "same as --cache=`DIR`; with a shared --cache, a directory that is asked first"},
		&cli.Int64Flag{Name: "cache-size", Category: assembler, Usage: "limit of the cache: `SIZE` in bytes, or as 4G (default: 1G)"},

		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Category: messages, Usage: "show this help"},
		&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Category: messages, Usage: "show the version"},
		&cli.BoolFlag{Name: "trace", Aliases: []string{"t"}, Category: messages, Usage: "print the name of each module that is linked"},
		&cli.StringSliceFlag{Name: "trace-symbol", Aliases: []string{"y"}, Category: messages, Usage: "print the modules that define or use `SYMBOL`"},
		&cli.BoolFlag{Name: "verbose", Category: messages, Usage: "print what was renamed, dropped and assumed"},
		&cli.BoolFlag{Name: "time", Category: messages, Usage: "print the time of each pass"},
		&cli.BoolFlag{Name: "demangle", Category: messages, Usage: "show C++ and Rust names as in their source (default; --no-demangle: as they are)"},
		&cli.BoolFlag{Name: "w", Category: messages, Usage: "suppress all warnings"},
		&cli.StringSliceFlag{Name: "W", Category: messages, Usage: "-W`no-ID` hides the warning ID; -Werror=ID makes it an error"},
		&cli.Int64Flag{Name: "error-limit", Category: messages, Value: 20, Usage: "print at most `N` errors; 0: no limit (default: 20)"},
		&cli.GenericFlag{Name: "diagnostics-format", Category: messages, Value: oneOf("text json sarif github"), Usage: "write messages as `FORMAT`: text, json, sarif or github"},
		&cli.GenericFlag{Name: "color-diagnostics", Category: messages, Value: when(), Usage: "colour messages: `WHEN` is auto, always or never"},

		&cli.BoolFlag{Name: "allow-multiple-definition", Category: also, Usage: "use the first of several strong definitions; same as -z muldefs"},
		&cli.BoolFlag{Name: "print-map", Aliases: []string{"M"}, Category: also, Usage: "write the link map to standard output; same as -Map -"},
		&cli.BoolFlag{Name: "push-state", Category: also, Usage: "save the state of --whole-archive, for --pop-state"},
		&cli.BoolFlag{Name: "pop-state", Category: also, Usage: "restore the state that --push-state saved"},
		&cli.BoolFlag{Name: "no-threads", Category: also, Usage: "same as --threads=1"},
		&cli.BoolFlag{Name: "error-unresolved-symbols", Category: also, Usage: "report undefined symbols as errors (default)"},
		&cli.BoolFlag{Name: "no-whole-archive", Category: also, Usage: "link only the needed members of the following archives"},
		&cli.BoolFlag{Name: "no-gc-sections", Category: also, Usage: "keep what nothing refers to"},
		&cli.BoolFlag{Name: "no-demangle", Category: also, Usage: "show names as they are"},
		&cli.BoolFlag{Name: "fatal-warnings", Category: also, Usage: "treat warnings as errors; same as -Werror"},
		&cli.StringFlag{Name: "explain", Category: also, Usage: "explain the error or warning `ID`"},
		&cli.StringSliceFlag{Name: "kernels-used", Category: also, Usage: "keep only kernels whose name contains `NAME`; a NAME that none contains is a warning"},
		&cli.StringFlag{Name: "unused-inputs", Category: also, Usage: "write the names of unused archives to `FILE`"},
		&cli.BoolFlag{Name: "keep-line-info", Category: also, Usage: "with -S, keep .file and .loc"},
	}
	return append(table, ignored()...)
}

// budgetFlag returns the option that limits the time of ptxas, with its default.
func budgetFlag(seconds int64) cli.Flag {
	return &cli.Int64Flag{Name: "ptxas-budget", Category: "ptxas", Value: seconds,
		Usage: fmt.Sprintf("link own cubins of inputs if ptxas would take over `SECONDS`; 0: no limit (default: %d)\n", seconds) +
			"It applies to inputs with PTX and a cubin made of it. A second is 20000 estimated instructions, so that the output does not depend on the machine."}
}

// alsoCategory are opposites of defaults, and other names that users of ld and nvlink type.
const alsoCategory, ignoredCategory = "Also", "Ignored"

// ignored returns options of ld that have no meaning for PTX. They must be accepted, because a
// compiler driver or a build system passes them to every linker.
func ignored() (list []cli.Flag) {
	for _, o := range []struct{ names, value, why string }{
		{"start-group", "", "the order of archives does not matter"},
		{"end-group", "", "the order of archives does not matter"},
		{"as-needed", "", "there are no shared libraries"},
		{"no-as-needed", "", "there are no shared libraries"},
		{"Bstatic static dn", "", "there are no shared libraries"},
		{"Bdynamic dy", "", "there are no shared libraries"},
		{"no-undefined", "", "this is the default"},
		{"no-allow-shlib-undefined", "", "there are no shared libraries"},
		{"export-dynamic E", "", "the host finds what has linkage"},
		{"build-id", "[HASH]", "the output carries the digests of its inputs"},
		{"hash-style", "STYLE", "PTX has no hash table"},
		{"eh-frame-hdr", "", "PTX has no unwind tables"},
		{"no-eh-frame-hdr", "", "PTX has no unwind tables"},
		{"plugin", "FILE", "there are no plugins"},
		{"plugin-opt", "OPTION", "there are no plugins"},
		{"m", "EMULATION", "the inputs record their platform"},
		{"m64", "", "the inputs record their platform"},
		{"sysroot", "DIR", "only -L names directories"},
		{"nostdlib", "", "only -L names directories"},
		{"compress-debug-sections", "FORM", "debug sections of PTX are text"},
		{"discard-all x", "", "names without linkage cost nothing"},
		{"discard-locals X", "", "names without linkage cost nothing"},
		{"sort-common", "[ORDER]", "the output has the order of the inputs"},
		{"relax", "", "ptxas chooses the instructions"},
		{"no-relax", "", "ptxas chooses the instructions"},
		{"warn-common", "", "ptxlink always warns about common symbols of different sizes"},
		{"no-fatal-warnings", "", "this is the default"},
		{"no-gc-variables", "", "this is the default"},
	} {
		names := strings.Fields(o.names)
		value := strings.Trim(o.value, "[]")
		usage := "`" + value + "` is ignored: " + o.why
		var f cli.Flag
		switch {
		case value == "":
			f = &cli.BoolFlag{Name: names[0], Aliases: names[1:], Category: ignoredCategory, Usage: "ignored: " + o.why}
		case value != o.value:
			f = &cli.GenericFlag{Name: names[0], Aliases: names[1:], Category: ignoredCategory, Value: maybe(), Usage: usage}
		default:
			f = &cli.StringFlag{Name: names[0], Aliases: names[1:], Category: ignoredCategory, Usage: usage}
		}
		list = append(list, f)
	}
	return list
}

// joined are the letters whose value may be attached: -Ldir, -oFILE, -j8, -O2.
const joined = "LlojWuOyz"
