//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// apart returns standard input and output under other numbers, because a request may name
// /dev/stdin and /dev/stdout. These would take bytes of the next request, or put bytes between the
// answers, so they become the null device and standard error.
func apart(in io.Reader, out io.Writer) (io.Reader, io.Writer, error) {
	if in != os.Stdin || out != os.Stdout {
		return in, out, nil
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	var files [2]*os.File
	for fd, instead := range []int{int(null.Fd()), 2} {
		other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err == nil {
			err = unix.Dup2(instead, fd)
		}
		if err != nil {
			return nil, nil, err
		}
		files[fd] = os.NewFile(uintptr(other), "")
	}
	return files[0], files[1], nil
}
