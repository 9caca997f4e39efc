//go:build !unix

package main

import (
	"os"
	"syscall"
)

// ending are the signals that end the process.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM}

// failWrites does nothing: there is no signal for a failed write.
func failWrites() {}
