//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endings returns the signals that end the process.
func endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// enoughFiles returns nil: there is no limit.
func enoughFiles() error { return nil }

// failWrites does nothing: there is no signal for a failed write.
func failWrites() {}
