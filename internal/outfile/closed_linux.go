package outfile

import (
	"os"
	"syscall"
)

// closedAtStart reports whether standard output was closed when the process
// started. Go's runtime then opens the null device in its place, for reading and
// writing; a shell's >/dev/null opens it for writing only. A parent that opens it
// like the runtime because it wants no output (Python's subprocess.DEVNULL) looks
// the same. So closedAtStart is called only before the product of a command is
// written to standard output.
func closedAtStart() bool {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, 1, syscall.F_GETFL, 0)
	if errno != 0 {
		return true
	}
	out, err := os.Stdout.Stat()
	null, errNull := os.Stat(os.DevNull)
	return flags&syscall.O_ACCMODE == syscall.O_RDWR && err == nil && errNull == nil && os.SameFile(out, null)
}
