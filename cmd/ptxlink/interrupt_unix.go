//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ending are the signals that end the process.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU}

// failWrites makes a write fail on a closed standard output and where a file grows
// over ulimit -f. Otherwise Go ends the process where it stands, with a trace for the
// second.
func failWrites() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
}
