package container

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"ptxlink/internal/parallel"
)

// Index is the index of a package: the names that its members define, known without
// reading them. Only Read may be called from several goroutines.
type Index struct {
	Options
	// Members are the members that define something for others, in file order.
	Members []Indexed

	name  string
	data  []byte   // of the package
	names []byte   // the // table
	lines [][]byte // of the metadata, one per member, in file order

	unfolded atomic.Int64 // total size of decompressed members, which MaxSize limits

	count sync.Once
	same  []int // by line: 1 for the first member of its name, 2 for the second
}

// Indexed is a member of a package that has not been read.
type Indexed struct {
	Defines []string // names it defines for others, including .common ones
	offset  int64    // of its header
}

// need ends the reading of an index that does not match the package, unless ok: another ar
// or an editor has changed the file.
func (x *Index) need(ok bool, format string, args ...any) {
	if !ok {
		panic(&Error{Name: x.name, Offset: -1, Text: fmt.Sprintf(format, args...), Stale: true})
	}
}

// OpenIndex reads the index of a package. It returns nil if data has none: it is not a
// package, or another tool wrote it. Open reads such files. Errors are of type *Error and Stale.
//
//  1. The metadata is found from the end of the file, so a tool that appends a
//     member hides it.
//  2. The / index must be the first member. Every ar that rewrites an archive of
//     PTX drops it.
//  3. The metadata has a digest of the index and of itself, so that damage is
//     noticed before it hides a definition.
//  4. The records of the first and the last member must match their headers. Read checks
//     the record of the member it reads, including its digest. No other header is looked
//     at: on a cold disk that would cost as much as reading the members.
func OpenIndex(name string, data []byte, o Options) (*Index, error) {
	o.MaxSize = cmp.Or(max(o.MaxSize, 0), DefaultMaxSize)
	x := &Index{Options: o, name: name, data: data}
	if found, err := parallel.CatchValue[*Error](x.read); !found {
		return nil, err
	}
	return x, nil
}

// read reads the index, and reports whether the package has one.
func (x *Index) read() bool {
	start, length := x.findMetadata()
	head, armap, wide := x.armap(start)
	if head == nil {
		return false
	}
	if x.records(x.data[start+arHeader:][:length], head); len(x.lines) == 0 {
		return false
	}
	first, last := x.record(0), x.record(len(x.lines)-1)
	end := last.Offset + arHeader + last.Size
	x.need(first.Offset == int64(8+len(head)) && end+end%2 == start, "its metadata does not fit its members")
	x.verify(first)
	x.verify(last)
	x.offers(armap, wide)
	return true
}

// verify checks that the header of a member is what its record says, and that the member is not
// cut short.
func (x *Index) verify(r Record) {
	name, size, ok := x.header(r.Offset)
	if ok {
		h, full := arEntry{name: name}, ""
		ok = parallel.Catch[*Error](func() { full = h.longName(x.names, place{Member: Member{Name: x.name}}) }) == nil && full == r.Name && size == r.Size
	}
	x.need(ok, "its metadata has another member %s than there is", r.Name)
}

// header reads the header of the member at an offset. ok is false if it has no header, or if the
// file ends before the member does.
func (x *Index) header(at int64) (name string, size int64, ok bool) {
	if at > int64(len(x.data))-arHeader {
		return "", 0, false
	}
	h := arEntry{at: int(at)}
	fault := parallel.Catch[*Error](func() { h.read(x.data, nil, place{}, false) })
	return h.name, int64(len(h.body)), fault == nil
}

// findMetadata returns the place and the length of the last member, which has the metadata, by
// the size in its last line. Both are 0 if the file does not end with it.
func (x *Index) findMetadata() (start, length int64) {
	size := int64(len(x.data))
	if size < 8+2*arHeader+trailerSize || !prefixed(x.data, "!<arch>\n") {
		return 0, 0
	}
	digits := bytes.TrimPrefix(x.data[size-trailerSize:], []byte(`{"size":`))
	digits = bytes.TrimSuffix(digits, []byte("}\n"))
	length, _ = strconv.ParseInt(string(bytes.TrimLeft(digits, " ")), 10, 64) // 0, or more than any file, if it is not a number
	start = size - length - arHeader
	if length < trailerSize || start < 8+arHeader {
		return 0, 0
	}
	if name, stored, ok := x.header(start); !ok || name != metaName+"/" || stored != length {
		return 0, 0
	}
	return start, length
}

// IsPackage reports whether a file begins and ends as a package of ptxlink ar does, which holds
// PTX only. That is enough, because a tool that changes the members drops the index at the start,
// or hides the end.
func IsPackage(data []byte) bool {
	x := &Index{data: data}
	if _, length := x.findMetadata(); length == 0 {
		return false
	}
	name, _, ok := x.header(8)
	return ok && isIndex(name)
}

func isIndex(name string) bool { return name == "/" || name == "/SYM64/" }

// armap reads the / index, and the table of long names if there is one. head is all
// of it, with the headers, up to the first member. It is nil if the archive has no index
// before end.
func (x *Index) armap(end int64) (head, body []byte, wide bool) {
	name, size, ok := x.header(8)
	names := 8 + arHeader + even(size)
	if !ok || !isIndex(name) || names > end {
		return nil, nil, false
	}
	body = x.data[8+arHeader:][:size]
	next := names
	if name, size, ok := x.header(names); ok && name == "//" && names+arHeader+even(size) <= end {
		next += arHeader + even(size)
		x.names = x.data[names+arHeader:][:size]
	}
	return x.data[8:next], body, name == "/SYM64/"
}

// records splits the metadata into lines. head is all before the first member.
func (x *Index) records(meta, head []byte) {
	first, rest, _ := bytes.Cut(meta[:len(meta)-trailerSize], []byte("\n"))
	x.need(prefixed(first, metaMark), "its metadata is of another version of ptxlink, or none")
	x.lines = make([][]byte, 0, bytes.Count(rest, []byte("\n"))+1)
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if len(line) > 0 {
			x.lines = append(x.lines, line)
		}
	}
	digest := func(records []byte) string { return fmt.Sprintf(metaFirst, indexDigest(head, records)) }
	// An extra newline makes the size even.
	x.need(string(first) == digest(rest) || string(first) == digest(bytes.TrimSuffix(rest, []byte("\n"))), "its index is damaged")
}

func (x *Index) record(line int) (r Record) {
	err := json.Unmarshal(x.lines[line], &r)
	x.need(err == nil, "its metadata is damaged: %v", err)
	x.need(0 <= r.Offset && r.Offset <= 1<<62 && 0 <= r.Size && r.Size <= 1<<62 && r.Bytes >= 0, "its metadata is damaged")
	return r
}

// line finds the metadata of a member. It reads only the lines that a binary search looks at, since
// the lines are in file order.
func (x *Index) line(m *Indexed) (line int, r Record) {
	at := func(i int) int64 {
		_, rest, _ := bytes.Cut(x.lines[i], []byte(`,"offset":`))
		end := bytes.IndexByte(rest, ',')
		n, err := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	line = sort.Search(len(x.lines), func(i int) bool { return at(i) >= m.offset })
	x.need(line < len(x.lines) && at(line) == m.offset, "its / index and its metadata differ")
	return line, x.record(line)
}

// offers groups the names of the / index by member.
func (x *Index) offers(armap []byte, wide bool) {
	width := 4
	if wide {
		width = 8
	}
	need := func(ok bool) { x.need(ok, "its / index is damaged") }
	number := func(at int) int64 {
		if wide {
			return int64(binary.BigEndian.Uint64(armap[at:]))
		}
		return int64(binary.BigEndian.Uint32(armap[at:]))
	}
	need(len(armap) >= width)
	count := number(0)
	need(0 <= count && count <= int64(len(armap)/(width+1)))
	words := string(armap[width*int(1+count):])
	names := make([]string, 0, count)
	x.Members = make([]Indexed, 0, min(int(count), len(x.lines)))
	previous := int64(-1)
	for i := range int(count) {
		name, rest, ok := strings.Cut(words, "\x00")
		offset := number(width * (1 + i))
		need(ok && name != "" && offset >= previous)
		words = rest
		if offset != previous {
			x.Members = append(x.Members, Indexed{offset: offset})
			previous = offset
		}
		names = append(names, name)
		m := &x.Members[len(x.Members)-1]
		m.Defines = names[len(names)-len(m.Defines)-1:]
	}
}

// Record returns the record of a member.
func (x *Index) Record(m *Indexed) (Record, error) {
	return parallel.CatchValue[*Error](func() Record { _, r := x.line(m); return r })
}

// Read reads a member and checks it against its record. It may be called by several
// goroutines at once.
func (x *Index) Read(m *Indexed) (Member, error) {
	return parallel.CatchValue[*Error](func() Member { return x.member(m) })
}

func (x *Index) member(m *Indexed) Member {
	line, r := x.line(m)
	x.verify(r)
	text := x.data[r.Offset+arHeader:][:r.Size]
	p := place{Member: Member{Name: x.memberName(r.Name, line)}}
	if prefixed(text, zstdMagic) {
		op := &opener{Options: x.Options, left: x.MaxSize - x.unfolded.Load()}
		text = op.decompress(text, p, 0, -1, zstdCodec)
		op.needLeft(x.unfolded.Add(int64(len(text))) <= x.MaxSize, p, 0) // checked again, because members are read in parallel
	}
	digest := sha256.Sum256(text)
	x.need(hex.EncodeToString(digest[:]) == r.SHA256, "its member %s was changed after the index was made", r.Name)
	text = trimNUL(text)
	x.need(bytes.IndexByte(text, 0) < 0 && looksLikePTX(text), "its member %s is not one PTX module", r.Name)
	return Member{
		Name: p.Name, Text: text, Archive: true,
		OS: r.OS, Arch: r.Arch, Model: r.Model, AddressSize: r.AddressSize,
	}
}

// memberName returns the name that Open gives the member: the second of one name
// ends in #2.
func (x *Index) memberName(name string, line int) string {
	x.count.Do(func() {
		seen := make(map[string]int, len(x.lines))
		for _, line := range x.lines {
			name, _, _ := bytes.Cut(line, []byte(`,"offset":`)) // the first field
			seen[string(name)]++
			x.same = append(x.same, seen[string(name)])
		}
	})
	full := x.name + "(" + name + ")"
	if same := x.same[line]; same > 1 {
		full += "#" + strconv.Itoa(same)
	}
	return full
}

// hostRecord holds the fields of a Record that hostsIn needs: decoded lists of names take more
// memory than their text.
type hostRecord struct{ SHA256, OS, Arch, Model string }

// hostsIn returns what the metadata of a package records of the hosts of its members, by digest.
func hostsIn(meta []byte) map[string]hostRecord {
	hosts := map[string]hostRecord{}
	for line := range bytes.Lines(meta) {
		var r hostRecord
		if json.Unmarshal(line, &r) == nil && (r.OS != "" || r.Arch != "" || r.Model != "") {
			hosts[r.SHA256] = r
		}
	}
	return hosts
}

// describe sets the host of a member of a package. It finds the record by digest, as the archive may have
// changed since.
func (p place) describe(m *Member) {
	if len(p.hosts) == 0 {
		return
	}
	digest := sha256.Sum256(m.Text)
	if r, ok := p.hosts[hex.EncodeToString(digest[:])]; ok {
		m.OS, m.Arch, m.Model = r.OS, r.Arch, r.Model
	}
}
