package object

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"sync/atomic"

	"ptxlink/internal/infile"
	"ptxlink/object/container"
)

// maxOpen is the number of files open for reading at a time. It fits the lowest
// limit met in practice (ulimit -n 20), and a higher one would not be faster.
const maxOpen = 8

// fileTable opens input files, a limited number at a time. The limit is maxOpen.
type fileTable struct {
	slots chan struct{}
	bytes atomic.Int64  // of the files so far
	maps  *infile.Maps  // Options.Map
	read  *infile.Files // of the context
}

func newFileTable(ctx context.Context, maps *infile.Maps) *fileTable {
	return &fileTable{slots: make(chan struct{}, maxOpen), maps: maps, read: infile.Of(ctx)}
}

// readAny reads a finite file. It refuses devices, because a read of /dev/zero would not end, but
// not the names of open files of the process, such as /dev/stdin. limit applies to files that are
// not regular.
func (t *fileTable) readAny(path string, limit int64) ([]byte, error) {
	info, err := t.read.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > 0 { // because files in /proc have size 0
		return t.readRegular(path, math.MaxInt64)
	}
	if info.Mode()&os.ModeDevice != 0 && !strings.HasPrefix(path, "/dev/std") && !strings.HasPrefix(path, "/dev/fd/") &&
		!strings.HasPrefix(path, "/proc/self/fd/") && path != os.DevNull && path != "/dev/tty" {
		return nil, errors.New("it is a device")
	}
	return t.read.ReadFile(path, bound(limit))
}

// bound returns limit, or the default of Options.MaxSize if it is 0.
func bound(limit int64) int64 { return cmp.Or(max(limit, 0), container.DefaultMaxSize) }

// asked is the number of bytes of files that are read before infile.For is asked for as many again.
const asked = 16 << 20

// readRegular maps or reads a regular file: an input, or a member of a thin archive.
func (t *fileTable) readRegular(path string, limit int64) ([]byte, error) {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	data, err := t.maps.Read(path, limit, t.read)
	if n := t.bytes.Add(int64(len(data))); n/asked != (n-int64(len(data)))/asked && err == nil {
		err = infile.Room(asked) // because records and outputs of many small files need memory, too
	}
	return data, err
}
