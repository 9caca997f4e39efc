package container

import (
	"bytes"
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

	"ptxlink/internal/hashed"
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
	same  []int32 // by line: 1 for the first member of its name, 2 for the second
}

// Indexed is a member of a package that has not been read.
type Indexed struct {
	Defines []string // names it defines for others, including .common ones
	offset  int64    // of its header
}

// stale returns the error for an index that does not match the package: another ar
// or an editor has changed the file.
func stale(name string, format string, args ...any) *Error {
	return &Error{Name: name, Offset: -1, Text: fmt.Sprintf(format, args...), Stale: true}
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
	if o.MaxSize <= 0 {
		o.MaxSize = DefaultMaxSize
	}
	x := &Index{Options: o, name: name, data: data}
	start, length := x.findMetadata()
	head, armap, wide := x.armap(start)
	if head == nil {
		return nil, nil
	}
	if err := x.records(data[start+arHeader:][:length], head); err != nil || len(x.lines) == 0 {
		return nil, err
	}
	first, err := x.record(0)
	if err != nil {
		return nil, err
	}
	last, err := x.record(len(x.lines) - 1)
	if err != nil {
		return nil, err
	}
	if end := last.Offset + arHeader + last.Size; first.Offset != int64(8+len(head)) || end+end%2 != start {
		return nil, stale(name, "its metadata does not fit its members")
	}
	for _, r := range []Record{first, last} {
		if err := x.verify(r); err != nil {
			return nil, err
		}
	}
	if err := x.offers(armap, wide); err != nil {
		return nil, err
	}
	return x, nil
}

// verify returns an error if the header of a member is not what its record says, or the member
// is cut short.
func (x *Index) verify(r Record) error {
	name, size, ok := x.header(r.Offset)
	if ok {
		h := arEntry{name: name}
		full, bad := h.longName(x.names, place{name: x.name})
		ok = bad == nil && full == r.Name && size == r.Size
	}
	if !ok {
		return stale(x.name, "its metadata has another member %s than there is", r.Name)
	}
	return nil
}

// header reads the header of the member at an offset. ok is false if there is no header, or if the
// file ends before the member does.
func (x *Index) header(at int64) (name string, size int64, ok bool) {
	if at > int64(len(x.data))-arHeader {
		return "", 0, false
	}
	h, err := arMember(x.data, int(at), place{}, false)
	return h.name, int64(len(h.body)), err == nil
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
	length, _ = strconv.ParseInt(string(bytes.TrimLeft(digits, " ")), 10, 64) // 0, or more than any file, if it is no number
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
// PTX only. A tool that changes the members drops the index at the start, or hides the end.
func IsPackage(data []byte) bool {
	x := &Index{data: data}
	if _, length := x.findMetadata(); length == 0 {
		return false
	}
	name, _, ok := x.header(8)
	return ok && isIndex(name)
}

// isIndex reports whether a member is the index of an archive.
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
func (x *Index) records(meta, head []byte) error {
	first, rest, _ := bytes.Cut(meta[:len(meta)-trailerSize], []byte("\n"))
	if !prefixed(first, metaMark) {
		return stale(x.name, "its metadata is of another version of ptxlink, or none")
	}
	x.lines = make([][]byte, 0, bytes.Count(rest, []byte("\n"))+1)
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if len(line) > 0 {
			x.lines = append(x.lines, line)
		}
	}
	// An extra newline makes the size even.
	for _, records := range [][]byte{rest, bytes.TrimSuffix(rest, []byte("\n"))} {
		if string(first) == fmt.Sprintf(metaFirst, indexDigest(head, records)) {
			return nil
		}
	}
	return stale(x.name, "its index is damaged")
}

func (x *Index) record(line int) (Record, error) {
	var r Record
	if err := json.Unmarshal(x.lines[line], &r); err != nil {
		return r, stale(x.name, "its metadata is damaged: %v", err)
	}
	if r.Offset < 0 || r.Size < 0 || r.Bytes < 0 || r.Offset > 1<<62 || r.Size > 1<<62 {
		return r, stale(x.name, "its metadata is damaged")
	}
	return r, nil
}

// line finds the metadata of a member. Lines are in file order, and only those that
// are looked at are read.
func (x *Index) line(m *Indexed) (line int, r Record, err error) {
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
	if line == len(x.lines) || at(line) != m.offset {
		return 0, r, stale(x.name, "its / index and its metadata differ")
	}
	r, err = x.record(line)
	return line, r, err
}

// offers groups the names of the / index by member.
func (x *Index) offers(armap []byte, wide bool) error {
	width := 4
	if wide {
		width = 8
	}
	damaged := stale(x.name, "its / index is damaged")
	number := func(at int) int64 {
		if wide {
			return int64(binary.BigEndian.Uint64(armap[at:]))
		}
		return int64(binary.BigEndian.Uint32(armap[at:]))
	}
	if len(armap) < width {
		return damaged
	}
	count := number(0)
	if count < 0 || count > int64(len(armap)/(width+1)) {
		return damaged
	}
	words := string(armap[width*int(1+count):])
	names := make([]string, 0, count)
	x.Members = make([]Indexed, 0, min(int(count), len(x.lines)))
	previous := int64(-1)
	for i := range int(count) {
		name, rest, ok := strings.Cut(words, "\x00")
		offset := number(width * (1 + i))
		if !ok || name == "" || offset < previous {
			return damaged
		}
		words = rest
		if offset != previous {
			x.Members = append(x.Members, Indexed{offset: offset})
			previous = offset
		}
		names = append(names, name)
		m := &x.Members[len(x.Members)-1]
		m.Defines = names[len(names)-len(m.Defines)-1:]
	}
	return nil
}

// Record returns the record of a member.
func (x *Index) Record(m *Indexed) (Record, error) {
	_, r, err := x.line(m)
	return r, err
}

// Read reads a member and checks it against its record. It may be called by several
// goroutines at once.
func (x *Index) Read(m *Indexed) (Member, error) {
	line, r, err := x.line(m)
	if err != nil {
		return Member{}, err
	}
	if err := x.verify(r); err != nil {
		return Member{}, err
	}
	text := x.data[r.Offset+arHeader:][:r.Size]
	p := place{name: x.memberName(r.Name, line)}
	if prefixed(text, zstdMagic) {
		op := &opener{Options: x.Options, left: x.MaxSize - x.unfolded.Load()}
		var fault *Error
		if text, fault = op.decompress(text, p, 0, -1, zstdCodec); fault != nil {
			return Member{}, fault
		}
		if x.unfolded.Add(int64(len(text))) > x.MaxSize { // checked again: members are read in parallel
			return Member{}, op.bomb(p, 0)
		}
	}
	if digest := sha256.Sum256(text); hex.EncodeToString(digest[:]) != r.SHA256 {
		return Member{}, stale(x.name, "its member %s was changed after the index was made", r.Name)
	}
	if text = trimNUL(text); bytes.IndexByte(text, 0) >= 0 || !looksLikePTX(text) {
		return Member{}, stale(x.name, "its member %s is not one PTX module", r.Name)
	}
	return Member{
		Name: p.name, Text: text, Archive: true,
		OS: r.OS, Arch: r.Arch, Model: r.Model, AddressSize: r.AddressSize,
	}, nil
}

// memberName returns the name that Open gives the member: the second of one name
// ends in #2.
func (x *Index) memberName(name string, line int) string {
	x.count.Do(func() {
		// The name is the first field of a line.
		first := func(line []byte) []byte {
			name, _, _ := bytes.Cut(line, []byte(`,"offset":`))
			return name
		}
		var seen hashed.Table
		var latest []int32 // by number of a name: the last line with it
		x.same = make([]int32, len(x.lines))
		for i, line := range x.lines {
			name := first(line)
			hash := hashed.Bytes(name)
			n := seen.Find(hash, func(n int32) bool { return bytes.Equal(first(x.lines[latest[n]]), name) })
			if n < 0 {
				n = seen.Add(hash)
				latest = append(latest, int32(i))
			}
			x.same[i] = x.same[latest[n]] + 1
			latest[n] = int32(i)
		}
	})
	full := x.name + "(" + name + ")"
	if same := x.same[line]; same > 1 {
		full += "#" + strconv.Itoa(int(same))
	}
	return full
}

// describe sets the hosts of the members of an archive, which start at first, from
// its metadata. It matches them by digest, as the archive may have changed since.
func (op *opener) describe(meta []byte, first int) {
	// Only these fields are read: decoded lists of names take more memory than
	// their text.
	type record struct {
		SHA256, OS, Arch, Model string
	}
	hosts := map[string]record{} // by digest
	for line := range bytes.Lines(meta) {
		var r record
		if json.Unmarshal(line, &r) == nil && (r.OS != "" || r.Arch != "" || r.Model != "") {
			hosts[r.SHA256] = r
		}
	}
	if len(hosts) == 0 {
		return
	}
	for i := first; i < len(op.members); i++ {
		m := &op.members[i]
		digest := sha256.Sum256(m.Text)
		if r, ok := hosts[hex.EncodeToString(digest[:])]; ok {
			m.OS, m.Arch, m.Model = r.OS, r.Arch, r.Model
		}
	}
}
