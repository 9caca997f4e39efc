// Package container unwraps PTX from the containers it is stored in, into named
// members.
//
// It recognises every form by its first bytes, not by the name of the file: ar
// archives, fatbins, host ELF and COFF files, OffloadBinary, and gzip, zstd and LZ4
// frames, nested up to maxDepth. Anything else is treated as PTX and left to the
// parser.
package container

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// Member is one PTX text inside a file.
type Member struct {
	Name    string // as in messages, unique in its file: "libx.a(k.o)", "app.o:.nv_fatbin", "x.fatbin:sm_80"
	Text    []byte // PTX without NULs at its end. It may share memory with the data given to Open
	Archive bool   // from an archive: linked only if needed

	// Host and device as recorded in the container; zero if it records none.
	OS, Arch    string // linux, windows, mac / x86_64, aarch64, ...
	Model       string // lp64, llp64, ilp32; only packages record it
	AddressSize int    // 32 or 64
	Target      string // sm_80, sm_90a, sm_100f

	// Group is the same non-zero number for members that are alternatives: all PTX
	// of one fatbin, each for another target. A link takes one of them. Numbers count from 1 in
	// every call of Open. A fatbin with one PTX has its own group.
	Group int

	// Options are those that a fatbin records for ptxas: "-O1 --compile-only".
	Options string
}

// Options sets limits for Open.
type Options struct {
	// MaxSize limits the total size of decompressed data and of the files that thin
	// archives name, in bytes; 0 means 4 GiB.
	MaxSize int64
	// Open reads a file that a thin archive names if it has at most limit bytes. path starts with
	// the directory of the archive. nil reads regular files.
	Open func(path string, limit int64) ([]byte, error)
	// Touched is called with the number of bytes that were read, or 0 for a header. nil is not called.
	Touched func(bytes int)
}

// Error describes why a file cannot be opened. Offset is the offset in Name, which
// may be a member of the file; -1 if the error has no offset.
type Error struct {
	Name   string
	Offset int64
	Text   string
	Help   string
	// NoPTX is set if the file is not damaged but holds something else.
	NoPTX bool
	// Cubins are the GPUs of the cubins that a file without PTX holds.
	Cubins []string
	// Stale is set if only the index of a package is wrong, so that Open can read the file.
	Stale bool
	// Err is the cause if the file could not be read, rather than being damaged.
	Err error
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	if e.Offset > 0 {
		return fmt.Sprintf("%s: at byte %#x: %s", e.Name, e.Offset, e.Text)
	}
	return e.Name + ": " + e.Text
}

const (
	// DefaultMaxSize is used if Options.MaxSize is 0.
	DefaultMaxSize = 4 << 30
	// maxDepth is more than any build needs, since a compressed fatbin in an OffloadBinary in a
	// host object in a compressed archive takes 6.
	maxDepth = 10
)

// Open returns the PTX in a file, in file order. name is the path of the file.
// Errors are of type *Error.
//
// In an archive, members without PTX are skipped. A file without any PTX is an
// error, which lists what it holds instead; an archive without members is not.
func Open(name string, data []byte, o Options) ([]Member, error) {
	op := newOpener(o, int64(len(data)))
	return parallel.CatchValue[*Error](func() []Member {
		op.open(data, place{Member: Member{Name: name}, path: name})
		if len(op.members) == 0 && !op.empty {
			panic(op.held.fault(name, op.bare))
		}
		op.unique()
		return op.members
	})
}

// touched reports that a number of bytes were read, or a header.
func (op *opener) touched(bytes int) {
	if op.Touched != nil {
		op.Touched(bytes)
	}
}

// opener is the state of one call of Open.
type opener struct {
	Options
	left    int64 // of MaxSize
	size    int64 // of the file, in bytes
	empty   bool  // it is an archive without members
	groups  int
	members []Member
	held    holdings
	bare    bool     // held describes the file itself
	thin    []string // paths of the thin archives being read, to find cycles
	taken   map[thinFile]bool
	names   names

	lent, spare []byte // see Code.Release

	list *listing // set where device code is listed and PTX is not unwrapped
}

func newOpener(o Options, size int64) *opener {
	o.MaxSize = cmp.Or(max(o.MaxSize, 0), DefaultMaxSize)
	if o.Open == nil {
		o.Open = (*infile.Files)(nil).ReadRegular
	}
	return &opener{Options: o, left: o.MaxSize, size: size}
}

// place is the position of the current bytes in the file, and what the containers
// around them record.
type place struct {
	Member         // a module there, without its Text
	path    string // of the file being read, for thin archives
	object  string // name of the file or the member of an archive
	depth   int
	inside  bool                  // in a container that also holds other things than PTX
	section bool                  // of an ELF or COFF file; all of it may be one fatbin
	packed  bool                  // a compressed file, which begins as PTX may
	hosts   map[string]hostRecord // of the members of a package, by digest
}

// in returns the place of something inside p.
func (p place) in(name string) place {
	p.Name = name
	p.inside, p.section = true, false
	return p
}

func (p place) member(name string) place {
	p = p.in(p.Name + "(" + name + ")")
	p.object = p.Name
	return p
}

// fault returns the error for a damaged file. Where it is not damaged, or more is
// known, the caller sets another help.
func (p place) fault(at int, format string, args ...any) *Error {
	return &Error{
		Name: p.Name, Offset: int64(at), Text: fmt.Sprintf(format, args...),
		Help: "the file is damaged, or was not written or copied whole; build or copy it again",
	}
}

// need ends the reading of a damaged file, unless ok.
func (p place) need(ok bool, at int, format string, args ...any) {
	if !ok {
		panic(p.fault(at, format, args...))
	}
}

// none records that a valid part of the file holds no PTX. That is an error only if
// the rest of the file holds none either.
func (op *opener) none(what kind, target string, p place) {
	op.held.add(what, target)
	op.bare = !p.inside
}

func (op *opener) open(data []byte, p place) {
	if p.depth++; p.depth > maxDepth {
		err := p.fault(0, "containers nested deeper than %d", maxDepth)
		err.Help = "take the PTX out first and link that"
		panic(err)
	}
	if op.list != nil && op.list.hosts && !IsArchive(data) && !IsHostFile(data) {
		op.list.nonHost++
		return
	}
	c, compressed := codecOf(data)
	switch known := slices.IndexFunc(refused, func(r refusal) bool { return prefixed(data[min(r.at, len(data)):], r.magic) }); {
	case prefixed(data, "!<arch>\n"):
		op.archive(data, p, false)
	case prefixed(data, "!<thin>\n"):
		op.archive(data, p, true)
	case prefixed(data, "\x7fELF"):
		op.elf(data, p)
	case prefixed(data, "MZ"):
		op.program(data, p)
	case prefixed(data, anonymous):
		op.anonymous(data, p)
	case isCOFF(data):
		op.coff(&coffFile{data: data}, data, coffHeader, p)
	case IsFatbin(data):
		op.eachFatbin(data, p, func([]byte) {})
	case prefixed(data, offloadMagic):
		op.offload(data, p)
	case compressed:
		op.compressed(data, p, c)
	case IsBitcode(data):
		op.bitcode(data, p)
	case IsLTOIR(data):
		op.bareLTOIR(data, p)
	case IsTileIR(data):
		op.offer(TileIR, p.Target, p, whole(data))
	case known >= 0:
		op.none(refused[known].kind, p.Target, p)
	case !p.inside && !isBinary(data), looksLikePTX(data):
		if op.list == nil { // so that a link of small modules makes no functions for them
			op.texts(data, p)
			return
		}
		op.offer(PTX, p.Target, p, whole(data))
	case !p.inside:
		err := p.fault(-1, "this is neither PTX nor a file that contains PTX; it begins with %.40q", data[:min(len(data), 12)])
		err.Help = "archives, fatbins, ELF and COFF objects and executables, OffloadBinary, and gzip, zstd and LZ4 of these are read"
		panic(err)
	case len(bytes.Trim(data, "\x00 \t\r\n")) > 0:
		op.held.add(other, "")
	}
}

// IsHostFile reports whether data is a host object, program or shared library, as open finds them. For Windows, the
// first 20 bytes are enough.
func IsHostFile(data []byte) bool {
	if prefixed(data, "\x7fELF") {
		return !isCubin(data)
	}
	return prefixed(data, "MZ") || prefixed(data, anonymous) || isCOFF(data)
}

func prefixed(data []byte, magic string) bool {
	return len(data) >= len(magic) && string(data[:len(magic)]) == magic
}

// texts adds the modules in a text. A file linked by gcc holds several, because nvptx-none-ld ends
// every module with a NUL.
func (op *opener) texts(data []byte, p place) {
	m, text := p.Member, trimNUL(data)
	if bytes.IndexByte(text, 0) >= 0 {
		first, parted := len(op.members), true
		for piece := range bytes.SplitSeq(text, []byte{0}) {
			if len(bytes.TrimSpace(piece)) == 0 {
				continue
			}
			if parted = looksLikePTX(piece); !parted {
				break // not split here, so that the parser points at the NUL
			}
			m.Text = piece
			op.add(m, p)
		}
		if parted && len(op.members) > first {
			return
		}
		op.members = op.members[:first]
	}
	m.Text = text
	op.add(m, p)
}

func (op *opener) add(m Member, p place) {
	op.needFew(len(op.members), p)
	p.describe(&m)
	op.members = append(op.members, m)
}

func trimNUL(data []byte) []byte { return bytes.TrimRight(data, "\x00") }

// isBinary reports whether the start of data has bytes that no text has. NULs do
// not count, because the parser has its own message for them.
func isBinary(data []byte) bool {
	return slices.ContainsFunc(data[:min(len(data), 512)], func(c byte) bool {
		return c < ' ' && c != 0 && c != 0x1a && (c < '\t' || c > '\r') || c == 0x7f
	})
}

// looksLikePTX reports whether the first thing after blanks and comments is a
// directive that can start a module.
func looksLikePTX(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for {
		text = bytes.TrimLeft(text, " \t\r\n\v\f\x1a\x00")
		switch {
		case prefixed(text, "//"), prefixed(text, "#"): // # 1 "a.ptx", of a preprocessor
			end := bytes.IndexByte(text, '\n')
			if end < 0 {
				return false
			}
			text = text[end:]
		case prefixed(text, "/*"):
			end := bytes.Index(text[2:], []byte("*/"))
			if end < 0 {
				return false
			}
			text = text[2+end+2:]
		default:
			return prefixed(text, ".version") || prefixed(text, ".target") || prefixed(text, ".address_size")
		}
	}
}

// unique makes the names of members unique, because an archive may hold two members of one name,
// and a section several fatbins.
func (op *opener) unique() {
	if len(op.members) == 1 { // without the memory of the map
		return
	}
	for i := range op.members {
		op.members[i].Name = op.names.unique(op.members[i].Name)
	}
}

// names counts the uses of each name.
type names map[string]int

// unique returns a name that is not in use: the second of one name ends in #2.
func (n *names) unique(name string) string {
	for first := name; (*n)[name] > 0; {
		(*n)[first]++
		name = fmt.Sprintf("%s#%d", first, (*n)[first])
	}
	sets.Put((*map[string]int)(n), name, 1)
	return name
}

// span returns data[from:from+size] if that lies within data.
func span(data []byte, from, size uint64) ([]byte, bool) {
	if !within(data, from, size) {
		return nil, false
	}
	return data[from : from+size], true
}

func within(data []byte, from, size uint64) bool {
	return from <= uint64(len(data)) && size <= uint64(len(data))-from
}

var le = binary.LittleEndian

// kind classifies contents that are not PTX.
type kind int

const (
	tileIR kind = iota
	cubin
	ltoIR
	optixIR
	obfuscated
	bitcode
	bitcodeOther   // for another machine
	bitcodeUnknown // for no machine
	bundle
	foreign // Mach-O
	packed  // xz and the like
	tar
	png
	spirv
	segment
	deviceOther
	host
	stripped
	wholeProgram
	other
	kinds
)

// words returns one and several of a kind, and what to do, by the facts of diag, which are in the order of the kinds.
func (k kind) words() (one, many, help string) {
	lines := diag.Facts("what files hold")[k].Lines
	return lines[0], lines[1], strings.Join(lines[2:], "")
}

type refusal struct {
	magic string
	kind  kind
	at    int // where it is
}

// refused lists forms that are recognised but hold nothing to link.
var refused = []refusal{
	{"CCOB", bundle, 0}, {"__CLANG_OFFLOAD_BUNDLE__", bundle, 0}, {"# __CLANG_OFFLOAD_BUNDLE__", bundle, 0}, {"// __CLANG_OFFLOAD_BUNDLE__", bundle, 0},
	{"\xcf\xfa\xed\xfe", foreign, 0}, {"\xce\xfa\xed\xfe", foreign, 0}, {"\xca\xfe\xba\xbe", foreign, 0},
	{"\xfd7zXZ\x00", packed, 0}, {"BZh", packed, 0}, {"PK\x03\x04", packed, 0}, {"7z\xbc\xaf\x27\x1c", packed, 0}, {"ustar", tar, 257}, {"\x89PNG", png, 0},
	{"\x03\x02\x23\x07", spirv, 0}, {"\xb1\x43\x62\x46", segment, 0},
}

// holdings records what was found instead of PTX.
type holdings struct {
	count   [kinds]int
	targets [kinds][]string // in order of appearance
}

func (h *holdings) add(what kind, target string) {
	h.count[what]++
	if target != "" && len(h.targets[what]) < 32 && !slices.Contains(h.targets[what], target) {
		h.targets[what] = append(h.targets[what], target)
	}
}

// words returns what there is instead of PTX, and what to do, for the first GPU.
func (h *holdings) words() (what, help string) {
	var parts []string
	for what := range kinds {
		n := h.count[what]
		// Host code is not listed if there is more, because a library of device code has it, too.
		if n == 0 || what >= host && len(parts) > 0 {
			continue
		}
		part, many, advice := what.words()
		if n > 1 {
			part = many
		}
		if len(h.targets[what]) > 0 {
			part += " for " + strings.Join(h.targets[what], ", ")
		}
		parts = append(parts, part)
		if help == "" {
			help = advice
			if number, ok := strings.CutPrefix(append(h.targets[what], "")[0], "sm_"); ok {
				help = strings.ReplaceAll(help, "_80", "_"+number)
			}
		}
	}
	return strings.Join(parts, " and "), help
}

// fault returns the error that lists what there is instead of PTX.
func (h *holdings) fault(name string, bare bool) *Error {
	what, help := h.words()
	err := &Error{Name: name, Offset: -1, Help: help, NoPTX: true, Cubins: h.targets[cubin]}
	switch {
	case what == "":
		err.Text = "holds nothing, so no PTX"
	case bare:
		err.Text = "this is " + what + ", not PTX"
	default:
		err.Text = "holds no PTX, only " + what
	}
	return err
}
