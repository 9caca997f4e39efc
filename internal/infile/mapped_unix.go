//go:build unix

package infile

import "golang.org/x/sys/unix"

func mapFile(fd uintptr, size int) ([]byte, error) {
	return unix.Mmap(int(fd), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
}

func unmapFile(data []byte) error { return unix.Munmap(data) }

func dropPages(data []byte) { unix.Madvise(data, unix.MADV_DONTNEED) }
