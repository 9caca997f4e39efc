//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endings returns the signals that end the process.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	if limited(syscall.RLIMIT_CPU) {
		list = append(list, syscall.SIGXCPU)
	}
	return list
}

// failWrites turns SIGPIPE and SIGXFSZ into errors of Write; by default they would end the
// process, the second with a trace.
func failWrites() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	if limited(syscall.RLIMIT_FSIZE) {
		signal.Notify(c, syscall.SIGXFSZ)
	}
}

// enoughFiles returns an error if the process cannot open a file. Go's runtime needs two more
// descriptors then, for its poller, and ends the process without them.
func enoughFiles() error {
	for range 3 {
		fd, err := syscall.Dup(2)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
	}
	return nil
}

// limited reports whether the process has a limit. Without one, its signal never comes,
// and catching a signal takes a switch of threads.
func limited(resource int) bool {
	const huge = 1 << 62 // the value for no limit differs between systems, and is larger
	var limit syscall.Rlimit
	return syscall.Getrlimit(resource, &limit) != nil || uint64(limit.Cur) < huge
}
