package main

import (
	"errors"
	"syscall"

	"ptxlink/internal/outfile"
)

// exitPipe is what a shell shows for a program that SIGPIPE ended, as it would
// if ptxlink did not remove its temporary files first: ptxlink nm a.ptx | head.
const exitPipe = 128 + 13

// write writes all files or none. Every command writes with it.
func (c *command) write(inputs []string, files ...outfile.File) error {
	err := outfile.Write(inputs, files...)
	if errors.Is(err, outfile.ErrStdoutUnread) {
		return &exitError{code: exitPipe}
	}
	return err
}

// toStdout is a file of write that goes to standard output.
func (c *command) toStdout(data []byte) outfile.File {
	return outfile.File{Path: "standard output", Data: data, To: c.stdout}
}

// show writes what a person reads to standard output. Unlike the product of a
// link it may be lost: where standard output is closed, nobody wants to know.
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
