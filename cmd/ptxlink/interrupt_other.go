//go:build !unix

package main

import (
	"os"
	"syscall"
)

func endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// enoughFiles returns nil, because the system sets no limit.
func enoughFiles() error { return nil }

// failWrites does nothing, because a failed write raises no signal.
func failWrites() {}
