//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ending are the signals that end the process.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU}

func init() {
	// Without these, Go ends the process where it stands: on a write to a closed
	// standard output, and with a trace where a file grows over ulimit -f. The
	// write fails instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
}
