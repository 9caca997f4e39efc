package outfile

import (
	"os"
	"syscall"
)

// nullOrClosed reports whether standard output is the null device, opened for reading and writing.
// Programs give their children that (Python's subprocess.DEVNULL), and Go's runtime opens it in the
// place of a standard output that was closed when the process started. Nothing tells the two apart. A
// shell's >/dev/null opens it for writing only.
func nullOrClosed() bool {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, 1, syscall.F_GETFL, 0)
	out, err := os.Stdout.Stat()
	null, errNull := os.Stat(os.DevNull)
	return errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR && err == nil && errNull == nil && os.SameFile(out, null)
}
