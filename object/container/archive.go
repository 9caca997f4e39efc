package container

import (
	"bytes"
	"encoding/json"
	"strconv"

	"ptxlink/internal/parallel"
)

// ArchiveMember is a member of an ar archive as it is stored.
type ArchiveMember struct {
	Name string
	Data []byte // nil in a thin archive. It shares memory with the data given to ReadArchive
	Size int64  // bytes of Data, or of the file that a thin archive names

	// The header fields. WriteArchive writes 0 for all of them, and mode 0644.
	Mode     uint32
	UID, GID int
	Time     int64 // seconds since 1970

	// For WriteArchive: the names that the index lists for the member, and, if it
	// is a single PTX text, its record in the package.
	Symbols []string
	Record  *Record
}

// Archive is an ar archive without its indexes and table of names.
type Archive struct {
	Members []ArchiveMember
	Records []Record // what the archive records of its members if it is a package; not verified
	Thin    bool     // the members are separate files, which have not been read
}

// IsArchive reports whether data starts like an ar archive.
func IsArchive(data []byte) bool { return prefixed(data, "!<arch>\n") || prefixed(data, "!<thin>\n") }

// ReadArchive reads all members of an ar archive, whatever they hold. name is used
// in messages. Errors are of type *Error.
func ReadArchive(name string, data []byte) (Archive, error) {
	p := place{Member: Member{Name: name}, path: name}
	if !IsArchive(data) {
		return Archive{}, p.fault(-1, "not an archive")
	}
	return parallel.CatchValue[*Error](func() Archive {
		a := Archive{Thin: prefixed(data, "!<thin>\n")}
		eachMember(data, p, a.Thin, func(h arEntry) {
			m := ArchiveMember{Name: h.name, Data: h.body}
			m.readHeader(data[h.at : h.at+arHeader])
			if !a.Thin {
				m.Size = int64(len(m.Data))
			}
			if isMeta(h.name, m.Data) {
				a.Records = readRecords(m.Data)
			}
			a.Members = append(a.Members, m)
		})
		return a
	})
}

// readHeader reads the fields that only a listing shows. A field that is not a
// number reads as 0 instead of being an error.
func (m *ArchiveMember) readHeader(head []byte) {
	number := func(from, to, base int) int64 {
		n, _ := strconv.ParseInt(string(bytes.TrimSpace(head[from:to])), base, 64)
		return n
	}
	m.Time, m.UID, m.GID, m.Mode = number(16, 28, 10), int(number(28, 34, 10)), int(number(34, 40, 10)), uint32(number(40, 48, 8))
	m.Size = number(48, 58, 10)
}

// readRecords reads the records of a package that is being edited. Outdated offsets do no harm,
// because the edit compares the records with the members.
func readRecords(body []byte) (list []Record) {
	for line := range bytes.Lines(body) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.Name != "" {
			list = append(list, r)
		}
	}
	return list
}

// IsPTX reports whether the text starts like a module. Open treats a file that is
// not a container as PTX, so that the parser reports the error.
func (m Member) IsPTX() bool { return looksLikePTX(m.Text) }

// IsMeta reports whether the member holds the metadata of a package.
func (m ArchiveMember) IsMeta() bool { return isMeta(m.Name, m.Data) }

// IsHostObject reports whether the member is an ELF file.
func (m ArchiveMember) IsHostObject() bool { return prefixed(m.Data, "\x7fELF") }

// IsWindowsObject reports whether the member is an object for Windows, or an import.
func (m ArchiveMember) IsWindowsObject() bool { return isCOFF(m.Data) || prefixed(m.Data, anonymous) }

// IsZstd reports whether the member is stored as a zstd frame.
func (m ArchiveMember) IsZstd() bool { return prefixed(m.Data, zstdMagic) }

// PTX returns the PTX in the member, unwrapped. A member without PTX is not an
// error. name is used in messages. Errors are of type *Error.
func (m ArchiveMember) PTX(name string, o Options) ([]Member, error) {
	op := newOpener(o, int64(len(m.Data)))
	return parallel.CatchValue[*Error](func() []Member {
		op.open(m.Data, place{Member: Member{Name: name, Archive: true}, path: name, inside: true})
		op.unique()
		return op.members
	})
}
