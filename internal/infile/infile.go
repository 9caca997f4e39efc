// Package infile opens the files that a command reads, and records them, so that no
// output takes the place of one and a change of one is noticed. A file that could not be
// read once is not read later: every reader gets the same error.
package infile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"ptxlink/internal/sets"
)

// Files are regular files that were read, and those that could not be read. It may be used
// concurrently; nil records nothing.
type Files struct {
	mu     sync.Mutex
	list   []file
	failed map[string]error // by path
	around *Files           // records them too
}

type file struct {
	name string
	info fs.FileInfo // when it was opened
}

type inContext struct{}

// Record returns a context in which every file that is read is recorded, also for an
// earlier Record.
func Record(ctx context.Context) (context.Context, *Files) {
	f := &Files{around: Of(ctx)}
	return context.WithValue(ctx, inContext{}, f), f
}

// Apart returns a context without a record, for what has nothing to do with what was read before.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, inContext{}, (*Files)(nil))
}

// Of returns the record of a context, or nil.
func Of(ctx context.Context) *Files {
	f, _ := ctx.Value(inContext{}).(*Files)
	return f
}

// Add records a file that was opened. It ignores other files, because only regular files have
// contents that stay.
func (f *Files) Add(name string, info fs.FileInfo) {
	if !info.Mode().IsRegular() {
		return
	}
	for ; f != nil; f = f.around {
		f.mu.Lock()
		f.list = append(f.list, file{name, info})
		f.mu.Unlock()
	}
}

// failure returns the error with which a file could not be read before, or nil.
func (f *Files) failure(path string) (err error) {
	for ; f != nil && err == nil; f = f.around {
		f.mu.Lock()
		err = f.failed[path]
		f.mu.Unlock()
	}
	return err
}

// fail keeps the error of a file that cannot be read, and returns it. It does not keep the error of
// a file of another kind or above the limit, because that file can be read in another way.
func (f *Files) fail(path string, err error) error {
	if kind := errNotRegular(""); errors.As(err, &kind) || errors.Is(err, ErrTooLong) {
		return err
	}
	for ; f != nil; f = f.around {
		f.mu.Lock()
		sets.Put(&f.failed, path, err)
		f.mu.Unlock()
	}
	return err
}

// Stat is os.Stat of a file that will be read.
func (f *Files) Stat(path string) (fs.FileInfo, error) {
	if err := f.failure(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, f.fail(path, err)
	}
	return info, nil
}

// Read reads a regular file of at most limit bytes, and records it. It calls read with the opened file; if read is
// nil, it reads the file into memory.
func (f *Files) Read(path string, limit int64, read func(*os.File, fs.FileInfo) ([]byte, error)) ([]byte, error) {
	if err := f.failure(path); err != nil {
		return nil, err
	}
	opened, info, err := OpenRegular(path, limit)
	if err != nil {
		return nil, f.fail(path, err)
	}
	defer opened.Close()
	if read == nil {
		read = Read
	}
	data, err := read(opened, info)
	if err != nil {
		return nil, f.fail(path, err)
	}
	f.Add(path, info)
	return data, nil
}

// ErrChanged is wrapped by the errors of Changed.
var ErrChanged = errors.New("it was changed while it was read; link again when no other program writes it")

// Changed returns an error that names a file whose size or time is not the one it had when it was opened. It is also an
// error if a file that was read could not be read again, because a pass may have gone on without it. These do not count
// as changed:
//
//   - a file that was deleted, or replaced by another one: what was read is one state
//     of it, unless it was read again. (The file system may give the new file the number of the deleted one; it
//     then counts as changed.)
//   - a file with new links or permissions, which build systems set while others read
//   - a file that was written in place and whose time was then set back, which is not
//     noticed
func (f *Files) Changed() error {
	if lost := f.first(func(read file) bool { return f.failed[read.name] != nil }); lost != "" {
		return fmt.Errorf("%s: cannot read it again: %w", lost, Reason(f.failure(lost)))
	}
	changed := f.first(func(old file) bool {
		now, err := os.Stat(old.name)
		return err == nil && os.SameFile(old.info, now) && (now.Size() != old.info.Size() || !now.ModTime().Equal(old.info.ModTime()))
	})
	if changed == "" {
		return nil
	}
	return fmt.Errorf("%s: %w", changed, ErrChanged)
}

// Same returns the name under which a file was read, or "" if it was not.
func (f *Files) Same(info fs.FileInfo) string {
	return f.first(func(read file) bool { return os.SameFile(read.info, info) })
}

// Names returns the names of the files, sorted, since the order of reading depends on -j.
func (f *Files) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := map[string]bool{}
	for _, file := range f.list {
		names[file.name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Regular returns the paths of regular files, without pipes. It does not look again at a file that
// was read, because such a file was an input even if it is gone.
func (f *Files) Regular(paths []string) []string {
	read := f.Names()
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		if _, found := slices.BinarySearch(read, path); found {
			return false
		}
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular()
	})
}

// first returns the least name of the wanted files, since the order of reading depends on -j;
// "" if there are none. It passes over files of size 0, as all in /proc are.
func (f *Files) first(wanted func(file) bool) string {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	least := ""
	for _, read := range f.list {
		if (least == "" || read.name < least) && read.info.Size() > 0 && wanted(read) {
			least = read.name
		}
	}
	return least
}

// OpenRegular opens a regular file of at most limit bytes. It refuses other files, because a device
// may have no end, and a pipe no writer.
func OpenRegular(path string, limit int64) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = Regular(info, limit)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = Regular(info, limit) // the file may have been replaced since
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// errNotRegular says what a file is in place of a regular one.
type errNotRegular string

func (e errNotRegular) Error() string { return string(e) }

// Regular returns an error if a file is not a regular one of at most limit bytes.
func Regular(info fs.FileInfo, limit int64) error {
	switch {
	case info.IsDir():
		return errNotRegular("it is a directory")
	case !info.Mode().IsRegular():
		return errNotRegular("it is not a regular file but a device, a pipe or a socket")
	case info.Size() > limit:
		return ErrTooLong
	}
	return nil
}

// Read reads a file that OpenRegular has opened. It may be empty, but not shorter than
// info says.
func Read(f *os.File, info fs.FileInfo) ([]byte, error) {
	if err := Room(info.Size()); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	_, err := io.ReadFull(f, data)
	return data, err
}

// Head returns the first n bytes of a regular file, or all of a shorter one; nil if it cannot be read.
func (f *Files) Head(path string, n int64) []byte {
	if f.failure(path) != nil {
		return nil
	}
	opened, info, err := OpenRegular(path, math.MaxInt64)
	if err != nil {
		f.fail(path, err)
		return nil
	}
	defer opened.Close()
	head := make([]byte, min(n, info.Size()))
	if _, err = io.ReadFull(opened, head); err != nil {
		f.fail(path, err)
		return nil
	}
	return head
}

// Head is Files.Head of a file that is not an input.
func Head(path string, n int64) []byte { return (*Files)(nil).Head(path, n) }

// ReadFile reads a file of any kind to its end. It is an error if the file has more than limit
// bytes.
func (f *Files) ReadFile(path string, limit int64) ([]byte, error) {
	if err := f.failure(path); err != nil {
		return nil, err
	}
	opened, err := os.Open(path) // opening a pipe blocks until it has a writer
	if err != nil {
		return nil, f.fail(path, err)
	}
	defer opened.Close()
	if info, err := opened.Stat(); err == nil {
		if info.IsDir() { // because on Windows reading it fails with "Incorrect function"
			return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
		}
		f.Add(path, info)
	}
	data, err := ReadAll(opened, limit)
	if err != nil {
		return nil, f.fail(path, err)
	}
	return data, nil
}

// ReadRegular opens and reads a regular file of at most limit bytes, and records it.
func (f *Files) ReadRegular(path string, limit int64) ([]byte, error) {
	return f.Read(path, limit, nil)
}

// Reason removes the operation and the path of an error of package os, because messages have the
// name already, and the path of a temporary file means nothing to the user. A file that does not
// exist has the same text on all systems; the text of Windows is a sentence.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	if _, ok := err.(syscall.Errno); ok && errors.Is(err, fs.ErrNotExist) {
		return missing{err}
	}
	return err
}

type missing struct{ error }

func (missing) Error() string   { return "no such file or directory" }
func (m missing) Unwrap() error { return m.error }

// Absent reports whether an error of a look at a file says that the user has none of this name. Any
// other is an error of the machine, which says nothing about the file. Windows has many for names
// that no file can have.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) || err != nil && runtime.GOOS == "windows"
}

// Fold returns a name in the form in which names of one file are equal, because Windows does not
// tell A.ptx from a.ptx.
func Fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(name)
	}
	return name
}

// ReadOwn reads a regular file of the user who runs the program, of at most limit bytes.
// It follows no symbolic link at the end of the path. An error that is not of type
// *fs.PathError says that the file is not of this kind.
func ReadOwn(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock|nofollow, 0)
	if errors.Is(err, isLink) {
		return nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = Regular(info, limit)
	}
	if err == nil && !own(info) {
		err = errors.New("it belongs to another user")
	}
	if err != nil {
		return nil, err
	}
	return Read(f, info)
}
