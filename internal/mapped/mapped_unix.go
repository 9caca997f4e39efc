//go:build unix

package mapped

import "syscall"

func mapFile(fd uintptr, size int) ([]byte, error) {
	return syscall.Mmap(int(fd), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
}

func unmapFile(data []byte) error { return syscall.Munmap(data) }

func dropPages(data []byte) { syscall.Madvise(data, syscall.MADV_DONTNEED) }
