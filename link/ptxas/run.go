package ptxas

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// command returns a program that ends, with those that it has started, when the
// context ends.
func command(ctx context.Context, dir, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	// ptxas leaves temporary files behind if it is killed, and reads the whole folder
	// at its end.
	if full, err := filepath.Abs(dir); err == nil && dir != "" {
		cmd.Env = append(os.Environ(), "TMPDIR="+full)
	}
	// A wrapper script may be killed while its child still holds the pipe.
	cmd.WaitDelay = 2 * time.Second
	group(cmd)
	return cmd
}

// alone is held for reading while programs run at the same time, and for writing by one
// that runs alone.
var alone sync.RWMutex

// withRoom calls work, which runs a program. If there are no processes, files or
// memory for it, withRoom calls it once more when no other program of ours runs.
func withRoom(work func() error) error {
	alone.RLock()
	err := work()
	alone.RUnlock()
	if err == nil || !scarce(err) {
		return err
	}
	alone.Lock()
	defer alone.Unlock()
	return work()
}

// scarce reports whether the host is at a limit. EBADF is what a new process gets that
// moves a descriptor to a number beyond the limit.
func scarce(err error) bool {
	for _, limit := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EBADF} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}
