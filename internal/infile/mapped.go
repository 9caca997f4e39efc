package infile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"ptxlink/internal/parallel"
)

// LeastMapped is the size in bytes from which mapping a file is faster than reading it.
const LeastMapped = 1 << 18

var pageSize = uintptr(os.Getpagesize())

// Maps are mapped files that are unmapped together. It may be used concurrently.
type Maps struct {
	list []mapping // guarded by all; from the highest address to the lowest, as systems map files
}

type mapping struct {
	data []byte
	name string
}

func (m mapping) start() uintptr { return address(m.data) }

func address(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// all holds the files that are mapped now, for Fault.
var all = struct {
	sync.Mutex
	files map[*Maps]bool
}{files: map[*Maps]bool{}}

// Read maps a regular file of at most limit bytes, and records it. It reads a small file, every
// file if f is nil, and what the system cannot map.
func (f *Maps) Read(path string, limit int64, record *Files) ([]byte, error) {
	return record.Read(path, limit, func(file *os.File, info fs.FileInfo) ([]byte, error) {
		if f != nil && info.Size() >= LeastMapped {
			if data, err := mapFile(file.Fd(), int(info.Size())); err == nil {
				all.Lock()
				defer all.Unlock()
				i, _ := f.find(address(data))
				f.list = slices.Insert(f.list, i, mapping{data, path})
				all.files[f] = true
				return data, nil
			}
		}
		return Read(file, info)
	})
}

// Drop returns the memory of data to the system if it is part of a mapped file, because the system
// can read it from the file again when it is next used.
func (f *Maps) Drop(data []byte) {
	if f == nil || len(data) < LeastMapped/4 { // because for less the call takes longer than it is worth
		return
	}
	all.Lock()
	m, ok := f.at(address(data))
	all.Unlock()
	if ok {
		from := (address(data) - m.start() + pageSize - 1) / pageSize * pageSize
		to := (address(data) - m.start() + uintptr(len(data))) / pageSize * pageSize
		dropPages(m.data[from:to])
	}
}

// DropAll is Drop of all files.
func (f *Maps) DropAll() {
	if f == nil {
		return
	}
	all.Lock()
	defer all.Unlock()
	for _, m := range f.list {
		dropPages(m.data)
	}
}

// at returns the mapping that holds an address.
func (f *Maps) at(at uintptr) (m mapping, ok bool) {
	i, _ := f.find(at)
	if i == len(f.list) || at >= f.list[i].start()+uintptr(len(f.list[i].data)) {
		return mapping{}, false
	}
	return f.list[i], true
}

// find returns the index of the first mapping that does not start after an address.
func (f *Maps) find(at uintptr) (i int, found bool) {
	return slices.BinarySearchFunc(f.list, at, func(m mapping, at uintptr) int { return cmp.Compare(at, m.start()) })
}

// Close unmaps the files, which must no longer be in use. It may be called again, and
// on nil.
func (f *Maps) Close() error {
	if f == nil {
		return nil
	}
	all.Lock()
	list := f.list
	f.list = nil
	delete(all.files, f)
	all.Unlock()
	var err error
	for _, m := range list {
		err = errors.Join(err, unmapFile(m.data))
	}
	return err
}

// Fault returns an error that names the file if a recovered value is the panic of
// debug.SetPanicOnFault for memory that its file no longer has, and nil otherwise.
func Fault(recovered any) error {
	if p, ok := recovered.(*parallel.Panic); ok {
		recovered = p.Value
	}
	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	all.Lock()
	defer all.Unlock()
	for f := range all.files {
		if m, ok := f.at(fault.Addr()); ok {
			return fmt.Errorf("%s: %w", m.name, ErrShorter)
		}
	}
	return nil
}

// ErrShorter is the reason of a Fault. A system call that cannot read the memory
// returns EFAULT instead.
var ErrShorter = errors.New("an input became shorter while it was linked; link again")

// Shorter reports whether an error of a system call has the same reason.
func Shorter(err error) bool { return errors.Is(err, syscall.EFAULT) }
