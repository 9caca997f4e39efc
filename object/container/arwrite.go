package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

type arWriter struct {
	// wide is the first offset that does not fit the 32-bit index. It is a field, so that tests
	// need no archive of that size.
	wide    int64
	members []ArchiveMember
	names   []byte   // the // table
	heads   []string // the name field of each header
	symbols int      // in the index
	bytes   int64    // of their names, with the NULs
}

// maxStored is the largest number that the ten digits of a header can hold.
const maxStored = 9_999_999_999

// WriteArchive returns an ar archive in GNU form. It holds no times, users or modes of files, so
// that the output depends on the members only.
//
//  1. The index, if wanted: for each of the Symbols, in the order of the members,
//     the offset of its member. Then the table of long names.
//  2. The members, in the order given.
//  3. If each of them has a Record, the member that holds the records.
//
// WriteArchive sets Name, Offset and Size of the Records to their values in the
// archive.
func WriteArchive(members []ArchiveMember, index bool) ([]byte, error) {
	return (&arWriter{members: members, wide: math.MaxUint32 + 1}).write(index)
}

func (w *arWriter) write(index bool) ([]byte, error) {
	for _, m := range w.members {
		head, err := w.headName(m.Name)
		if err != nil {
			return nil, err
		}
		if int64(len(m.Data)) > maxStored {
			return nil, fmt.Errorf("an archive cannot hold member %q: it has %d bytes, more than %d", m.Name, len(m.Data), int64(maxStored))
		}
		w.heads = append(w.heads, head)
		w.symbols += len(m.Symbols)
		for _, s := range m.Symbols {
			w.bytes += int64(len(s)) + 1
		}
	}
	start := int64(len("!<arch>\n"))
	if len(w.names) > 0 {
		start += arHeader + even(int64(len(w.names)))
	}
	width, indexSize := 4, int64(0)
	if index {
		indexSize = arHeader + w.indexSize(4)
	}
	offsets, end := w.place(start + indexSize)
	if index && len(offsets) > 0 && offsets[len(offsets)-1] >= w.wide {
		width, indexSize = 8, arHeader+w.indexSize(8)
		offsets, end = w.place(start + indexSize)
	}

	head := []byte("!<arch>\n")
	if index {
		head = w.appendIndex(head, offsets, width)
	}
	if len(w.names) > 0 {
		head = fmt.Appendf(head, "%-48s%-10d`\n%s", "//", len(w.names), w.names)
		head = appendEven(head)
	}
	meta := w.meta(offsets, head)
	// The whole size is allocated at once, because an archive that grows by append takes its size
	// once more.
	size := end + arHeader + even(int64(len(meta)))
	if err := infile.Room(size); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, size), head...)
	for i, m := range w.members {
		out = appendMember(out, w.heads[i], m.Data)
	}
	if meta != nil {
		out = appendMember(out, metaName+"/", meta)
	}
	return out, nil
}

func even(n int64) int64 { return n + n%2 }

func appendEven(out []byte) []byte {
	if len(out)%2 == 1 {
		out = append(out, '\n')
	}
	return out
}

func appendMember(out []byte, head string, data []byte) []byte {
	head += strings.Repeat(" ", 16-len(head)) // %-16s would count characters
	out = fmt.Appendf(out, "%s%-12d%-6d%-6d%-8s%-10d`\n", head, 0, 0, 0, "644", len(data))
	return appendEven(append(out, data...))
}

// headName returns the name field of a header: the name, or its offset in the table
// of long names.
func (w *arWriter) headName(name string) (string, error) {
	// These names cannot be stored, because a reader mistakes them for an index, or drops the slash
	// at the end.
	if name == "" || strings.ContainsAny(name, "\n\x00") || strings.HasSuffix(name, "/") || isSymdef(name) {
		return "", fmt.Errorf("an archive cannot hold a member called %q", name)
	}
	if len(name) > maxName {
		return "", fmt.Errorf("an archive cannot hold the member %.40q..., whose name has %d bytes, more than %d", name, len(name), maxName)
	}
	if len(name) < 16 && !strings.ContainsAny(name, "/ ") {
		return name + "/", nil
	}
	head := fmt.Sprintf("/%d", len(w.names))
	w.names = append(w.names, name+"/\n"...)
	return head, nil
}

// indexSize returns the size of the index body, in bytes, with offsets of width
// bytes. It is a multiple of 2, or of 8 in the wide form, like GNU ar's.
func (w *arWriter) indexSize(width int) int64 {
	size := int64(width)*int64(1+w.symbols) + w.bytes
	if width == 8 {
		return (size + 7) &^ 7
	}
	return even(size)
}

// place returns the offsets of the members, the first at start, and their end.
func (w *arWriter) place(start int64) (offsets []int64, end int64) {
	for _, m := range w.members {
		offsets = append(offsets, start)
		start += arHeader + even(int64(len(m.Data)))
	}
	return offsets, start
}

func (w *arWriter) appendIndex(out []byte, offsets []int64, width int) []byte {
	size := w.indexSize(width)
	head := "/"
	if width == 8 {
		head = "/SYM64/"
	}
	number := func(n int64) {
		if width == 8 {
			out = binary.BigEndian.AppendUint64(out, uint64(n))
			return
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	out = fmt.Appendf(out, "%-16s%-12d%-6d%-6d%-8d%-10d`\n", head, 0, 0, 0, 0, size)
	start := len(out)
	number(int64(w.symbols))
	for i, m := range w.members {
		for range m.Symbols {
			number(offsets[i])
		}
	}
	for _, m := range w.members {
		for _, s := range m.Symbols {
			out = append(append(out, s...), 0)
		}
	}
	return append(out, make([]byte, size-int64(len(out)-start))...)
}

// meta returns the body of the member that holds the records, or nil unless every
// member has one: a reader that finds records reads nothing else to learn what the
// archive offers. out is the archive so far.
func (w *arWriter) meta(offsets []int64, out []byte) []byte {
	if len(w.members) == 0 {
		return nil
	}
	var records []byte
	for i, m := range w.members {
		if m.Record == nil {
			return nil
		}
		r := *m.Record
		r.Name, r.Offset, r.Size = m.Name, offsets[i], int64(len(m.Data))
		line, err := r.line()
		if err != nil {
			return nil // JSON cannot represent the name
		}
		records = append(records, line...)
	}
	body := fmt.Appendf(nil, metaFirst+"\n", indexDigest(out[8:offsets[0]], records))
	body = appendEven(append(body, records...))
	return fmt.Appendf(body, metaTrailer, len(body)+trailerSize)
}

// indexDigest returns the digest in metaFirst: of everything between the first line
// of an archive and its first member, and of the records.
func indexDigest(head, records []byte) []byte {
	h := sha256.New()
	h.Write(head)
	h.Write(records)
	return h.Sum(nil)
}

func (r Record) line() ([]byte, error) {
	if !utf8.ValidString(r.Name) {
		return nil, fmt.Errorf("%q is not UTF-8", r.Name)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // so that names of C++ templates stay readable
	err := e.Encode(r)
	return diag.EscapeJSON(b.Bytes()), err
}
