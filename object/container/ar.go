package container

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
)

const (
	arHeader = 60
	maxName  = 4096 // the longest path on Linux
)

// archive opens the members of an ar archive: GNU with its // table and indexes,
// BSD and Darwin with names before the bodies, and thin. It skips indexes, because the names that a
// member defines are read from its PTX. The metadata of a package gives the hosts of its members.
func (op *opener) archive(data []byte, p place, thin bool) {
	p.Archive = true
	if thin {
		if slices.Contains(op.thin, p.path) {
			err := p.fault(0, "this thin archive names itself as a member")
			err.Help = "build it again without the archive itself as a member"
			panic(err)
		}
		op.thin = append(op.thin, p.path)
		defer func() { op.thin = op.thin[:len(op.thin)-1] }()
	}
	parallel.Catch[*Error](func() { // the error comes again below
		eachMember(data, p, thin, func(h arEntry) {
			if op.touched(0); isMeta(h.name, h.body) {
				p.hosts = hostsIn(h.body)
			}
		})
	})
	any := false
	eachMember(data, p, thin, func(h arEntry) {
		if isMeta(h.name, h.body) {
			return
		}
		any = true
		p.need(len(h.name) <= maxName, h.at, "name of an archive member has %d bytes, more than %d", len(h.name), maxName)
		// Names count as data, because all members may have one long name of the table.
		op.left -= int64(len(h.name))
		op.needLeft(op.left >= 0, p, h.at)
		if thin {
			op.thinMember(h, p)
		} else {
			op.open(h.body, p.member(h.name))
		}
		if op.list != nil {
			op.list.ended = true
		}
	})
	op.empty = !any && !p.inside
}

// eachMember calls use with the members of an archive, each with its whole name, but not with
// its indexes and tables of names.
func eachMember(data []byte, p place, thin bool, use func(h arEntry)) {
	names := []byte{} // the // table
	for at := 8; at < len(data); {
		h := arEntry{at: at}
		h.read(data, names, p, thin)
		at = h.next
		switch {
		case h.name == "//" || h.name == "ARFILENAMES/":
			names = h.body
			continue
		case isTable(h.name):
			continue
		}
		if h.name = h.longName(names, p); !isSymdef(h.name) {
			use(h)
		}
	}
}

// isTable reports whether a header has the name of an index or a table, such as / and
// /SYM64/, and not /12, the place of a name.
func isTable(name string) bool {
	return strings.HasPrefix(name, "/") && (len(name) == 1 || name[1] < '0' || name[1] > '9')
}

// isSymdef reports whether a member is a BSD index.
func isSymdef(name string) bool {
	return slices.Contains([]string{"__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", "__.SYMDEF_64 SORTED"}, name)
}

func isMeta(name string, body []byte) bool { return name == metaName && prefixed(body, metaMark) }

type arEntry struct {
	at, next int
	name     string
	body     []byte
	origin   int // in a thin archive: offset of the header in the file called name; -1 if it is the whole file
}

// read reads the header of the member. names is the table for its name in messages, or nil.
func (h *arEntry) read(data, names []byte, p place, thin bool) {
	h.origin = -1
	head, ok := span(data, uint64(h.at), arHeader)
	if !ok {
		p.need(len(bytes.Trim(data[h.at:], "\x00\n")) == 0, h.at, "archive is cut short in the header of a member")
		h.next, h.name = len(data), "/" // padding at the end
		return
	}
	p.need(head[58] == '`' && head[59] == '\n', h.at, "no header of an archive member where one should be")
	h.name = strings.TrimRight(string(head[:16]), " ")
	size, bad := strconv.ParseUint(string(bytes.TrimSpace(head[48:58])), 10, 63)
	if bad != nil {
		panic(h.named(p.fault(h.at, "size of archive member %q is not a number", h.name), names))
	}
	from := uint64(h.at + arHeader)
	if thin && !isTable(h.name) {
		size = 0 // the size given is the size of the file
	}
	if h.body, ok = span(data, from, size); !ok {
		panic(h.named(p.fault(h.at, "archive member %q has %d bytes by its header, of which %d are there", h.name, size, uint64(len(data))-from), names))
	}
	h.next = int(from + size + size%2)
}

// named returns err with the member's name in place of the reference to it.
func (h *arEntry) named(err *Error, names []byte) *Error {
	short, name := h.name, ""
	if names != nil && parallel.Catch[*Error](func() { name = h.longName(names, place{}) }) == nil && name != "" {
		err.Text = strings.Replace(err.Text, strconv.Quote(short), strconv.Quote(name), 1)
	}
	return err
}

// longName returns the name of a member, wherever it is stored.
func (h *arEntry) longName(names []byte, p place) string {
	if length, bsd := strings.CutPrefix(h.name, "#1/"); bsd {
		n, bad := strconv.ParseUint(length, 10, 31)
		p.need(bad == nil && n <= uint64(len(h.body)), h.at, "name of archive member %q is longer than the member", h.name)
		name := strings.TrimRight(string(h.body[:n]), "\x00")
		h.body = h.body[n:]
		return name
	}
	if !strings.HasPrefix(h.name, "/") {
		return strings.TrimSuffix(h.name, "/")
	}
	where, origin, nested := strings.Cut(h.name[1:], ":")
	if nested {
		n, bad := strconv.ParseUint(origin, 10, 62)
		p.need(bad == nil, h.at, "archive member %q has no name", h.name)
		h.origin = int(n)
	}
	n, bad := strconv.ParseUint(where, 10, 62)
	p.need(bad == nil && n < uint64(len(names)), h.at, "archive member %q has no name: the table of names has %d bytes", h.name, len(names))
	name := names[n:]
	if end := bytes.IndexAny(name, "\n\x00"); end >= 0 {
		name = name[:end]
	}
	return strings.TrimSuffix(string(name), "/")
}

// thinFile identifies the file that a member of a thin archive names.
type thinFile struct {
	path   string
	origin int
}

// thinMember opens a member that is a separate file beside the archive. A file that is
// named again is not opened again, because the first member gives every definition in it, and an
// archive may name it any number of times.
func (op *opener) thinMember(h arEntry, p place) {
	path := filepath.FromSlash(h.name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.path), path)
	}
	file := thinFile{filepath.Clean(path), h.origin}
	if op.taken[file] && !slices.Contains(op.thin, path) {
		return
	}
	sets.Put(&op.taken, file, true)
	data, bad := op.Open(path, op.left)
	op.needLeft(bad != infile.ErrTooLong, p, h.at)
	if bad != nil {
		err := p.fault(h.at, "member %s of this thin archive cannot be read: %v", path, infile.Reason(bad))
		if err.Help, err.Err = "", bad; errors.Is(bad, fs.ErrNotExist) {
			err.Help = "a thin archive holds only the paths of its members, seen from its own directory; they must be moved along with it"
		}
		panic(err)
	}
	op.left -= int64(len(data))
	inner := p.member(h.name)
	inner.path = path
	if h.origin >= 0 { // the file is itself an archive, and the member is inside it
		p.need(h.origin <= len(data), h.at, "member %q lies at byte %d of a file of %d", h.name, h.origin, len(data))
		nested := arEntry{at: h.origin}
		nested.read(data, nil, inner, false)
		data = nested.body
	}
	op.open(data, inner)
}
