//go:build unix

package infile

import "syscall"

// nonblock makes opening a pipe without a writer return.
const nonblock = syscall.O_NONBLOCK
