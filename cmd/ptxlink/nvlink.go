package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/internal/outfile"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
)

var nvlinkCommand = subcommand{
	name:  "nvlink",
	usage: "link like NVIDIA's nvlink, with its options; also if called as nvlink",
	args:  "FILE...",
	flags: func() []option {
		const output, input, assembler, messages, ignored = "Output", "Inputs", "ptxas", "Messages", "Accepted, without effect"
		list := []option{
			{kind: textKind, name: "output-file", aliases: []string{"o"}, category: output, usage: "write the cubin to `FILE`"},
			{kind: textKind, name: "register-link-binaries", category: output, usage: "write the names of the linked objects to `FILE`, for nvcc"},
			{kind: toggleKind, name: "relocatable-link", aliases: []string{"r"}, category: output, usage: "write a relocatable cubin"},

			{kind: listKind, name: "L", aliases: []string{"library-path"}, category: input, usage: "search `DIR` for -l libraries"},
			{kind: listKind, name: "l", aliases: []string{"library"}, category: input, usage: "link lib`NAME`.a if it is in a -L folder or $LIBRARY_PATH"},
			{kind: listKind, name: "options-file", aliases: []string{"optf"}, category: input, usage: "read arguments from `FILE`; same as @FILE"},
			{kind: toggleKind, name: "keep-system-libraries", category: input, usage: "link all of libcudadevrt.a, needed or not"},
			{kind: listKind, name: "kernels-used", category: input, usage: "keep only kernels whose name contains `NAME`"},

			{kind: textKind, name: "arch", category: assembler, usage: "GPU to link for: `sm_NN`"},
			{kind: toggleKind, name: "suppress-debug-info", category: assembler, usage: "remove debug information"},
			{kind: listKind, name: "Xptxas", category: assembler, usage: "pass `ARG` to ptxas; -Xptxas -v,-O1 passes two"},
			{kind: textKind, name: "maxrregcount", category: assembler, usage: "use at most `N` registers"},

			{kind: toggleKind, name: "help", aliases: []string{"h"}, category: messages, usage: "show this help"},
			{kind: toggleKind, name: "version", aliases: []string{"V"}, category: messages, usage: "show the version"},
			{kind: toggleKind, name: "verbose", aliases: []string{"v", "verbose2", "v2"}, category: messages, usage: "print the registers and memory of each kernel"},
			{kind: toggleKind, name: "w", aliases: []string{"disable-warnings"}, category: messages, usage: "suppress all warnings"},
			{kind: toggleKind, name: "fatal-warnings", aliases: []string{"warning-as-error", "Werror"}, category: messages, usage: "treat warnings as errors"},
			{kind: whenKind, name: "color-diagnostics", category: messages, usage: "colour messages: `WHEN` is auto, always or never"},
		}
		for _, o := range nvlinkIgnored {
			o.category = ignored
			list = append(list, o)
		}
		for _, o := range nvlinkRefused {
			o.option.category = "Refused"
			list = append(list, o.option)
		}
		return list
	},
	description: `Takes the command lines of nvcc 11.8 to 13.5. The inputs must hold PTX: compile
with -gencode arch=compute_NN,code=[sm_NN,compute_NN]. docs/nvcc.md describes
how to let nvcc call ptxlink.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written.`,
	first: optionFiles,
	like:  map[string]string{"-S": "--suppress-debug-info", "-c": "-r"},
	run:   (*command).nvlink,
}

// nvlinkIgnored are options that change nothing here: they suit a linker of cubins, or
// choose between messages that ptxlink does not have.
var nvlinkIgnored = []option{
	{kind: textKind, name: "machine", aliases: []string{"m"}, usage: "`64`: addresses have the size that the PTX says"},
	{kind: toggleKind, name: "m64", usage: "likewise"},
	{kind: textKind, name: "cpu-arch", usage: "`CPU` of the host"},
	{kind: textKind, name: "host-ccbin", usage: "`PATH` of the host compiler"},
	{kind: toggleKind, name: "debug", aliases: []string{"g"}, usage: "debug information is kept if the inputs have it"},
	{kind: toggleKind, name: "extra-warnings", aliases: []string{"extrawarn"}, usage: "all warnings are on"},
	{kind: toggleKind, name: "report-arch", usage: "messages name the GPU where it matters"},
	{kind: toggleKind, name: "suppress-arch-warning", usage: "an input without PTX for the GPU is an error"},
	{kind: toggleKind, name: "suppress-stack-size-warning", usage: "ptxas has its own warning"},
	{kind: toggleKind, name: "disable-infos", usage: "there are no messages of this kind"},
	{kind: toggleKind, name: "preserve-relocs", usage: "the cubin comes from ptxas, which resolves none"},
	{kind: toggleKind, name: "use-host-info", usage: "all kernels and variables of the host are kept"},
	{kind: toggleKind, name: "ignore-host-info", usage: "likewise"},
	{kind: listKind, name: "variables-used", usage: "`NAME`: all variables of the host are kept"},
	{kind: textKind, name: "split-compile", usage: "`N` threads, for LTO-IR"},
	{kind: textKind, name: "split-compile-extended", usage: "`N` threads, for LTO-IR"},
	{kind: listKind, name: "Xnvvm", usage: "`ARG`, for LTO-IR"},
	{kind: textKind, name: "nvvmpath", usage: "`PATH`, for LTO-IR"},
}

// nvlinkRefused are options that ask for something else than what ptxlink writes.
var nvlinkRefused = []struct {
	option     option
	text, help string
}{
	{
		option{kind: toggleKind, name: "link-time-opt", aliases: []string{"lto", "dlto"}, usage: "it reads LTO-IR, which only NVIDIA's tools do"},
		"link-time optimisation needs LTO-IR, which ptxlink does not read", "compile and link without -dlto; ptxlink links the PTX, and ptxlink -O1 inlines functions",
	},
	{
		option{kind: toggleKind, name: "emit-ptx", usage: "ptxlink without a subcommand writes PTX"},
		"-emit-ptx needs LTO-IR, which ptxlink does not read", "ptxlink FILE... -o out.ptx writes the linked PTX",
	},
	{
		option{kind: toggleKind, name: "dump-callgraph", aliases: []string{"dump-callgraph-no-demangle"}, usage: "ptxlink --dot writes the call graph"},
		"ptxlink does not write nvlink's call graph", "ptxlink FILE... --dot=FILE writes one for Graphviz",
	},
	{
		option{kind: textKind, name: "gen-host-linker-script", aliases: []string{"ghls"}, usage: "`TYPE`: there is no host linker script"},
		"ptxlink writes no host linker script", "nvlink writes it; it depends on the host objects alone",
	},
	{
		option{kind: textKind, name: "time", usage: "`FILE`: ptxlink --time prints the time of each pass"},
		"ptxlink does not write nvlink's table of times", "ptxlink --time prints the time of each pass",
	},
	{
		option{kind: toggleKind, name: "link-as-tools-patch", aliases: []string{"astoolspatch"}, usage: "it is for cubins"},
		"-astoolspatch is for cubins", "",
	},
	{
		option{kind: textKind, name: "uidx-file", aliases: []string{"uidx"}, usage: "`FILE`: its format is not known"},
		"ptxlink does not read uidx files", "",
	},
}

// optionFiles replaces -optf FILE,... with @FILE.
func optionFiles(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		name, files, assigned := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		switch {
		case args[i] == "--":
			return append(out, args[i:]...)
		case name != "optf" && name != "options-file" || !strings.HasPrefix(args[i], "-"), !assigned && i+1 == len(args):
			out = append(out, args[i])
			continue
		case !assigned:
			i++
			files = args[i]
		}
		for file := range strings.SplitSeq(files, ",") {
			out = append(out, "@"+file)
		}
	}
	return out
}

// nvlink runs ptxlink nvlink.
func (c *command) nvlink(opts *options) error {
	if opts.toggle("version") {
		return c.show([]byte("ptxlink nvlink: " + version() + "\n"))
	}
	if err := c.readMessageOptions(opts); err != nil {
		return err
	}
	for _, o := range nvlinkRefused {
		if opts.given(o.option.name) {
			return &usageError{text: o.text, help: o.help}
		}
	}
	arch := opts.text("arch")
	switch {
	case arch == "":
		return &usageError{text: "no --arch", help: "--arch=sm_80 names the GPU"}
	case strings.HasPrefix(arch, "lto_"):
		return &usageError{text: "--arch=" + arch + " needs LTO-IR, which ptxlink does not read", help: "compile and link without -dlto, for sm_" + arch[len("lto_"):]}
	case strings.HasPrefix(arch, "compute_"):
		return &usageError{text: "--arch=" + arch + " is for link-time optimisation", help: "name a GPU, such as sm_" + arch[len("compute_"):]}
	}
	if err := checkArch(arch); err != nil {
		return err
	}
	if len(c.inputs) == 0 {
		return &usageError{text: "no input files", help: "ptxlink --help shows the usage"}
	}
	if c.output = opts.text("output-file"); c.output == "" {
		return &usageError{text: "no output", help: "name the cubin with -o"}
	}
	register := opts.text("register-link-binaries")
	if register != "" && sameOutput(c.output, register) {
		return &usageError{text: fmt.Sprintf("-o and --register-link-binaries would both write %s", register)}
	}

	files := c.deviceFiles(append(splitCommas(opts.list("L")), filepath.SplitList(os.Getenv("LIBRARY_PATH"))...))
	for _, path := range []string{c.output, register} {
		if path == "" || path == "-" {
			continue
		}
		if err := outfile.Check(path, c.paths); err != nil {
			return &exitError{exitIO, err}
		}
	}
	job := dlink.Read(files, dlink.Options{Arch: arch, System: opts.toggle("keep-system-libraries")})
	c.linkOptions.Inputs, c.linkOptions.Arch, c.linkOptions.MapInputs = job.Inputs, arch, true
	c.linkOptions.StripDebug = opts.toggle("suppress-debug-info")
	for _, name := range splitCommas(opts.list("kernels-used")) {
		c.linkOptions.Entries = append(c.linkOptions.Entries, "*"+escapeGlob(name)+"*")
	}
	c.linkOptions.Relocatable = opts.toggle("relocatable-link")

	c.format, c.cubin, c.usage = "cubin", true, opts.toggle("verbose")
	c.assembler.Usage = c.usage
	c.assembler.Compile = c.linkOptions.Relocatable
	// The nvlink beside ptxas may be this program.
	c.assembler.Mode = ptxas.Whole
	var err error
	if c.assembler.Path, err = findPtxas(); err != nil {
		return &exitError{exitIO, err}
	}
	targets, err := c.linkAll(opts.ctx)
	if err != nil {
		return err
	}
	result := targets[0].Result
	all, some := dlink.PtxasOptions(result.Modules)
	if len(some) > 0 {
		var log diag.Log
		log.Warn(diag.UnusedOption, diag.Place{}, "only some inputs were compiled with "+diag.Escape(strings.Join(some, " "))+", which ptxas does not get")
		if c.report.log(&log) > 0 {
			return &exitError{code: exitLink}
		}
	}
	c.assembler.Args = append(all, splitCommas(opts.list("Xptxas"))...)
	if n := opts.text("maxrregcount"); n != "" {
		c.assembler.Args = append(c.assembler.Args, "--maxrregcount="+n)
	}
	cubin, err := c.assemble(opts.ctx, targets)
	if err != nil {
		return err
	}
	output := outfile.File{Path: c.output, Data: cubin}
	if c.output == "-" {
		output = c.toStdout(output)
	}
	written := []outfile.File{output}
	if register != "" {
		written = slices.Insert(written, 0, outfile.File{Path: register, Data: job.RegisterFile(result)})
	}
	return c.write(c.paths, written...)
}

// deviceFiles returns the inputs in nvlink's order: files, then libraries. A library
// that is in no folder belongs to the host, as for nvlink.
func (c *command) deviceFiles(folders []string) (files []dlink.File) {
	var libraries []dlink.File
	for _, in := range c.inputs {
		if !in.library {
			files = append(files, dlink.File{Path: in.name})
			continue
		}
		for name := range strings.SplitSeq(in.name, ",") {
			for _, folder := range folders {
				path := filepath.Join(folder, "lib"+name+".a")
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					libraries = append(libraries, dlink.File{Path: path, Library: true})
					break
				}
			}
		}
	}
	files = append(files, libraries...)
	for _, f := range files {
		c.paths = append(c.paths, f.Path)
	}
	return files
}

// findPtxas finds the ptxas that nvcc runs: $PTXAS, else the one on PATH, where nvcc puts
// its own folder first. If nvcc is called by a relative path, so is that folder, which
// package exec refuses only to be safe.
func findPtxas() (string, error) {
	if os.Getenv("PTXAS") != "" {
		return ptxas.Find("")
	}
	path, err := exec.LookPath("ptxas")
	if err != nil && (runtime.GOOS == "windows" || !errors.Is(err, exec.ErrDot)) {
		return ptxas.Find("")
	}
	return filepath.Abs(path)
}

func splitCommas(list []string) (parts []string) {
	for _, value := range list {
		parts = append(parts, strings.Split(value, ",")...)
	}
	return parts
}

// escapeGlob returns a pattern of path.Match that matches only the name.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}
