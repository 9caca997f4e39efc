package ptxas

import (
	"context"
	"errors"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// command returns a program that ends, with those that it has started, when the
// context ends.
func command(ctx context.Context, dir, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	// A wrapper script may be killed while its child still holds the pipe.
	cmd.WaitDelay = 2 * time.Second
	group(cmd)
	return cmd
}

// running counts the programs that run.
var running atomic.Int32

// run runs a program and returns its output. If there are no processes, files or
// memory for it, it waits for another of our programs to end.
func run(ctx context.Context, dir, path string, args ...string) (said []byte, cmd *exec.Cmd, err error) {
	for {
		cmd = command(ctx, dir, path, args...)
		others := running.Add(1) - 1
		said, err = cmd.CombinedOutput()
		running.Add(-1)
		if cmd.Process != nil || others == 0 || ctx.Err() != nil || !scarce(err) {
			return said, cmd, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// scarce reports whether a program could not be started because the host is at a limit.
func scarce(err error) bool {
	for _, limit := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}
