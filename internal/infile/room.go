package infile

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNoRoom is wrapped by the errors of Room.
var ErrNoRoom = errors.New("not enough memory")

// spare is the other memory that a link needs meanwhile, and the size of the pieces
// in which Go takes memory from the system.
const spare = 64 << 20

// Few is the number of bytes that are allocated without a check.
const Few = 1 << 20

// Room returns an error if there is not enough memory for size more bytes, more than Few, and
// for as much again, for the data that is built from them. It takes a few microseconds. Large allocations must be
// checked, because Go ends the process if it runs out of memory, with a trace and the exit code of wrong usage, and
// without cleanup.
func Room(size int64) error {
	if size > Few && (size > 1<<46 || !free(2*size+spare)) {
		return fmt.Errorf("%w for %d MB", ErrNoRoom, size>>20)
	}
	return nil
}

// ErrTooLong is returned, or wrapped, for more data than a limit.
var ErrTooLong = errors.New("it is too large")

// ReadAll reads data of unknown length, to its end or to limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data := make([]byte, 0, 4096)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, fmt.Errorf("%w: there are more than %d bytes", ErrTooLong, limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			if err := Room(int64(len(data))); err != nil {
				return nil, err
			}
			data = slices.Grow(data, len(data))
		}
	}
}
