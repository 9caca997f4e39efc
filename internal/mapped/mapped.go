// Package mapped maps files into memory to read them. The files must not become
// shorter while they are in use: memory that a file no longer has cannot be read.
package mapped

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"

	"ptxlink/internal/parallel"
)

// Least is the size in bytes from which mapping a file is faster than reading it.
const Least = 1 << 18

type mapping struct {
	data []byte
	name string
}

var files struct {
	sync.Mutex
	list []mapping
}

// Read maps a file of a known size, until the process ends. ok is false if the system
// cannot map it.
func Read(name string, fd uintptr, size int64) (data []byte, ok bool) {
	data, err := mapFile(fd, int(size))
	if err != nil {
		return nil, false
	}
	files.Lock()
	defer files.Unlock()
	files.list = append(files.list, mapping{data, name})
	return data, true
}

// PanicOnFault makes reads of memory that its file no longer has panic, in this
// goroutine, rather than end the process.
func PanicOnFault() { debug.SetPanicOnFault(true) }

// Fault returns an error that names the file if a recovered value is such a panic, and
// nil otherwise.
func Fault(recovered any) error {
	if p, ok := recovered.(*parallel.Panic); ok {
		recovered = p.Value
	}
	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	files.Lock()
	defer files.Unlock()
	for _, m := range files.list {
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(m.data))); at <= fault.Addr() && fault.Addr() < at+uintptr(len(m.data)) {
			return fmt.Errorf("%s: %w", m.name, ErrChanged)
		}
	}
	return nil
}

// ErrChanged is the reason of a Fault. A system call that cannot read the memory
// returns EFAULT instead.
var ErrChanged = errors.New("an input became shorter while it was linked; link again")

// Changed reports whether an error of a system call has the same reason.
func Changed(err error) bool { return errors.Is(err, syscall.EFAULT) }
