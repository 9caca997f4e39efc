package container

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	lz4Magic  = "\x04\x22\x4d\x18"
	// maxWindow is the largest that zstd itself reads unless told to. All of
	// it is allocated for a header that asks for it, however little follows.
	maxWindow = 128 << 20
)

// codec starts to decompress a stream.
type codec func(io.Reader) (io.Reader, func(), error)

func gunzip(r io.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(r)
	return z, func() {}, err
}

func inflate(r io.Reader) (io.Reader, func(), error) {
	z, err := zlib.NewReader(r)
	return z, func() {}, err
}

func unzstd(r io.Reader) (io.Reader, func(), error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

func unlz4(r io.Reader) (io.Reader, func(), error) {
	return lz4.NewReader(r), func() {}, nil
}

// compressed opens what a compressed file holds.
func (op *opener) compressed(data []byte, p place, c codec) *Error {
	plain, err := op.decompress(data, p, 0, -1, c)
	if err != nil {
		return err
	}
	return op.open(plain, p)
}

// decompress returns what data unfolds to, size bytes if that is not negative.
// at is where in p data lies.
func (op *opener) decompress(data []byte, p place, at int, size int64, c codec) ([]byte, *Error) {
	if size > op.left {
		return nil, op.bomb(p, at)
	}
	limit := op.left
	if size >= 0 {
		limit = size
	}
	r, done, err := c(bytes.NewReader(data))
	if err != nil {
		return nil, p.fault(at, "compressed data cannot be read: %v", err)
	}
	defer done()
	// The buffer grows with what is really there, not with what a header says.
	plain, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case int64(len(plain)) > limit && size < 0:
		return nil, op.bomb(p, at)
	case int64(len(plain)) > limit:
		return nil, p.fault(at, "compressed data is longer than the %d bytes that its header says", size)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, p.fault(at, "compressed data is cut short")
	case err != nil:
		return nil, p.fault(at, "compressed data cannot be read: %v", err)
	case size >= 0 && int64(len(plain)) != size:
		return nil, p.fault(at, "compressed data has %d bytes but its header says %d", len(plain), size)
	}
	op.left -= int64(len(plain))
	return plain, nil
}

// block returns the size bytes that a bare LZ4 block unfolds to.
func (op *opener) block(data []byte, p place, at int, size uint64) ([]byte, *Error) {
	// Huge images are LZ4 frames. No block starts so: its first match would
	// reach before the first byte.
	if prefixed(data, lz4Magic) {
		return op.decompress(data, p, at, int64(min(size, 1<<62)), unlz4)
	}
	// A byte of a block stands for 255 at most.
	if size > 255*uint64(len(data))+64 {
		return nil, p.fault(at, "%d bytes of compressed data cannot be the %d bytes that the header says", len(data), size)
	}
	if size > uint64(max(op.left, 0)) {
		return nil, op.bomb(p, at)
	}
	plain := make([]byte, size)
	n, err := lz4.UncompressBlock(data, plain)
	if err != nil || uint64(n) != size {
		return nil, p.fault(at, "compressed data is no LZ4 block of %d bytes", size)
	}
	op.left -= int64(size)
	return plain, nil
}

func (op *opener) bomb(p place, at int) *Error {
	err := p.fault(at, "unfolds to more than %d bytes", op.MaxSize)
	err.Help = "if it is meant to be that large, take the PTX out first and link that"
	return err
}
