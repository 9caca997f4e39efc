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

// patience is the time that work has after a signal to end the programs it runs. Then
// the process ends, even if the work still waits for a pipe or a file system, or is in
// a long loop.
const patience = 300 * time.Millisecond

// untilSignal runs work and returns its exit code. The first signal cancels the
// context of work; the process ends soon after that, without temporary files. It is
// called once in a process, and does not stop catching signals.
func untilSignal(stderr io.Writer, work func(context.Context) int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	release := outfile.Hold()
	go func() { done <- work(ctx) }() // meanwhile: Notify takes a switch of threads for each signal
	// Not those that the parent ignores: nohup, or a shell's background job.
	heard := slices.DeleteFunc(endings(), signal.Ignored)
	signals := make(chan os.Signal, 1)
	if len(heard) > 0 { // without signals, Notify would catch all of them
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
	case <-signals: // a second one
	case <-time.After(patience):
	}
	if outfile.Abandon() {
		fmt.Fprintln(stderr, "ptxlink: interrupted while writing its output")
	} else {
		fmt.Fprintln(stderr, "ptxlink: interrupted; nothing was written")
	}
	return exitOf(heardOf)
}

// exitOf returns the exit code that a shell shows for a program that a signal ended: 128
// and its number, so 130 for SIGINT and 143 for SIGTERM.
func exitOf(s os.Signal) int {
	if s, ok := s.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitInterrupt
}
