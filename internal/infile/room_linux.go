package infile

import "syscall"

// free reports whether the system would give the process size bytes: within ulimit
// -v, and within the memory of the machine. It allocates none. It does not see a
// limit of a container; the kernel kills a process that exceeds it.
func free(size int64) bool {
	b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return false
	}
	return syscall.Munmap(b) == nil
}
