package container

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// ArchiveMember is a member of an ar archive as it is stored.
type ArchiveMember struct {
	Name string
	Data []byte // nil in a thin archive. It shares memory with the data given to ReadArchive
	Size int64  // bytes of Data, or of the file that a thin archive names

	// What the header says; WriteArchive writes 0 and 0644 for all of them.
	Mode     uint32
	UID, GID int
	Time     int64 // seconds since 1970

	// For WriteArchive: the names that the index lists for the member, and, if
	// it is one PTX text, what a package records of it.
	Symbols []string
	Record  *Record
}

// Archive is an ar archive, its indexes and its table of names left out.
type Archive struct {
	Members []ArchiveMember
	Records []Record // what the archive says of its members if it is a package; nothing vouches for it
	Thin    bool     // the members are files of their own, which nobody has read
}

// IsArchive says that data begins as an ar archive does.
func IsArchive(data []byte) bool { return prefixed(data, "!<arch>\n") || prefixed(data, "!<thin>\n") }

// ReadArchive reads all members of an ar archive, whatever they hold. name is
// what messages call it. An error is an *Error.
func ReadArchive(name string, data []byte) (Archive, error) {
	a, err := readArchive(name, data)
	if err != nil {
		return Archive{}, err
	}
	return a, nil
}

func readArchive(name string, data []byte) (a Archive, err *Error) {
	p := place{name: name, path: name}
	if !IsArchive(data) {
		return a, p.fault(-1, "not an archive")
	}
	a.Thin = prefixed(data, "!<thin>\n")
	var names []byte // the // table
	for at := 8; at < len(data); {
		h, err := arMember(data, at, p, a.Thin)
		if err != nil {
			return a, h.named(err, names, p)
		}
		at = h.next
		switch {
		case h.name == "//" || h.name == "ARFILENAMES/":
			names = h.body
			continue
		case strings.HasPrefix(h.name, "/") && (len(h.name) == 1 || h.name[1] < '0' || h.name[1] > '9'):
			continue
		}
		if h.name, err = h.longName(names, p); err != nil {
			return a, err
		}
		if isSymdef(h.name) {
			continue
		}
		m := ArchiveMember{Name: h.name, Data: h.body}
		m.readHeader(data[h.at : h.at+arHeader])
		if !a.Thin {
			m.Size = int64(len(m.Data))
		}
		if isMeta(h.name, m.Data) {
			a.Records = readRecords(m.Data)
		}
		a.Members = append(a.Members, m)
	}
	return a, nil
}

// readHeader reads what only a listing shows; what is no number counts as 0.
func (m *ArchiveMember) readHeader(head []byte) {
	number := func(from, to, base int) int64 {
		n, _ := strconv.ParseInt(string(bytes.TrimSpace(head[from:to])), base, 64)
		return n
	}
	m.Time, m.UID, m.GID, m.Mode = number(16, 28, 10), int(number(28, 34, 10)), int(number(34, 40, 10)), uint32(number(40, 48, 8))
	m.Size = number(48, 58, 10)
}

// readRecords reads the records of a package for an edit, which compares them
// with the members; so offsets that no longer fit do no harm.
func readRecords(body []byte) (list []Record) {
	if !prefixed(body, metaMark) {
		return nil
	}
	for line := range bytes.Lines(body) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.Name != "" {
			list = append(list, r)
		}
	}
	return list
}

// IsPTX says that the text begins as a module does. Open takes a file that is no
// container for PTX, so that the parser says what is wrong with it.
func (m Member) IsPTX() bool { return looksLikePTX(m.Text) }

// IsMeta says that the member is the one in which a package tells of the others.
func (m ArchiveMember) IsMeta() bool { return isMeta(m.Name, m.Data) }

// IsHostObject says that the member is an ELF file.
func (m ArchiveMember) IsHostObject() bool { return prefixed(m.Data, "\x7fELF") }

// IsZstd says that the member is stored as a zstd frame.
func (m ArchiveMember) IsZstd() bool { return prefixed(m.Data, zstdMagic) }

// PTX returns the PTX in the member, in whatever it is wrapped; none is no
// error. name is what messages call the member. An error is an *Error.
func (m ArchiveMember) PTX(name string, o Options) ([]Member, error) {
	op := newOpener(o, int64(len(m.Data)))
	if err := op.open(m.Data, place{name: name, path: name, archive: true, inside: true}); err != nil {
		return nil, err
	}
	op.unique()
	return op.members, nil
}
