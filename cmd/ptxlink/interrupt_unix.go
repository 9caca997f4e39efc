//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endings returns the signals that end the process. SIGXCPU is included only if it can come,
// because catching it has a cost.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	if limited(syscall.RLIMIT_CPU) {
		list = append(list, syscall.SIGXCPU)
	}
	return list
}

// failWrites turns SIGPIPE and SIGXFSZ into errors of Write, because by default they would end the
// process, the second with a trace.
func failWrites() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	if limited(syscall.RLIMIT_FSIZE) {
		signal.Notify(c, syscall.SIGXFSZ)
	}
}

// enoughFiles returns an error unless the process can open a file. It must be able to open two
// more, because otherwise Go's runtime ends the process for lack of descriptors for its poller.
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

// limited reports whether the process has a limit. Otherwise its signal never comes and should not
// be caught, since catching a signal takes a switch of threads.
func limited(resource int) bool {
	const huge = 1 << 62 // the value for no limit differs between systems, but is larger
	var limit syscall.Rlimit
	return syscall.Getrlimit(resource, &limit) != nil || uint64(limit.Cur) < huge
}
