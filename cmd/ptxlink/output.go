package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// otherOutputs maps suffixes of files that a link does not write to the programs that
// write them.
var otherOutputs = []struct{ endings, is, help string }{
	{".o .obj", "an object file", "write out.ptx, or out.cubin, which nvlink reads; ptxlink ar --format=nv makes host objects of PTX"},
	{".a .lib", "an archive", "ptxlink ar libx.a a.ptx makes one of separate modules"},
	{".so .dll .dylib .exe", "a program of the host", "write out.ptx or out.cubin, and load it with cuModuleLoad"},
	{".gz .zst .lz4 .xz .bz2 .zip", "a compressed file", "write out.ptx and compress it, or write to - and pipe it"},
	{".bc .ll", "LLVM IR", "write out.ptx or out.cubin"},
	{".c .cc .cpp .cxx .cu .cuh .h .hpp .rs .py", "source code", "write out.ptx or out.cubin"},
}

// readOutput reads the options that say what is written, and where.
func (c *command) readOutput(opts *cli.Context) error {
	c.output = opts.String("output")
	c.format = opts.String("format")
	ending := strings.ToLower(filepath.Ext(c.output))
	switch {
	case c.format != "":
		if c.format != "cubin" && (opts.Bool("cubin") || opts.Bool("compile-only")) {
			return &usageError{text: fmt.Sprintf("--format=%s does not go with --cubin and -c", c.format)}
		}
	case opts.Bool("cubin") || opts.Bool("compile-only") || opts.Bool("assemble"):
		c.format = "cubin"
	case ending == ".cubin" || ending == ".fatbin":
		c.format = ending[1:]
	default:
		c.format = "ptx"
	}
	c.cubin = c.format != "ptx"
	if c.unnamed = c.output == ""; c.unnamed {
		c.output = "a.out." + c.format
	}
	if c.format == "fatbin" && opts.Bool("relocatable") {
		return &usageError{text: "a fatbin is not linked again", help: "-r writes PTX, and -c -r a relocatable cubin"}
	}
	if opts.String("format") != "" || c.anySuffix {
		return nil
	}
	return checkOutputName(c.output, c.format)
}

// checkOutputName returns an error if a link does not write files with the suffix of
// an output, or not in this format. Names without a suffix are accepted.
func checkOutputName(path, format string) error {
	ending := strings.ToLower(filepath.Ext(path))
	what := map[string]string{"ptx": "PTX", "cubin": "a cubin", "fatbin": "a fatbin"}[format]
	switch {
	case ending == "" || ending == "." || ending == "."+format:
		return nil
	case format == "cubin" && (ending == ".o" || ending == ".obj"): // as ptxas and nvcc call them
		return nil
	case format == "cubin" && ending == ".ptx":
		return &usageError{text: "a cubin would be written to " + path, help: "write out.cubin, or PTX without --cubin and -c"}
	case ending == ".fatbin":
		return &usageError{text: fmt.Sprintf("%s would be written to %s", what, path), help: "write out.cubin, or a fatbin without --cubin and -c"}
	}
	for _, other := range otherOutputs {
		for _, known := range strings.Fields(other.endings) {
			if ending == known {
				return &usageError{text: fmt.Sprintf("%s would be written to %s, which by its name is %s", what, path, other.is), help: other.help}
			}
		}
	}
	return &usageError{
		text: fmt.Sprintf("%s would be written to %s, whose suffix is not known", what, path),
		help: fmt.Sprintf("write out.%s, or say --format=%s", format, format),
	}
}
