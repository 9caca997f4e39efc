//go:build unix

package infile

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock makes opening a pipe without a writer return instead of waiting.
const nonblock, nofollow = syscall.O_NONBLOCK, syscall.O_NOFOLLOW

// isLink is the error of opening a symbolic link with nofollow.
const isLink = syscall.ELOOP

func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
