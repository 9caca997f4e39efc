package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/libdevice"
	"ptxlink/link/pack"
)

var libdeviceCommand = subcommand{
	name:  "libdevice",
	usage: "create a package from the toolkit's libdevice, for -ldevice",
	args:  "",
	flags: func() []option {
		const compiling = "Compiling"
		return append([]option{
			{kind: textKind, name: "output", aliases: []string{"o"}, category: "Output", usage: "write to `FILE` (default: libdevice.a)"},
			{kind: toggleKind, name: "compress", category: "Output", usage: "store members as zstd frames"},
			{kind: textKind, name: "arch", category: compiling, preset: "sm_75", usage: "compile for the GPU `sm_NN` and later ones (default: sm_75)"},
			{kind: toggleKind, name: "ftz", category: compiling, usage: "flush denormals to zero, like nvcc -ftz=true"},
			{kind: textKind, name: "cuda", category: compiling, usage: "`PATH` of a toolkit, a venv or libdevice.10.bc"},
			{kind: textKind, name: "llc", category: compiling, usage: "compile with the llc at `PATH` (default: the toolkit's cicc)"},
		}, linkFlags("help", "verbose", "w", "W", "fatal-warnings", "diagnostics-format", "color-diagnostics")...)
	},
	description: `Searches for the toolkit in --cuda, $CUDA_HOME, $CUDA_PATH, next to the nvcc on
PATH, and in the usual folders and Python's site-packages. Each function of
libdevice becomes a member, so a link with -ldevice uses only what it needs.

Exit codes: 0 success, 1 libdevice cannot be compiled, 2 usage error,
3 libdevice or its compiler is not found, or a file cannot be read or written.`,
	run: (*command).libdevice,
}

// libdevice runs ptxlink libdevice.
func (c *command) libdevice(opts *options) error {
	if len(c.inputs) > 0 {
		return &usageError{text: fmt.Sprintf("libdevice takes no input, and %s is one", c.inputs[0].name), help: "--cuda names a toolkit or libdevice.10.bc"}
	}
	if err := checkArch(opts.text("arch")); err != nil {
		return err
	}
	_, gpu, _ := strings.Cut(opts.text("arch"), "_")
	if err := c.readMessageOptions(opts); err != nil {
		return err
	}
	output := opts.text("output")
	if output == "" {
		output = "libdevice.a"
	}
	if ending := strings.ToLower(filepath.Ext(output)); ending == ".ptx" || ending == ".cubin" || ending == ".o" {
		return &usageError{text: "a package would be written to " + output, help: "an archive ends in .a; ptxlink extract takes the PTX out of it"}
	}
	if output == "-" {
		return &usageError{text: "a package is not written to standard output", help: "name a file with -o"}
	}
	options := libdevice.Options{Arch: "sm_" + gpu, FTZ: opts.toggle("ftz"), LLC: opts.text("llc")}
	var err error
	if options.Bitcode, err = libdevice.Find(opts.text("cuda")); err != nil {
		return &exitError{exitIO, err}
	}
	if err := outfile.Check(output, []string{options.Bitcode}); err != nil {
		return &exitError{exitIO, err}
	}
	library, messages, err := libdevice.Compile(opts.ctx, options)
	if failed := c.report.write(messages) > 0; errors.Is(err, libdevice.ErrRejected) || err == nil && failed { // failed alone: --fatal-warnings
		return &exitError{code: exitLink}
	}
	if err != nil {
		return err
	}
	members, err := pack.Split(opts.ctx, link.Input{Name: "libdevice.ptx", Text: library.PTX}, pack.SplitOptions{Roots: library.Names, Weak: true})
	if err != nil {
		return c.refused(err)
	}
	o := pack.Options{Inputs: members}
	if opts.toggle("compress") {
		o.Format = pack.Zstd
	}
	archive, err := pack.Make(opts.ctx, o)
	if err != nil {
		return c.refused(err)
	}
	if opts.toggle("verbose") {
		fmt.Fprintf(c.stderr, "%s: %d functions of %s, compiled for %s by %s\n", diag.Escape(output), len(library.Names), diag.Escape(options.Bitcode), options.Arch, diag.Escape(library.Tool))
	}
	return c.write([]string{options.Bitcode}, outfile.File{Path: output, Data: archive.Data})
}
