package object

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ptxlink/internal/infile"
	"ptxlink/internal/mapped"
	"ptxlink/internal/room"
	"ptxlink/object/container"
)

// maxOpen is the number of files open for reading at a time. It fits the lowest
// limit met in practice (ulimit -n 20), and a higher one would not be faster.
const maxOpen = 8

// fileTable opens input files, a limited number at a time. Packages, whose members
// are read when they are needed, stay open while there is room, and are reopened
// otherwise.
type fileTable struct {
	mu     sync.Mutex
	change sync.Cond // signals changes of open, of a packageFile and of closed
	open   int
	idle   []*packageFile // open and not being read; the last is the most recently used
	closed bool

	bytes atomic.Int64  // number of bytes read
	maps  *mapped.Files // Options.Map
	read  *infile.Files // of the context
}

func newFileTable(ctx context.Context) *fileTable {
	t := &fileTable{read: infile.Of(ctx)}
	t.change.L = &t.mu
	return t
}

// take waits until another file may be opened. The caller holds mu.
func (t *fileTable) take() {
	for t.open >= maxOpen {
		if len(t.idle) == 0 {
			t.change.Wait()
			continue
		}
		p := t.idle[0]
		t.idle = t.idle[1:]
		p.f.Close()
		p.f = nil
		t.open--
	}
	t.open++
}

// give records that a file was closed. The caller holds mu.
func (t *fileTable) give() {
	t.open--
	t.change.Broadcast()
}

// with calls read, which opens one file and closes it.
func (t *fileTable) with(read func() ([]byte, error)) ([]byte, error) {
	t.mu.Lock()
	t.take()
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.give()
		t.mu.Unlock()
	}()
	return read()
}

// readAny reads a finite file, which /dev/zero is not. Names of open files of the
// process, such as /dev/stdin, are read as they are. limit applies to files that
// are not regular.
func (t *fileTable) readAny(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > 0 { // files in /proc have size 0
		return t.readRegular(path, math.MaxInt64)
	}
	if info.Mode()&os.ModeDevice != 0 && !strings.HasPrefix(path, "/dev/std") && !strings.HasPrefix(path, "/dev/fd/") &&
		!strings.HasPrefix(path, "/proc/self/fd/") && path != os.DevNull && path != "/dev/tty" {
		return nil, errors.New("it is a device")
	}
	f, err := os.Open(path) // opening a pipe blocks until it has a writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return room.ReadAll(f, bound(limit))
}

// bound returns limit, or the default of Options.MaxSize if it is 0.
func bound(limit int64) int64 {
	if limit <= 0 {
		return container.DefaultMaxSize
	}
	return limit
}

// asked is the number of bytes read before room is asked for more memory.
const asked = 16 << 20

// readRegular maps or reads a regular file: an input, or a member of a thin archive.
func (t *fileTable) readRegular(path string, limit int64) ([]byte, error) {
	return t.with(func() ([]byte, error) {
		f, info, err := infile.OpenRegular(path, limit)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		t.read.Add(path, info)
		if t.maps != nil && info.Size() >= mapped.Least {
			if data, ok := t.maps.Read(path, f.Fd(), info.Size()); ok {
				return data, nil
			}
		}
		data, err := infile.Read(f, info)
		if n := t.bytes.Add(int64(len(data))); n/asked != (n-int64(len(data)))/asked && err == nil {
			err = room.For(asked) // the room that records and outputs of many small files need
		}
		return data, err
	})
}

// close closes the packages. Those that are being read are closed afterwards.
func (t *fileTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, p := range t.idle {
		p.f.Close()
		p.f = nil
		t.open--
	}
	t.idle = nil
	t.change.Broadcast()
}

// packageFile is an io.ReaderAt for a file that may be closed and reopened between
// reads.
type packageFile struct {
	table *fileTable
	name  string
	path  string
	info  fs.FileInfo // of the file when first opened

	f       *os.File // nil while it is closed
	readers int
	opening bool
}

// ReadAt may be called from several goroutines. It fails with a stale index if the
// file has been replaced since it was first opened.
func (p *packageFile) ReadAt(b []byte, at int64) (int, error) {
	f, err := p.acquire()
	if err != nil {
		return 0, err
	}
	defer p.release()
	return f.ReadAt(b, at)
}

func (p *packageFile) acquire() (*os.File, error) {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if t.closed {
			return nil, os.ErrClosed
		}
		if p.f != nil {
			if p.readers == 0 {
				t.idle = slices.DeleteFunc(t.idle, func(q *packageFile) bool { return p == q })
			}
			p.readers++
			return p.f, nil
		}
		if !p.opening {
			break
		}
		t.change.Wait()
	}
	p.opening = true
	t.take()
	t.mu.Unlock()
	f, err := p.reopen()
	t.mu.Lock()
	p.opening = false
	if err != nil {
		t.give()
		return nil, err
	}
	p.f, p.readers = f, 1
	t.change.Broadcast()
	return f, nil
}

func (p *packageFile) release() {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.readers--; p.readers > 0 {
		return
	}
	if t.closed {
		p.f.Close()
		p.f = nil
		t.open--
		return
	}
	t.idle = append(t.idle, p)
	t.change.Broadcast()
}

func (p *packageFile) reopen() (*os.File, error) {
	f, err := os.Open(p.path)
	if err != nil {
		if p.info != nil && errors.Is(err, fs.ErrNotExist) {
			err = p.replaced()
		}
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case p.info == nil:
		p.info = info
		p.table.read.Add(p.path, info)
	case !os.SameFile(p.info, info) || p.info.Size() != info.Size() || !p.info.ModTime().Equal(info.ModTime()):
		err = p.replaced()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (p *packageFile) replaced() error {
	return &container.Error{Name: p.name, Offset: -1, Text: "another file has taken its place while it was read", Stale: true}
}
