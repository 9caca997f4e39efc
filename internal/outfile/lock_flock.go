//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package outfile

import (
	"errors"
	"os"
	"syscall"
)

// flockNow tries to lock without waiting. It also returns true if waiting would be
// useless: network file systems may not support locks (ENOTSUP, ENOLCK).
func flockNow(f *os.File) bool {
	return !errors.Is(flockAs(f, syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// flock waits for the lock.
func flock(f *os.File) { flockAs(f, syscall.LOCK_EX) }

func flockAs(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
