package dlink

import (
	"context"
	"os"
	"slices"

	"ptxlink/link"
	"ptxlink/object"
)

// Buffered returns the inputs with the contents of those that can be read only once, such as
// standard input and named pipes, so that several passes can read them. What cannot be read is
// left to link.Link, which reports why. limit is that of link.Options.MaxInputSize.
func Buffered(ctx context.Context, inputs []link.Input, limit int64) []link.Input {
	inputs = slices.Clone(inputs)
	for i := range inputs {
		in := &inputs[i]
		if in.Text == nil && in.Reader == nil && isPipe(in.Path) {
			in.Reader = &pipe{path: in.Path}
		}
		if in.Text != nil || in.Reader == nil {
			continue
		}
		data, err := object.ReadAll(ctx, in.Reader, limit)
		if in.Text, in.Reader = data, nil; err != nil {
			in.Text, in.Reader = nil, failed{err}
		}
	}
	return inputs
}

// isPipe reports whether a file can be read only once, such as /dev/fd/63.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// pipe is a named pipe that is opened when it is read, which may block.
type pipe struct {
	path string
	file *os.File
}

func (p *pipe) Read(b []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = os.Open(p.path); err != nil {
			return 0, err
		}
	}
	if n, err = p.file.Read(b); err != nil {
		p.file.Close()
	}
	return n, err
}

// failed is a stream that cannot be read.
type failed struct{ error }

func (f failed) Read([]byte) (int, error) { return 0, f.error }
