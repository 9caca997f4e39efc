package room

import "syscall"

// free reports whether the system would give the process so many bytes: within
// ulimit -v, and within what the machine has. It takes none of them. A limit of a
// container is not seen; the kernel ends what goes over it.
func free(size int64) bool {
	b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return false
	}
	return syscall.Munmap(b) == nil
}
