package container

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	lz4Magic  = "\x04\x22\x4d\x18"
	// zstdMost is the most bytes that one of a zstd frame can stand for: a
	// block has 128 KiB at most, and takes 4 bytes if all of them are equal.
	zstdMost = 128 << 10 / 4
)

// codec is a way to compress.
type codec struct {
	name string
	// unfold returns errTooLong if data gives more than limit bytes.
	unfold func(data []byte, limit int64) ([]byte, error)
}

var (
	gzipCodec = codec{"gzip", gunzip}
	zlibCodec = codec{"zlib", inflate}
	zstdCodec = codec{"zstd", unzstd}
	lz4Codec  = codec{"LZ4", unlz4}
)

var errTooLong = errors.New("unfolds to more than it may")

// Readers are used again: an archive may hold thousands of small streams, and a
// new reader takes more memory than all but the largest of them, one for zstd
// 5 MB.
var (
	gzips, zlibs sync.Pool
	zstds        = sync.Pool{New: func() any {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<41), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return z
	}}
)

func gunzip(data []byte, limit int64) ([]byte, error) {
	z, _ := gzips.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	defer gzips.Put(z)
	if err := z.Reset(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return drain(z, limit)
}

func inflate(data []byte, limit int64) ([]byte, error) {
	z, _ := zlibs.Get().(io.Reader)
	var err error
	if z == nil {
		z, err = zlib.NewReader(bytes.NewReader(data))
	} else {
		err = z.(zlib.Resetter).Reset(bytes.NewReader(data), nil)
	}
	if err != nil {
		return nil, err
	}
	defer zlibs.Put(z)
	return drain(z, limit)
}

func unlz4(data []byte, limit int64) ([]byte, error) {
	z := lz4.NewReader(bytes.NewReader(data))
	defer z.Reset(nil) // its two blocks, of up to 4 MB each, go back to their pool
	return drain(z, limit)
}

// unzstd decodes into one buffer, which is the window too: a header may ask for
// a window of 128 MB and more in front of a few bytes.
func unzstd(data []byte, limit int64) ([]byte, error) {
	size := min(4*int64(len(data))+4096, limit)
	var h zstd.Header
	if h.Decode(data) == nil && h.HasFCS {
		if h.FrameContentSize > uint64(limit) {
			return nil, errTooLong
		}
		if h.FrameContentSize/zstdMost > uint64(len(data)) {
			return nil, fmt.Errorf("%d bytes cannot be the %d that their header says", len(data), h.FrameContentSize)
		}
		size = int64(h.FrameContentSize)
	}
	z := zstds.Get().(*zstd.Decoder)
	defer zstds.Put(z)
	for ; ; size = min(2*size+4096, limit) {
		plain, err := z.DecodeAll(data, make([]byte, 0, size+1))
		switch {
		case int64(len(plain)) > limit, errors.Is(err, zstd.ErrDecoderSizeExceeded) && size == limit:
			return nil, errTooLong
		case !errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return plain, err
		}
	}
}

// drain reads r to its end. The buffer grows with what is really there, not with
// what a header says.
func drain(r io.Reader, limit int64) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(plain)) > limit {
		return nil, errTooLong
	}
	return plain, err
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
	plain, err := c.unfold(data, limit)
	switch {
	case errors.Is(err, errTooLong) && size < 0:
		return nil, op.bomb(p, at)
	case errors.Is(err, errTooLong):
		return nil, p.fault(at, "%s data is longer than the %d bytes that its header says", c.name, size)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, p.fault(at, "%s data is cut short", c.name)
	case err != nil:
		return nil, p.fault(at, "%s data is damaged: %v", c.name, err)
	case size >= 0 && int64(len(plain)) != size:
		return nil, p.fault(at, "%s data unfolds to %d bytes, but its header says %d", c.name, len(plain), size)
	}
	op.left -= int64(len(plain))
	return plain, nil
}

// block returns the size bytes that a bare LZ4 block unfolds to.
func (op *opener) block(data []byte, p place, at int, size uint64) ([]byte, *Error) {
	// Huge images are LZ4 frames. No block starts so: its first match would
	// reach before the first byte.
	if prefixed(data, lz4Magic) {
		return op.decompress(data, p, at, int64(min(size, 1<<62)), lz4Codec)
	}
	// A byte of a block stands for 255 at most.
	if size > 255*uint64(len(data))+64 {
		return nil, p.fault(at, "%d bytes of LZ4 data cannot be the %d bytes that the header says", len(data), size)
	}
	if size > uint64(max(op.left, 0)) {
		return nil, op.bomb(p, at)
	}
	plain := make([]byte, size)
	n, err := lz4.UncompressBlock(data, plain)
	if err != nil || uint64(n) != size {
		return nil, p.fault(at, "LZ4 data is damaged: it does not unfold to the %d bytes that the header says", size)
	}
	op.left -= int64(size)
	return plain, nil
}

func (op *opener) bomb(p place, at int) *Error {
	err := p.fault(at, "unfolds to more than %d bytes", op.MaxSize)
	err.Help = "if it is meant to be that large, take the PTX out first and link that"
	return err
}
