package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/libdevice"
	"ptxlink/link/pack"
	"ptxlink/object"
	"ptxlink/object/diag"
)

var libdeviceCommand = subcommand{
	Command: described("libdevice"),
	run:     (*command).libdevice,
}

func (c *command) libdevice(opts *cli.Context) error {
	if len(c.inputs) > 0 {
		return usageError(fmt.Sprintf("libdevice takes no input, and %s is one", c.inputs[0].name), "--cuda names a toolkit or libdevice.10.bc")
	}
	if err := object.CheckArch(opts.String("arch"), c.spelling); err != nil {
		return err
	}
	if err := c.readMessageOptions(opts); err != nil {
		return err
	}
	output := cmp.Or(opts.String("output"), "libdevice.a")
	if ending := strings.ToLower(filepath.Ext(output)); ending == ".ptx" || ending == ".cubin" || ending == ".o" {
		return usageError("a package would be written to "+output, "an archive ends in .a; ptxlink extract takes the PTX out of it")
	}
	if output == "-" {
		return usageError("a package is not written to standard output", "name a file with -o")
	}
	options := libdevice.Options{Spelling: c.spelling, Arch: object.RealArch(opts.String("arch")), FTZ: opts.Bool("ftz"), LLC: opts.String("llc")}
	var err error
	if options.Bitcode, err = options.Find(opts.String("cuda")); err != nil {
		return &exitError{exitIO, err}
	}
	c.paths = []string{options.Bitcode}
	if err := c.checkFile(output); err != nil {
		return &exitError{exitIO, err}
	}
	library, messages, err := libdevice.Compile(opts.Context, options)
	if failed := c.report.write(messages) > 0; errors.Is(err, libdevice.ErrRejected) || err == nil && failed { // failed alone: --fatal-warnings
		return &exitError{code: exitLink}
	}
	if err != nil {
		return err
	}
	members, err := pack.Split(opts.Context, link.Input{Name: "libdevice.ptx", Text: library.PTX}, pack.SplitOptions{Roots: library.Names, Weak: true})
	if err != nil {
		return c.refused(err)
	}
	o := pack.Options{Spelling: c.spelling, Inputs: members}
	if opts.Bool("compress") {
		o.Format = pack.Zstd
	}
	archive, err := pack.Make(opts.Context, o)
	if err != nil {
		return c.refused(err)
	}
	if opts.Bool("verbose") {
		fmt.Fprintf(c.stderr, "%s: %d functions of %s, compiled for %s by %s\n", diag.Escape(output), len(library.Names), diag.Escape(options.Bitcode), options.Arch, diag.Escape(library.Tool))
	}
	return c.write(c.paths, outfile.File{Path: output, Data: archive.Data})
}
