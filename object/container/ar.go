package container

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/lazy"
	"ptxlink/internal/room"
)

const (
	arHeader = 60
	maxName  = 4096 // the longest path on Linux
)

// archive opens the members of an ar archive: GNU with its // table and indexes,
// BSD and Darwin with names before the bodies, and thin. It skips indexes: the
// names that a member defines are read from its PTX. The metadata of a package
// gives the hosts of its members.
func (op *opener) archive(data []byte, p place, thin bool) *Error {
	p.archive = true
	if thin {
		if slices.Contains(op.thin, p.path) {
			err := p.fault(0, "this thin archive names itself as a member")
			err.Help = "build it again without the archive itself as a member"
			return err
		}
		op.thin = append(op.thin, p.path)
		defer func() { op.thin = op.thin[:len(op.thin)-1] }()
	}
	var meta []byte // of a package
	first, any := len(op.members), false
	err := eachMember(data, p, thin, func(h arEntry) (err *Error) {
		if isMeta(h.name, h.body) {
			meta = h.body
			return nil
		}
		any = true
		if len(h.name) > maxName {
			return p.fault(h.at, "name of an archive member has %d bytes, more than %d", len(h.name), maxName)
		}
		// All members may have one long name of the table.
		if op.left -= int64(len(h.name)); op.left < 0 {
			return op.bomb(p, h.at)
		}
		if thin {
			err = op.thinMember(h, p)
		} else {
			err = op.open(h.body, p.member(h.name))
		}
		if op.list != nil {
			op.list.ended = true
		}
		return err
	})
	if err != nil {
		return err
	}
	op.empty = !any && !p.inside
	op.describe(meta, first)
	return nil
}

// eachMember calls use with the members of an archive, each with its whole name, but not with
// its indexes and tables of names.
func eachMember(data []byte, p place, thin bool, use func(h arEntry) *Error) *Error {
	var names []byte // the // table
	for at := 8; at < len(data); {
		h, err := arMember(data, at, p, thin)
		if err != nil {
			return h.named(err, names, p)
		}
		at = h.next
		switch {
		case h.name == "//" || h.name == "ARFILENAMES/":
			names = h.body
			continue
		case isTable(h.name):
			continue
		}
		if h.name, err = h.longName(names, p); err != nil {
			return err
		}
		if isSymdef(h.name) {
			continue
		}
		if err := use(h); err != nil {
			return err
		}
	}
	return nil
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

// isMeta reports whether a member holds the metadata of a package.
func isMeta(name string, body []byte) bool { return name == metaName && prefixed(body, metaMark) }

// arEntry is one member of an archive.
type arEntry struct {
	at, next int
	name     string
	body     []byte
	origin   int // in a thin archive: offset of the header in the file called name; -1 if it is the whole file
}

// arMember reads the member header at an offset of an archive.
func arMember(data []byte, at int, p place, thin bool) (h arEntry, err *Error) {
	h.at, h.origin = at, -1
	head, ok := span(data, uint64(at), arHeader)
	if !ok {
		if len(bytes.Trim(data[at:], "\x00\n")) == 0 {
			h.next, h.name = len(data), "/" // padding at the end
			return h, nil
		}
		return h, p.fault(at, "archive is cut short in the header of a member")
	}
	if head[58] != '`' || head[59] != '\n' {
		return h, p.fault(at, "no header of an archive member where one should be")
	}
	h.name = strings.TrimRight(string(head[:16]), " ")
	size, bad := strconv.ParseUint(string(bytes.TrimSpace(head[48:58])), 10, 63)
	if bad != nil {
		return h, p.fault(at, "size of archive member %q is not a number", h.name)
	}
	from := uint64(at + arHeader)
	if thin && !isTable(h.name) {
		size = 0 // the size given is that of the file
	}
	if h.body, ok = span(data, from, size); !ok {
		return h, p.fault(at, "archive member %q has %d bytes by its header, of which %d are there", h.name, size, uint64(len(data))-from)
	}
	h.next = int(from + size + size%2)
	return h, nil
}

// named returns err with the member's name in place of the reference to it.
func (h *arEntry) named(err *Error, names []byte, p place) *Error {
	short := h.name
	if name, bad := h.longName(names, p); bad == nil && name != "" {
		err.Text = strings.Replace(err.Text, strconv.Quote(short), strconv.Quote(name), 1)
	}
	return err
}

// longName returns the name of a member, wherever it is stored.
func (h *arEntry) longName(names []byte, p place) (string, *Error) {
	if length, bsd := strings.CutPrefix(h.name, "#1/"); bsd {
		n, bad := strconv.ParseUint(length, 10, 31)
		if bad != nil || n > uint64(len(h.body)) {
			return "", p.fault(h.at, "name of archive member %q is longer than the member", h.name)
		}
		name := strings.TrimRight(string(h.body[:n]), "\x00")
		h.body = h.body[n:]
		return name, nil
	}
	if !strings.HasPrefix(h.name, "/") {
		return strings.TrimSuffix(h.name, "/"), nil
	}
	where, origin, nested := strings.Cut(h.name[1:], ":")
	if nested {
		n, bad := strconv.ParseUint(origin, 10, 62)
		if bad != nil {
			return "", p.fault(h.at, "archive member %q has no name", h.name)
		}
		h.origin = int(n)
	}
	n, bad := strconv.ParseUint(where, 10, 62)
	if bad != nil || n >= uint64(len(names)) {
		return "", p.fault(h.at, "archive member %q has no name: the table of names has %d bytes", h.name, len(names))
	}
	name := names[n:]
	if end := bytes.IndexAny(name, "\n\x00"); end >= 0 {
		name = name[:end]
	}
	return strings.TrimSuffix(string(name), "/"), nil
}

// thinFile is what a member of a thin archive names.
type thinFile struct {
	path   string
	origin int
}

// thinMember opens a member that is a separate file beside the archive. A file that is
// named again is not opened again: the first gives every definition in it, and the
// archive may name it any number of times.
func (op *opener) thinMember(h arEntry, p place) *Error {
	path := filepath.FromSlash(h.name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.path), path)
	}
	file := thinFile{filepath.Clean(path), h.origin}
	if op.taken[file] && !slices.Contains(op.thin, path) {
		return nil
	}
	lazy.Put(&op.taken, file, true)
	data, bad := op.Open(path, op.left)
	if bad == room.ErrTooLong {
		return op.bomb(p, h.at)
	}
	if bad != nil {
		if pathError, ok := errors.AsType[*fs.PathError](bad); ok {
			bad = pathError.Err
		}
		err := p.fault(h.at, "member %s of this thin archive cannot be read: %v", path, bad)
		if err.Help = ""; !errors.Is(bad, fs.ErrNotExist) {
			return err
		}
		err.Help = "a thin archive holds only the paths of its members, seen from its own directory; they must be moved along with it"
		return err
	}
	op.left -= int64(len(data))
	inner := p.member(h.name)
	inner.path = path
	if h.origin < 0 {
		return op.open(data, inner)
	}
	// The file is itself an archive, and the member is inside it.
	if h.origin > len(data) {
		return p.fault(h.at, "member %q lies at byte %d of a file of %d", h.name, h.origin, len(data))
	}
	nested, err := arMember(data, h.origin, inner, false)
	if err != nil {
		return err
	}
	return op.open(nested.body, inner)
}
