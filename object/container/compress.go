package container

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"ptxlink/internal/infile"
)

const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	lz4Magic  = "\x04\x22\x4d\x18"
	lz4Legacy = "\x02\x21\x4c\x18" // lz4 -l
	skipMagic = "\x2a\x4d\x18"     // after 0x50 to 0x5f: a zstd or LZ4 frame without data
	// zstdMost is the most bytes that one byte of a zstd frame can expand to, because a block holds
	// 128 KiB at most, and takes 4 bytes if all of them are equal.
	zstdMost = 128 << 10 / 4
)

type codec struct {
	name string
	// unfold returns errTooLong if data expands to more than limit bytes, before it
	// allocates memory for them.
	unfold func(data []byte, limit int64, memory allocate) ([]byte, error)
}

// allocate returns memory for a number of bytes.
type allocate func(int64) []byte

var (
	gzipCodec = codec{"gzip", gunzip}
	zlibCodec = codec{"zlib", inflate}
	zstdCodec = codec{"zstd", unzstd}
	lz4Codec  = codec{"LZ4", unlz4}
)

var (
	errTooLong = errors.New("decompresses to more than the limit")
	errNothing = errors.New("it decompresses to NULs")
)

// zstds are reused, because an archive may hold thousands of small streams, and a reader takes 5
// MB.
var zstds = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<41), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // this cannot happen, because the options are constants
	}
	return z
}}

func gunzip(data []byte, limit int64, memory allocate) ([]byte, error) {
	return drain(func() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(data)) }, limit, memory)
}

func inflate(data []byte, limit int64, memory allocate) ([]byte, error) {
	return drain(func() (io.Reader, error) { return zlib.NewReader(bytes.NewReader(data)) }, limit, memory)
}

func unlz4(data []byte, limit int64, memory allocate) ([]byte, error) {
	z := lz4.NewReader(bytes.NewReader(data))
	defer z.Reset(nil) // returns its two blocks of up to 4 MB each to their pool
	return drain(func() (io.Reader, error) {
		z.Reset(bytes.NewReader(data))
		return z, nil
	}, limit, memory)
}

// unzstd decodes into one buffer, which is also the window: a header may ask for a
// window of 128 MB and more for a few bytes.
func unzstd(data []byte, limit int64, memory allocate) ([]byte, error) {
	frames, err := zstdFrames(data)
	if err != nil {
		return nil, err
	}
	least, most := uint64(0), uint64(0)
	for _, f := range frames {
		least += f.least
		most += f.most
	}
	if least > uint64(limit) {
		return nil, errTooLong
	}
	z := zstds.Get().(*zstd.Decoder)
	end := int64(min(most, uint64(limit))) // largest size of the buffer
	if end <= muchMemory {                 // a reader keeps a reference to what it wrote last
		defer zstds.Put(z)
	}
	if end > infile.Few {
		if first, err := z.DecodeAll(zstdFirst(data), make([]byte, 0, zstdBlock+1)); err == nil && len(first) > 0 && onlyNUL(first) {
			return nil, errNothing
		}
	}
	size := end
	if most != least {
		// size is a guess, because a writer that flushes often writes small blocks, and most may be
		// far too high then.
		size = min(end, 16*int64(len(data))+infile.Few)
	}
	if err := infile.Room(size); err != nil {
		return nil, err
	}
	plain := memory(size + 1)[:0]
	for len(frames) > 0 {
		// Frames are decoded one at a time, because the capacity limit is wrong after the first.
		part, err := z.DecodeAll(frames[0].data, plain[len(plain):])
		have := int64(len(plain) + len(part))
		switch {
		case have > size && size == limit:
			return nil, errTooLong
		case err == nil && have <= size:
			plain = plain[:have]
			frames = frames[1:]
		// The error is final only if a whole block would have fit, because the decoder may report a
		// block that does not fit as damaged.
		case size-have >= zstdBlock && !errors.Is(err, zstd.ErrDecoderSizeExceeded), uint64(size) >= most:
			return nil, err
		case size == limit:
			return nil, errTooLong
		default:
			size = min(4*size, end)
			if err := infile.Room(size); err != nil {
				return nil, err
			}
			plain = append(make([]byte, 0, size+1), plain...)
		}
	}
	if size/2 > int64(len(plain)) {
		return bytes.Clone(plain), nil
	}
	return plain, nil
}

// zstdFrame is a frame, and the size it expands to according to its header and
// block headers. The size is exact if the header gives it.
type zstdFrame struct {
	data        []byte
	least, most uint64
}

// zstdFrames splits data into frames, without the skippable ones. Data that is not
// a frame becomes the last one, so that the decoder reports the error.
func zstdFrames(data []byte) (frames []zstdFrame, err error) {
	for len(data) > 0 {
		var h zstd.Header
		if h.Decode(data) != nil {
			return append(frames, zstdFrame{data: data}), nil
		}
		if h.Skippable {
			size := h.HeaderSize + int(h.SkippableSize)
			if size > len(data) {
				return nil, io.ErrUnexpectedEOF
			}
			data = data[size:]
			continue
		}
		var f zstdFrame
		rest := data[min(len(data), h.HeaderSize):]
		for last := false; !last && len(rest) >= 3; {
			head := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
			size := head >> 3
			last = head&1 != 0
			switch head >> 1 & 3 {
			case 0: // raw
				f.least += uint64(size)
				f.most += uint64(size)
			case 1: // one byte, repeated
				f.least += uint64(size)
				f.most += uint64(size)
				size = 1
			default:
				f.most += zstdBlock
			}
			rest = rest[min(len(rest), 3+size):]
		}
		if h.HasCheckSum {
			rest = rest[min(len(rest), 4):]
		}
		f.data = data[:len(data)-len(rest)]
		if h.HasFCS {
			if h.FrameContentSize/zstdMost > uint64(len(f.data)) {
				return nil, fmt.Errorf("%d bytes cannot be the %d that their header says", len(f.data), h.FrameContentSize)
			}
			f.least, f.most = h.FrameContentSize, h.FrameContentSize
		}
		frames = append(frames, f)
		data = rest
	}
	return frames, nil
}

// zstdFirst returns a frame that holds only the first block of data.
func zstdFirst(data []byte) []byte {
	var h zstd.Header
	for h.Decode(data) == nil && h.Skippable {
		data = data[min(len(data), h.HeaderSize+int(h.SkippableSize)):]
	}
	if data = data[min(len(data), h.HeaderSize):]; len(data) < 3 {
		return nil
	}
	stored := (int(data[0]) | int(data[1])<<8 | int(data[2])<<16) >> 3
	if data[0]>>1&3 == 1 {
		stored = 1
	}
	// A window of 1 MiB, no size, no checksum; and this block is the last.
	frame := append([]byte(zstdMagic+"\x00\x50"), data[:min(len(data), 3+stored)]...)
	frame[6] |= 1
	return frame
}

// zstdBlock is the largest size of a decompressed zstd block.
const zstdBlock = 128 << 10

// drain reads a stream to its end. It reads a long one twice and counts its bytes
// first, so that memory is allocated once and only within the limit. start opens
// the stream from its beginning.
func drain(start func() (io.Reader, error), limit int64, memory allocate) ([]byte, error) {
	r, err := start()
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, min(limit, infile.Few)+1))
	switch {
	case int64(len(plain)) > limit:
		return nil, errTooLong
	case err != nil || len(plain) <= infile.Few:
		return plain, err
	case onlyNUL(plain):
		return nil, errNothing
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(r, limit-int64(len(plain))+1))
	size := int64(len(plain)) + rest
	switch {
	case size > limit:
		return nil, errTooLong
	case err != nil:
		return nil, err
	}
	if r, err = start(); err != nil {
		return nil, err
	}
	if err := infile.Room(size); err != nil {
		return nil, err
	}
	plain = memory(size)
	_, err = io.ReadFull(r, plain)
	return plain, err
}

// needRoom ends the reading of data that does not fit into memory.
func (p place) needRoom(at int, err error) {
	if err != nil {
		fault := p.fault(at, "cannot decompress: %v", err)
		fault.Help, fault.Err = "", err
		panic(fault)
	}
}

// onlyNUL reports whether all bytes are NUL. No module of a megabyte starts with as
// many NULs as callers check.
func onlyNUL(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }

// Start returns the first bytes of a file, which tell its form. For a compressed file, they are the
// first bytes of the contents.
func Start(data []byte) []byte {
	var r io.Reader = bytes.NewReader(data)
	switch c, _ := codecOf(data); c.name {
	case gzipCodec.name:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil
		}
		r = z
	case zstdCodec.name:
		first, _ := unzstd(zstdFirst(data), zstdBlock, newMemory)
		return first
	case lz4Codec.name:
		z := lz4.NewReader(r)
		defer z.Reset(nil)
		r = z
	}
	start := make([]byte, 20)
	n, _ := io.ReadFull(r, start)
	return start[:n]
}

// IsCompressed reports whether data starts like a compressed file. The first 8 bytes are enough.
func IsCompressed(data []byte) bool {
	_, ok := codecOf(data)
	return ok || isSkipped(data)
}

// isSkipped reports whether a zstd or LZ4 frame without data starts here: pzstd writes them.
func isSkipped(data []byte) bool {
	return len(data) >= 8 && data[0]&0xf0 == 0x50 && string(data[1:4]) == skipMagic
}

// codecOf returns the codec of data that starts like a compressed file. Frames without data may
// come first.
func codecOf(data []byte) (c codec, ok bool) {
	if prefixed(data, "\x1f\x8b") {
		return gzipCodec, true
	}
	for isSkipped(data) {
		data = data[min(8+uint64(le.Uint32(data[4:])), uint64(len(data))):]
	}
	switch {
	case prefixed(data, zstdMagic):
		return zstdCodec, true
	case prefixed(data, lz4Magic), prefixed(data, lz4Legacy):
		return lz4Codec, true
	}
	return codec{}, false
}

// compressed opens the contents of a compressed file. PTX is listed without decompressing all of
// it, because its first byte tells: no container begins with a directive, a comment or a blank.
func (op *opener) compressed(data []byte, p place, c codec) {
	unpack := func() []byte { return op.decompress(data, p, 0, -1, c) }
	if op.list != nil && bytes.IndexAny(Start(data), "./ \t\r\n") == 0 {
		p.packed = true
		op.offer(PTX, p.Target, p, unpack)
		return
	}
	op.open(unpack(), p)
}

// decompress returns the decompressed data, of size bytes unless size is negative.
// at is the offset of data in p.
func (op *opener) decompress(data []byte, p place, at int, size int64, c codec) []byte {
	op.needLeft(size <= op.left, p, at)
	limit := op.left
	if size >= 0 {
		limit = size
	}
	plain, err := c.unfold(data, limit, op.memory)
	if errors.Is(err, infile.ErrNoRoom) {
		p.needRoom(at, err)
	}
	tooLong := errors.Is(err, errTooLong)
	op.needLeft(!tooLong || size >= 0, p, at)
	p.need(!tooLong, at, "%s data is longer than the %d bytes that its header says", c.name, size)
	p.need(!errors.Is(err, io.ErrUnexpectedEOF), at, "%s data is cut short", c.name)
	p.need(err == nil, at, "%s data is damaged: %v", c.name, err)
	p.need(size < 0 || int64(len(plain)) == size, at, "%s data decompresses to %d bytes, but its header says %d", c.name, len(plain), size)
	op.left -= int64(len(plain))
	return plain
}

// block returns the size bytes that a bare LZ4 block decompresses to.
func (op *opener) block(data []byte, p place, at int, size uint64) []byte {
	// Huge images are LZ4 frames. No block starts with these bytes, because its first match would
	// reach before the first byte.
	if prefixed(data, lz4Magic) {
		return op.decompress(data, p, at, int64(min(size, 1<<62)), lz4Codec)
	}
	// A byte of a block expands to 255 at most.
	p.need(size <= 255*uint64(len(data))+64, at, "%d bytes of LZ4 data cannot be the %d bytes that the header says", len(data), size)
	op.needLeft(size <= uint64(max(op.left, 0)), p, at)
	p.needRoom(at, infile.Room(int64(size)))
	plain := op.memory(int64(size))
	n, err := lz4.UncompressBlock(data, plain)
	p.need(err == nil && uint64(n) == size, at, "LZ4 data is damaged: it does not decompress to the %d bytes that the header says", size)
	op.left -= int64(size)
	return plain
}

// memory returns memory that Code.Release has given back, if it is large enough.
func (op *opener) memory(size int64) []byte {
	data := op.spare
	if op.spare = nil; int64(cap(data)) < size {
		if data = nil; size > muchMemory && op.Touched != nil { // what is no longer used makes room
			debug.FreeOSMemory()
		}
		data = newMemory(size)
	}
	op.lent = data
	return data[:size]
}

func newMemory(size int64) []byte { return make([]byte, size) }

// needLeft ends the reading unless what was decompressed is within Options.MaxSize.
func (op *opener) needLeft(ok bool, p place, at int) {
	if !ok {
		err := p.fault(at, "decompresses to more than %d bytes", op.MaxSize)
		err.Help = "if it is meant to be that large, take the PTX out first and link that"
		panic(err)
	}
}
