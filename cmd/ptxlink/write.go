package main

import (
	"errors"
	"syscall"

	"ptxlink/internal/mapped"
	"ptxlink/internal/outfile"
)

// exitPipe is the exit code that a shell shows for a program that SIGPIPE ended, such
// as ptxlink nm a.ptx | head. ptxlink first removes its temporary files.
const exitPipe = 128 + 13

// write writes all files or none. All commands use it.
func (c *command) write(inputs []string, files ...outfile.File) error {
	c.memory.redirect(files)
	err := outfile.Write(inputs, c.read, files...)
	if errors.Is(err, outfile.ErrStdoutUnread) {
		return &exitError{code: exitPipe}
	}
	if mapped.Changed(err) {
		return mapped.ErrChanged
	}
	return err
}

// toFile is a file of write with the given contents. The path "-" is standard output.
func (c *command) toFile(path string, data []byte) outfile.File {
	f := outfile.File{Path: path, Data: data}
	if path == "-" {
		return c.toStdout(f)
	}
	return f
}

// toStdout is a file of write that goes to standard output.
func (c *command) toStdout(f outfile.File) outfile.File {
	f.Path, f.To = "standard output", c.stdout
	return f
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
