package container

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// zstdStream returns a zstd frame without a size, with blocks of block bytes.
func zstdStream(b []byte, block int) []byte {
	var out bytes.Buffer
	w, _ := zstd.NewWriter(&out)
	for len(b) > 0 {
		n := min(block, len(b))
		w.Write(b[:n])
		w.Flush()
		b = b[n:]
	}
	w.Close()
	return out.Bytes()
}

func lz4With(b []byte, options ...lz4.Option) []byte {
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	if err := w.Apply(options...); err != nil {
		panic(err)
	}
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func gzFast(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// skipped returns a skippable frame.
func skipped(kind byte, body string) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0x50 + kind, 0x2a, 0x4d, 0x18}, uint32(len(body))), body...)
}

// long returns a module of several blocks of any format, which compresses well.
func long(size int) []byte {
	return append(bytes.Clone(one), "//"+strings.Repeat("0123456789abcdef", size/16)+"\n"...)
}

// TestStreams checks that all output of the tools is read, in one piece or several,
// with or without its size.
func TestStreams(t *testing.T) {
	for _, size := range []int{0, 300_000, 5_000_000} {
		text := long(size)
		half, rest := text[:len(text)/2], text[len(text)/2:]
		flushed := 1000
		if size > 1_000_000 {
			flushed = 50_000
		}
		forms := map[string][][]byte{
			"zstd":                 {zst(text)},
			"zstd stream":          {zstdStream(text, 1<<30)},
			"zstd stream flushed":  {zstdStream(text, flushed)},
			"zstd two frames":      {zst(half), zst(rest)},
			"zstd two streams":     {zstdStream(half, 1<<30), zstdStream(rest, 1<<30)},
			"zstd size, then none": {zst(half), zstdStream(rest, 1<<30)},
			"zstd none, then size": {zstdStream(half, 1<<30), zst(rest)},
			"zstd skip first":      {skipped(0, "size"), zst(text)},
			"zstd skip between":    {skipped(15, ""), skipped(3, "x"), zst(half), skipped(1, "yy"), zstdStream(rest, 1<<30), skipped(0, "")},
			"gzip":                 {gz(text)},
			"gzip members":         {gz(half), gz(nil), gz(rest)},
			"lz4":                  {lz4With(text)},
			"lz4 size":             {lz4With(text, lz4.SizeOption(uint64(len(text))))},
			"lz4 small blocks":     {lz4With(text, lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(true))},
			"lz4 frames":           {lz4With(half), lz4With(rest)},
			"lz4 legacy":           {lz4With(text, lz4.LegacyOption(true))},
			"lz4 skip":             {skipped(2, "pad"), lz4With(half), skipped(2, "pad"), lz4With(rest)},
		}
		for name, parts := range forms {
			data := bytes.Join(parts, nil)
			for _, limit := range []int64{0, int64(len(text))} {
				members, err := Open("f", data, Options{MaxSize: limit})
				if err != nil || len(members) != 1 || !bytes.Equal(members[0].Text, text) {
					t.Errorf("%s of %d bytes, limit %d: %v", name, size, limit, err)
				}
			}
			if _, err := Open("f", data, Options{MaxSize: int64(len(text)) - 1}); err == nil || !strings.Contains(err.Error(), "decompresses to more than") {
				t.Errorf("%s of %d bytes, limit of one less: %v", name, size, err)
			}
			// A truncated file never gives part of the text. Legacy LZ4 has no end
			// mark.
			cut := data[:len(data)-len(parts[len(parts)-1])/2-1]
			if members, err := Open("f", cut, Options{}); err == nil && name != "lz4 legacy" && !strings.HasSuffix(name, "between") {
				t.Errorf("%s cut short: %d members", name, len(members))
			}
		}
	}
}

// TestBombs checks that data that expands beyond the limit is refused before memory
// is allocated for it, and that NULs do not count.
func TestBombs(t *testing.T) {
	const size, limit = 64 << 20, 4 << 20
	spaces := append(bytes.Clone(one), bytes.Repeat([]byte(" "), size)...)
	nuls := make([]byte, size)
	for name, pack := range map[string]func([]byte) []byte{
		"gzip":                gzFast,
		"zstd":                zst,
		"zstd stream":         func(b []byte) []byte { return zstdStream(b, 1<<30) },
		"zstd stream flushed": func(b []byte) []byte { return zstdStream(b, 1<<16) },
		"lz4":                 func(b []byte) []byte { return lz4With(b) },
		"zlib section": func(b []byte) []byte {
			return hostELF(".nv_fatbin", fatbin(entry(1, 80, 0x11|fatbinLZ4, 0x50, b)))
		},
	} {
		for _, test := range []struct {
			text  []byte
			limit int64
			bound uint64
			want  string
		}{
			{spaces, limit, 2*limit + 10<<20, "decompresses to more than"},
			{nuls, 0, size / 3, "decompresses to NULs"}, // with -race, pools lose buffers of 4 MB
		} {
			if name == "zlib section" && test.limit == 0 {
				continue
			}
			data := pack(test.text)
			from := allocated()
			_, err := Open("f", data, Options{MaxSize: test.limit})
			if took := allocated() - from; took > test.bound {
				t.Errorf("%s: %d bytes allocated for a limit of %d", name, took, test.limit)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
		}
	}
}

// TestBombsAddUp checks that the limit is per file, not per part of it.
func TestBombsAddUp(t *testing.T) {
	text := long(10_000)
	for name, pack := range map[string]func([]byte) []byte{
		"gzip": gz, "zstd": zst, "lz4": lz4frame,
		"section":    func(b []byte) []byte { return zst(hostELF(".nv_fatbin", fatbin(entry(1, 80, 0x11, 0x50, b)))) },
		"lz4 entry":  func(b []byte) []byte { return fatbin(entry(1, 80, 0x11|fatbinLZ4, 0x50, b)) },
		"zstd entry": func(b []byte) []byte { return fatbin(entry(1, 80, 0x11|fatbinZstd, 0x50, b)) },
		"offload":    func(b []byte) []byte { return offloadOf(3, true, "sm_80", b) },
	} {
		part := pack(text)
		data := arMembers("a/", part, "b/", part, "c/", part)
		if _, err := Open("f", data, Options{MaxSize: int64(len(text)) * 5 / 2}); err == nil || !strings.Contains(err.Error(), "decompresses to more than") {
			t.Errorf("three of %s with room for two: %v", name, err)
		}
		if members, err := Open("f", data, Options{MaxSize: int64(len(text)) * 7 / 2}); err != nil || len(members) != 3 {
			t.Errorf("three of %s with room for them: %d, %v", name, len(members), err)
		}
	}
	// The members of a package are read one at a time.
	data := packageOf(t, Zstd, "a.ptx", "one", "b.ptx", "two", "c.ptx", "six")
	size := int64(len(textOf("one")))
	for _, test := range []struct {
		limit int64
		read  int
	}{{3 * size, 3}, {3*size - 1, 2}, {size - 1, 0}} {
		x, err := OpenIndex("f", data, Options{MaxSize: test.limit})
		if x == nil {
			t.Fatal(err)
		}
		read := 0
		for i := range x.Members {
			if _, err := x.Read(&x.Members[i]); err == nil {
				read++
			} else if !strings.Contains(err.Error(), "decompresses to more than") {
				t.Error(err)
			}
		}
		if read != test.read {
			t.Errorf("%d members of a package are read with room for %d", read, test.read)
		}
	}
}
