// Package room tells whether there is memory for what an input asks for. Go ends
// the process where there is none, with a trace and the exit code of wrong usage,
// and nothing can be cleaned up after that; so large amounts are asked for first.
package room

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNone is what errors of For wrap.
var ErrNone = errors.New("not enough memory")

// spare is what else a link needs meanwhile, and the size of the pieces in which Go
// takes memory from the system.
const spare = 64 << 20

// For returns an error if there is not memory for size more bytes and for as much
// again, which is made of them. It takes a few microseconds.
func For(size int64) error {
	if size > 1<<46 || !free(2*size+spare) {
		return fmt.Errorf("%w for %d MB", ErrNone, size>>20)
	}
	return nil
}

// ReadAll reads what does not say how long it is, to its end or limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	const few = 1 << 20 // of which nobody is asked
	data := make([]byte, 0, 4096)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, fmt.Errorf("there are more than %d bytes", limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			if len(data) >= few {
				if err := For(int64(len(data))); err != nil {
					return nil, err
				}
			}
			data = slices.Grow(data, len(data))
		}
	}
}
