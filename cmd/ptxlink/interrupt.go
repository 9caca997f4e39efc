package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"ptxlink/internal/outfile"
)

// patience is the time in which work must end the programs it runs after a signal. Otherwise the
// process ends even if the work still waits for a pipe or a file system, or is in a long loop.
const patience = 300 * time.Millisecond

// untilSignal runs work and returns its exit code. The first signal cancels the context of work;
// the process ends soon after that, without temporary files. untilSignal must be called only once
// in a process, because it does not stop catching signals.
func untilSignal(stderr io.Writer, work func(context.Context) int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	release := outfile.Hold()
	go func() { done <- work(ctx) }() // meanwhile, because Notify takes a switch of threads per signal
	// Signals that the parent ignores must stay ignored: nohup, or a shell's background job.
	heard := slices.DeleteFunc(endings(), signal.Ignored)
	signals := make(chan os.Signal, 1)
	if len(heard) > 0 { // otherwise Notify would catch all signals
		signal.Notify(signals, heard...)
	}
	release()
	var heardOf os.Signal
	select {
	case code := <-done:
		return code
	case heardOf = <-signals:
	}
	cancel()
	select {
	case code := <-done:
		if code == exitInterrupt {
			code = exitOf(heardOf)
		}
		return code
	case <-signals: // a second signal
	case <-time.After(patience):
	}
	if outfile.Abandon() {
		fmt.Fprintln(stderr, "ptxlink: interrupted while writing its output")
	} else {
		fmt.Fprintln(stderr, "ptxlink: interrupted; nothing was written")
	}
	return exitOf(heardOf)
}

// exitOf returns the exit code that a shell shows for a program that a signal ended: 128 plus the
// number of the signal, so 130 for SIGINT and 143 for SIGTERM.
func exitOf(s os.Signal) int {
	if s, ok := s.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitInterrupt
}
