package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ptxlink/internal/parallel"
)

// fuzzLimit is small, so that needless allocations show.
const fuzzLimit = 1 << 18

// allocated returns the number of bytes that this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// tooLong reports whether the fuzzer has found an input that takes long. Tests have no limits of
// time: they also run on busy machines.
func tooLong(start time.Time) bool {
	return flag.Lookup("test.fuzzworker").Value.String() == "true" && time.Since(start) > 20*time.Second
}

// openBounded opens data and checks the limits for every input: no panic, no more
// than a few seconds in the fuzzer, and allocations, including garbage, of at most 4 times the
// sum of the input and the decompression limit. Added to that are the tables of a
// decoder, and a record and a name for each member.
func openBounded(t *testing.T, data []byte) []Member {
	t.Helper()
	const tables, record = 2 << 20, 512
	from := allocated()
	start := time.Now()
	members, err := Open("f", data, Options{MaxSize: fuzzLimit, Open: func(string, int64) ([]byte, error) { return data, nil }})
	if tooLong(start) {
		t.Errorf("took %v for %d bytes", time.Since(start), len(data))
	}
	limit := uint64(4*(len(data)+fuzzLimit) + tables + record*len(members))
	if bytes.Contains(data, []byte(lz4Magic)) {
		limit += 9 << 20 // blocks of 4 MB, one compressed and one not
	}
	// Allocations elsewhere do not repeat in the next try.
	for try := 0; allocated()-from > limit; try++ {
		if try == 3 {
			t.Errorf("allocates %d bytes for %d bytes, %d members: %v", allocated()-from, len(data), len(members), err)
			break
		}
		from = allocated()
		Open("f", data, Options{MaxSize: fuzzLimit, Open: func(string, int64) ([]byte, error) { return data, nil }})
	}
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Name == "" || e.Text == "") {
		t.Errorf("%#v", err)
	}
	// An archive without members is valid, and it may be compressed.
	if err == nil && len(members) == 0 && !prefixed(data, "!<") && !prefixed(data, "\x1f\x8b") && !prefixed(data, zstdMagic) && !prefixed(data, lz4Magic) {
		t.Error("neither members nor an error")
	}
	total := 0
	names := map[string]bool{}
	for _, m := range members {
		if names[m.Name] {
			t.Errorf("%s twice", m.Name)
		}
		names[m.Name] = true
		if bytes.HasSuffix(m.Text, []byte{0}) {
			t.Errorf("%s ends in a NUL", m.Name)
		}
		total += len(m.Text)
	}
	if total > len(data)+fuzzLimit {
		t.Errorf("%d bytes of PTX in %d bytes that may decompress to %d", total, len(data), fuzzLimit)
	}
	return members
}

// seeds adds to a fuzzer the files of testdata/forms, which real tools wrote, and
// the inputs that the tests create, if they are of one form.
func seeds(f *testing.F, ofForm func(data []byte) bool) {
	n := 0
	add := func(data []byte) {
		if ofForm(data) {
			f.Add(data, byte(0xff))
			n++
		}
	}
	for _, data := range forms() {
		add(data)
	}
	files, _ := filepath.Glob("../../testdata/forms/*/*")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		add(data)
	}
	if n == 0 {
		f.Fatal("no seed has this form")
	}
}

func isArchive(data []byte) bool {
	return prefixed(data, "!<arch>\n") || prefixed(data, "!<thin>\n")
}
func isELF(data []byte) bool     { return prefixed(data, "\x7fELF") }
func isOffload(data []byte) bool { return prefixed(data, offloadMagic) }

func FuzzOpen(f *testing.F) {
	f.Add(zstdStream(one, 16), byte(0))
	f.Add(append(skipped(0, "size"), append(zst(one), zstdStream(two, 1<<20)...)...), byte(0))
	seeds(f, func([]byte) bool { return true })
	f.Fuzz(func(t *testing.T, data []byte, _ byte) {
		openBounded(t, data)
		objectsBounded(t, data)
	})
}

// The fuzzers of one form first repair what a random change breaks, so that the
// code behind it is reached too. The bits of mend select the repairs.

func FuzzAr(f *testing.F) {
	seeds(f, isArchive)
	f.Fuzz(func(t *testing.T, data []byte, mend byte) { openBounded(t, mendArchive(data, mend)) })
}

func mendArchive(data []byte, mend byte) []byte {
	if len(data) < 8 {
		return data
	}
	data = bytes.Clone(data)
	if mend&1 != 0 && !isArchive(data) {
		copy(data, "!<arch>\n")
	}
	for at := 8; at+arHeader <= len(data); {
		head := data[at : at+arHeader]
		if mend&2 != 0 {
			copy(head[58:], "`\n")
		}
		size, err := strconv.Atoi(strings.TrimSpace(string(head[48:58])))
		left := len(data) - at - arHeader
		if err != nil || size < 0 || size > left {
			size = min(int(head[48])*int(head[49])/16, left)
			if mend&4 != 0 {
				copy(head[48:], fmt.Sprintf("%-10d", size))
			}
		}
		if data[2] == 't' && head[0] != '/' {
			size = 0
		}
		at += arHeader + size + size%2
	}
	return data
}

func FuzzFatbin(f *testing.F) {
	seeds(f, IsFatbin)
	ltoIR := make([]byte, 16+minEntry+8)
	copy(ltoIR, fatbinMagic)
	le.PutUint16(ltoIR[6:], 16)
	le.PutUint64(ltoIR[8:], minEntry+8)
	le.PutUint16(ltoIR[16:], fatbinLTO)
	le.PutUint32(ltoIR[20:], minEntry)
	le.PutUint64(ltoIR[24:], 8)
	le.PutUint32(ltoIR[16+0x1c:], 80)
	f.Add(ltoIR, byte(0))
	f.Add(fatbin(concat(fatbinLTO, pad([]byte(ltoMagic)))), byte(0))
	f.Add(fatbin(concat(fatbinELF, pad(bytes.Clone(one)))), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, mend byte) {
		data = mendFatbin(data, mend)
		openBounded(t, data)
		objectsBounded(t, data)
	})
}

// objectsBounded checks the limits of openBounded for Objects, of which each code may be read,
// and that LTO-IR out of a fatbin reads as the same.
func objectsBounded(t *testing.T, data []byte) {
	t.Helper()
	o := Options{MaxSize: fuzzLimit, Open: func(string, int64) ([]byte, error) { return data, nil }}
	from := allocated()
	objects, err := Objects("f", data, o)
	if err != nil && (err.(*Error).Name == "" || err.(*Error).Text == "") {
		t.Errorf("%#v", err)
	}
	const some, record = 2 << 20, 1024
	n, total := 0, 0
	for _, object := range objects {
		n += len(object.Codes)
	}
	limit := uint64(4*(len(data)+fuzzLimit) + some + record*n)
	for try := 0; allocated()-from > limit; try++ {
		if try == 3 {
			t.Errorf("allocates %d bytes for %d codes in %d bytes: %v", allocated()-from, n, len(data), err)
			break
		}
		from = allocated()
		Objects("f", data, o)
	}
	HostSymbols("f", data, o, func(object, symbol string) {})
	for _, object := range objects {
		for _, c := range object.Codes {
			text, err := c.Bytes()
			if err != nil && (err.(*Error).Name == "" || err.(*Error).Text == "") {
				t.Errorf("%#v", err)
			}
			total += len(text)
			if err != nil || c.Form != LTOIR || !IsFatbin(text) {
				continue
			}
			again, err := Objects("f", text, o)
			if err != nil || len(again) != 1 || len(again[0].Codes) != 1 || again[0].Codes[0].Target != c.Target {
				t.Errorf("%+v alone: %+v, %v", c, again, err)
				continue
			}
			if same, _ := again[0].Codes[0].Bytes(); !bytes.Equal(same, text) {
				t.Errorf("%s: %d bytes, alone %d", c.Target, len(text), len(same))
			}
		}
	}
	if total > 2*len(data)+fuzzLimit {
		t.Errorf("%d bytes of code in %d bytes that may decompress to %d", total, len(data), fuzzLimit)
	}
}

func mendFatbin(data []byte, mend byte) []byte {
	if len(data) < 16 {
		return data
	}
	data = bytes.Clone(data)
	if mend&1 != 0 {
		copy(data, fatbinMagic)
	}
	header := uint64(le.Uint16(data[6:]))
	if mend&2 != 0 && (header < 16 || header > uint64(len(data))) {
		header = 16
		le.PutUint16(data[6:], 16)
	}
	if mend&4 != 0 && header <= uint64(len(data)) && le.Uint64(data[8:]) > uint64(len(data))-header {
		le.PutUint64(data[8:], uint64(len(data))-header)
	}
	for at := header; at < uint64(len(data)) && uint64(len(data))-at >= minEntry; {
		b := data[at:]
		e := readFatbinEntry(b)
		header := uint64(e.Header)
		if mend&8 != 0 && (header < minEntry || header > uint64(len(b))) {
			header = minEntry + header%uint64(len(b)-minEntry+1)
			le.PutUint32(b[4:], uint32(header))
		}
		if header > uint64(len(b)) {
			break
		}
		if mend&16 != 0 && e.Padded > uint64(len(b))-header {
			e.Padded %= uint64(len(b)) - header + 1
			le.PutUint64(b[8:], e.Padded)
		}
		if mend&32 != 0 && uint64(e.Packed) > e.Padded {
			le.PutUint32(b[0x10:], uint32(e.Padded))
		}
		if e.Padded > uint64(len(b)) || header+e.Padded == 0 {
			break
		}
		at += header + e.Padded
	}
	return data
}

func FuzzELF(f *testing.F) {
	seeds(f, isELF)
	f.Add(ldr("__nv_relfatbin", one, "__nv_module_id", []byte("_1_a_cu\x00def _2_b_cu")), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, mend byte) {
		data = mendELF(data, mend)
		openBounded(t, data)
		objectsBounded(t, data)
		hostObjectsBounded(t, data)
	})
}

func mendELF(data []byte, mend byte) []byte {
	if len(data) < 64 {
		return data
	}
	data = bytes.Clone(data)
	if mend&1 != 0 {
		copy(data, "\x7fELF\x02\x01\x01")
		le.PutUint32(data[20:], 1)
	}
	if mend&2 != 0 {
		le.PutUint16(data[52:], 64)
		le.PutUint16(data[54:], 56)
		le.PutUint16(data[58:], 64)
	}
	shoff, n := le.Uint64(data[40:]), uint64(le.Uint16(data[60:]))
	if mend&4 != 0 {
		if most := uint64(len(data)) / 64; n > most {
			n = most
			le.PutUint16(data[60:], uint16(n))
		}
		if shoff > uint64(len(data))-64*n {
			shoff = uint64(len(data)) - 64*n
			le.PutUint64(data[40:], shoff)
		}
		if i := uint64(le.Uint16(data[62:])); n > 0 && i >= n {
			le.PutUint16(data[62:], uint16(i%n))
		}
		if le.Uint64(data[32:]) > uint64(len(data)) {
			le.PutUint64(data[32:], 0)
			le.PutUint16(data[56:], 0)
		}
	}
	for i := range n {
		s, ok := span(data, shoff+64*i, 64)
		if !ok || mend&8 == 0 {
			break
		}
		off, size := le.Uint64(s[24:]), le.Uint64(s[32:])
		if off > uint64(len(data)) {
			off %= uint64(len(data))
			binary.LittleEndian.PutUint64(s[24:], off)
		}
		if size > uint64(len(data))-off {
			le.PutUint64(s[32:], uint64(len(data))-off)
		}
	}
	return data
}

// FuzzCOFF reads objects and programs for Windows, whose headers differ.
func FuzzCOFF(f *testing.F) {
	seeds(f, func(data []byte) bool { return isCOFF(data) || prefixed(data, "MZ") || prefixed(data, anonymous) })
	f.Fuzz(func(t *testing.T, data []byte, mend byte) { openBounded(t, mendCOFF(data, mend)) })
}

func mendCOFF(data []byte, mend byte) []byte {
	if len(data) < 0x80 {
		return data
	}
	data = bytes.Clone(data)
	head, sections, count := uint64(0), uint64(coffHeader), uint64(0)
	switch {
	case prefixed(data, anonymous):
		if mend&1 != 0 {
			le.PutUint16(data[4:], 2)
			copy(data[12:], bigObject)
		}
		sections, count = bigHeader, uint64(le.Uint32(data[44:]))
	case prefixed(data, "MZ"):
		if mend&1 != 0 && uint64(le.Uint32(data[0x3c:])) > uint64(len(data))-24 {
			le.PutUint32(data[0x3c:], 0x40)
		}
		at := uint64(le.Uint32(data[0x3c:]))
		if at > uint64(len(data))-24 {
			return data
		}
		copy(data[at:], peMagic)
		head = at + 4
		sections, count = head+coffHeader+uint64(le.Uint16(data[head+16:])), uint64(le.Uint16(data[head+2:]))
	default:
		if mend&1 != 0 {
			le.PutUint16(data, 0x8664)
			le.PutUint16(data[16:], 0)
		}
		count = uint64(le.Uint16(data[2:]))
	}
	if mend&2 != 0 && !prefixed(data, anonymous) && count > uint64(len(data))/coffSection {
		count = 1
		le.PutUint16(data[head+2:], 1)
	}
	for i := range count {
		s, ok := span(data, sections+coffSection*i, coffSection)
		if !ok {
			break
		}
		if mend&4 != 0 && s[0]%2 != 0 {
			copy(s, ".nv_fatb")
		}
		if mend&8 != 0 {
			if le.Uint32(s[20:]) > uint32(len(data)) {
				le.PutUint32(s[20:], le.Uint32(s[20:])%uint32(len(data)))
			}
			if left := uint32(len(data)) - le.Uint32(s[20:]); le.Uint32(s[16:]) > left {
				le.PutUint32(s[16:], left)
			}
		}
	}
	return data
}

func FuzzOffload(f *testing.F) {
	seeds(f, isOffload)
	f.Fuzz(func(t *testing.T, data []byte, mend byte) { openBounded(t, mendOffload(data, mend)) })
}

func mendOffload(data []byte, mend byte) []byte {
	data = bytes.Clone(data)
	for at := 0; at+40 <= len(data); {
		b := data[at:]
		if mend&1 != 0 {
			copy(b, offloadMagic)
			le.PutUint32(b[4:], le.Uint32(b[4:])%5)
		}
		size := le.Uint64(b[8:])
		if size < 32 || size > uint64(len(b)) {
			if mend&2 == 0 {
				break
			}
			size = uint64(len(b))
			le.PutUint64(b[8:], size)
		}
		b = b[:size]
		at += int(size)
		if len(b) < 80 {
			continue
		}
		within := func(field []byte, limit uint64) {
			if mend&4 != 0 && le.Uint64(field) >= limit {
				le.PutUint64(field, le.Uint64(field)%limit)
			}
		}
		within(b[16:], size-40)
		entry, ok := span(b, le.Uint64(b[16:]), offloadEntry)
		if !ok {
			continue
		}
		within(entry[8:], size)
		within(entry[16:], 8)
		within(entry[24:], size)
		if image := le.Uint64(entry[24:]); image < size {
			within(entry[32:], size-image+1)
		}
	}
	return data
}

// FuzzPackage reads archives with an index and with metadata, which the fuzzer
// changes separately, through OpenIndex and through Open. Every member from Read is
// also a member from Open.
func FuzzPackage(f *testing.F) {
	for _, data := range [][]byte{packageOf(f, Plain, "a.ptx", "f", "b.ptx", "g"), packageOf(f, Zstd, "a.ptx", "f", "b.ptx", "g"), packageOf(f, Plain, "a.ptx", "one", "a_long_name_for_a_member.ptx", "two", "a.ptx", "three")} {
		if x, err := OpenIndex("f", data, Options{}); x == nil {
			f.Fatal("a seed is no package: ", err)
		}
		f.Add(data, byte(0xff))
		f.Add(bytes.ReplaceAll(data, []byte(`.ptx","offset":330,`), []byte(`.ptx","offset":3300,`)), byte(0xff)) // behind the end
	}
	f.Fuzz(func(t *testing.T, data []byte, mend byte) {
		data = mendPackage(data, mend)
		byName := map[string]Member{}
		for _, m := range openBounded(t, data) {
			byName[m.Name] = m
		}
		from, start := allocated(), time.Now()
		x, err := OpenIndex("f", data, Options{MaxSize: fuzzLimit})
		if err != nil && x != nil {
			t.Fatal(x, err)
		}
		if x == nil {
			return
		}
		chained := chained(x)
		for i := range x.Members {
			if i == 100 {
				break
			}
			m, err := x.Read(&x.Members[i])
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%#v", err)
			}
			if err != nil {
				continue
			}
			// The metadata may omit members; then their names count.
			name, _, _ := strings.Cut(m.Name, "#")
			found := false
			for full, other := range byName {
				full, _, _ = strings.Cut(full, "#")
				found = found || full == name && bytes.Equal(other.Text, m.Text)
			}
			if !found && len(byName) > 0 && chained { // otherwise another member is damaged
				t.Errorf("Open does not give the member %s that the index has", m.Name)
			}
		}
		if tooLong(start) {
			t.Errorf("took %v for %d bytes", time.Since(start), len(data))
		}
		if n, limit := allocated()-from, uint64(4*len(data)+min(len(x.Members), 100)*(fuzzLimit+4*len(data))+4<<20); n > limit {
			t.Errorf("allocates %d bytes for %d bytes, %d members", n, len(data), len(x.Members))
		}
	})
}

// chained reports whether the headers of all members are those of the records, and lead
// from one member to the next. OpenIndex looks at the first and the last.
func chained(x *Index) bool {
	next := int64(-1)
	for i := range x.lines {
		var r Record
		fault := parallel.Catch[*Error](func() {
			r = x.record(i)
			x.verify(r)
		})
		if fault != nil || next >= 0 && r.Offset != next {
			return false
		}
		next = r.Offset + arHeader + r.Size + r.Size%2
	}
	return true
}

// mendPackage corrects the sizes in an archive, including the last line, gives the / index
// the offsets that the metadata has, and corrects the digest of both.
func mendPackage(data []byte, mend byte) []byte {
	data = mendArchive(data, mend)
	first, last := 0, 0
	for at := 8; at+arHeader <= len(data); {
		last = at
		if first == 0 && data[at] != '/' {
			first = at
		}
		size, err := strconv.Atoi(strings.TrimSpace(string(data[at+48 : at+58])))
		if err != nil || size < 0 {
			break
		}
		at += arHeader + size + size%2
	}
	if size := len(data) - last - arHeader; mend&8 != 0 && last > 0 && size >= trailerSize {
		copy(data[last:], head(metaName+"/", size))
		copy(data[len(data)-trailerSize:], fmt.Sprintf(metaTrailer, size))
		body := data[last+arHeader : len(data)-trailerSize]
		if mend&16 != 0 && first > 8+arHeader {
			indexAsMetadata(data[8+arHeader:first], body)
		}
		if line, records, ok := bytes.Cut(body, []byte("\n")); ok && first > 0 && len(line) == len(fmt.Sprintf(metaFirst, [32]byte{})) {
			copy(body, fmt.Sprintf(metaFirst, indexDigest(data[8:first], records)))
		}
	}
	return data
}

// indexAsMetadata gives the names of a / index the offsets in the lines of the metadata, which ascend.
func indexAsMetadata(armap, metadata []byte) {
	var offsets []uint64
	for line := range bytes.Lines(metadata) {
		_, rest, _ := bytes.Cut(line, []byte(`,"offset":`))
		digits, _, _ := bytes.Cut(rest, []byte(","))
		if n, err := strconv.ParseUint(string(digits), 10, 32); err == nil {
			offsets = append(offsets, n)
		}
	}
	slices.Sort(offsets)
	for i := range min(len(offsets), len(armap)/4-1) {
		binary.BigEndian.PutUint32(armap[4*(i+1):], uint32(offsets[i]))
	}
}
