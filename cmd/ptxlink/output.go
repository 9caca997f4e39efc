package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/link/ptxas"
	"ptxlink/object/diag"
)

// readOutput reads the options that choose the output and its name.
func (j *linkRequest) readOutput() error {
	opts := j.opts
	j.output = opts.String("output")
	j.format = opts.String("format")
	ending := strings.ToLower(filepath.Ext(j.output))
	switch {
	case j.format != "":
		if j.format != "cubin" && (opts.Bool("cubin") || opts.Bool("compile-only")) {
			return usageError(fmt.Sprintf("--format=%s does not go with --cubin and -c", j.format), "")
		}
	case opts.Bool("cubin") || opts.Bool("compile-only") || opts.Bool("assemble"):
		j.format = "cubin"
	case ending == ".cubin" || ending == ".fatbin":
		j.format = ending[1:]
	default:
		j.format = "ptx"
	}
	if j.unnamed = j.output == ""; j.unnamed {
		j.output = "a.out." + j.format
	}
	if j.format == "fatbin" && opts.Bool("relocatable") {
		return usageError("a fatbin is not linked again", "-r writes PTX, and -c -r a relocatable cubin")
	}
	if opts.String("format") != "" || j.anySuffix {
		return nil
	}
	return checkOutputName(j.output, j.format)
}

// cubin reports whether the output is not PTX.
func (j *linkRequest) cubin() bool { return j.format != "ptx" }

// checkOutputName returns an error if the suffix of an output is for files that a link cannot
// write, or for another format. Names without a suffix are accepted.
func checkOutputName(path, format string) error {
	ending := strings.ToLower(filepath.Ext(path))
	what := map[string]string{"ptx": "PTX", "cubin": "a cubin", "fatbin": "a fatbin"}[format]
	switch {
	case ending == "" || ending == "." || ending == "."+format:
		return nil
	case format == "cubin" && (ending == ".o" || ending == ".obj"): // as ptxas and nvcc call them
		return nil
	case format == "cubin" && ending == ".ptx":
		return usageError("a cubin would be written to "+path, "write out.cubin, or PTX without --cubin and -c")
	case ending == ".fatbin":
		return usageError(fmt.Sprintf("%s would be written to %s", what, path), "write out.cubin, or a fatbin without --cubin and -c")
	}
	if other := diag.FactOf("suffixes of other outputs", ending); other != nil {
		return usageError(fmt.Sprintf("the name %s suggests %s, but the output is %s", path, other[0], what), other[1])
	}
	return usageError(fmt.Sprintf("%s would be written to %s, whose suffix is not known", what, path),
		fmt.Sprintf("write out.%s, or say --format=%s", format, format))
}

// exitPipe is the exit code that a shell shows for a program that SIGPIPE ended, such as ptxlink nm
// a.ptx | head. ptxlink does not let SIGPIPE end it, because it must first remove its temporary
// files.
const exitPipe = 128 + 13

// write writes all files or none. All commands must use it for their last files.
func (c *command) write(inputs []string, files ...outfile.File) error {
	c.memory.redirect(files)
	if err := c.memory.unnamed(); err != nil {
		return err
	}
	return c.writeFirst(inputs, files...)
}

// writeFirst writes files like write if the command may write more afterwards.
func (c *command) writeFirst(inputs []string, files ...outfile.File) error {
	c.memory.redirect(files)
	err := outfile.Write(inputs, c.read, files...)
	if errors.Is(err, outfile.ErrStdoutUnread) {
		return &exitError{code: exitPipe}
	}
	if infile.Shorter(err) {
		return infile.ErrShorter
	}
	if err == nil && slices.ContainsFunc(files, func(f outfile.File) bool { return f.Lost() }) {
		c.report.note("standard output is the null device, or closed: what was written there is lost")
	}
	return err
}

// sayWritten reports what a link wrote and how to use it, if standard error is a terminal. It must
// be silent with -w, if the output is not a regular file, for Make, which gets a dependency file,
// and for a compiler that calls ptxlink as its linker.
func (j *linkJob) sayWritten(targets []ptxas.Target) {
	if j.name != "" || !isTerminal(j.stderr) || j.report.warnings.quiet || !j.report.text() || j.output == "-" || j.beside["dependency-file"] != "" {
		return
	}
	info, err := os.Stat(j.output)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	result := ptxas.Portable(targets).Result
	text := "ptxlink: wrote " + diag.Escape(j.output)
	if len(targets[0].Cubins) == 0 { // otherwise there may be kernels that are not counted
		text += fmt.Sprintf(", %d kernel%s", result.Kernels, map[bool]string{true: "s"}[result.Kernels != 1])
	}
	if text += ", " + inUnits(info.Size()); j.cubin() {
		var gpus []string
		for _, t := range targets {
			gpus = append(gpus, t.Arch)
		}
		text += " for " + strings.Join(gpus, ", ")
	}
	switch {
	case j.options.Relocatable || j.opts.Bool("compile-only") || result.Kernels == 0: // to be linked again
	case j.cubin():
		text += "; next: load it with cuModuleLoad"
	default:
		name := strings.TrimSuffix(j.output, filepath.Ext(j.output)) + ".cubin"
		text += "; next: load it with cuModuleLoad, or run " + commandLine([]string{"ptxlink", j.output, "-o", name, "--arch=" + result.Target}, runtime.GOOS)
	}
	fmt.Fprintln(j.stderr, text)
}

// inUnits returns a number of bytes for people.
func inUnits(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1000_000)
}

// toFile returns a file for write with the given contents. The path "-" is standard output.
func (c *command) toFile(path string, data []byte) outfile.File {
	f := outfile.File{Path: path, Data: data}
	if path == "-" {
		return c.toStdout(f)
	}
	return f
}

// toStdout returns a file for write that goes to standard output.
func (c *command) toStdout(f outfile.File) outfile.File {
	f.Path, f.To = "standard output", c.stdout
	return f
}

// showJSON writes a value as JSON to standard output, as show does.
func (c *command) showJSON(v any) error {
	var out bytes.Buffer
	if err := diag.WriteJSON(&out, v); err != nil {
		return err
	}
	return c.show(out.Bytes())
}

// shower returns a writer to standard output for a command that writes while it reads. Its errors, which Flush
// returns too, are the errors of show.
func (c *command) shower() *bufio.Writer { return bufio.NewWriterSize(showing{c}, 1<<16) }

type showing struct{ *command }

func (s showing) Write(data []byte) (int, error) { return len(data), s.show(data) }

// works reports whether a buffered writer has no error.
func works(w *bufio.Writer) bool {
	_, err := w.Write(nil)
	return err == nil
}

// show writes text for people to standard output. Unlike the output of a link, the
// text may be lost: a closed pipe ends ptxlink without a message.
func (c *command) show(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	_, err := c.stdout.Write(data)
	switch {
	case errors.Is(err, syscall.EPIPE):
		return &exitError{code: exitPipe}
	case err != nil:
		return outfile.CannotWrite("standard output", err)
	}
	return nil
}
