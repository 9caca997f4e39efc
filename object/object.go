// Package object, of use to this module only, holds one input in the linker's form: a
// parsed module, what it declares about each of its names, its host platform and its origin.
package object

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"ptxlink/internal/infile"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// File is the object record of one module. It must not change after resolve.Live has chosen the
// files of the link.
type File struct {
	record
	Path  string // on disk; empty for stdin and memory
	Rank  int    // position on the command line: the lower rank wins ties
	Input int    // the number of its input, as passed to Open
	// Pulled is set for a member of an archive that is linked because something
	// needs it. Weak definitions of other files win over definitions of pulled members.
	Pulled bool

	maps *infile.Maps // see DropText

	linkLock  sync.Mutex // guards digestSet and linkOf, which LinkOf fills
	digestSet map[string]bool
	linkOf    map[*File]bool

	handOnce     sync.Once
	handWritten  bool
	languageOnce sync.Once
	language     Language
}

// record is what the text and the container of a module say, which several links share.
type record struct {
	*ptx.Module
	Name string // as in messages

	// Symbols describes each name of the module; NameID indexes it.
	Symbols []Symbol

	Producer string // "nvcc 12.4", "clang", "gcc", "ptxlink"; empty if unknown
	Host     Host
	HostSpan diag.Span // where the module records its host

	PtxasOptions string // as the fatbin records them

	Debug    bool // has DWARF sections that describe code
	LineInfo bool // has .loc lines

	// Digests identifies the PTX by the XXH64 of the text in hexadecimal. The output of an earlier
	// link has the digests of its modules instead.
	Digests []string
}

// ID names a module-scope name of one file.
type ID struct {
	File int32 // index in command-line order
	Name ptx.NameID
}

// Symbol describes a module-scope name within its module.
type Symbol struct {
	Def   int32 // the defining Decl, -1 if there is none
	Decl  int32 // the Decl that represents the name: Def, or the first declaration; -1 for an alias never declared
	Alias int32 // the Alias that defines it, -1 if there is none
	// Target is the name at the end of a chain of aliases; -1 if the name is not an alias, or the
	// chain is circular.
	Target  ptx.NameID
	Linkage ptx.Linkage
	Uses    int32 // number of uses outside its own declarations
	Align   int64 // of a variable: the largest of its declarations
}

// Defined reports whether the module itself defines the name.
func (s Symbol) Defined() bool { return s.Def >= 0 || s.Alias >= 0 }

// Exported reports whether the name has the same meaning in every module.
func (s Symbol) Exported() bool { return s.Linkage != ptx.Local }

// DeclOf returns the declaration that represents the name, or nil if there is none.
func (f *File) DeclOf(name ptx.NameID) *ptx.Decl {
	if i := f.Symbols[name].Decl; i >= 0 {
		return &f.Decls[i]
	}
	return nil
}

// Fits reports whether the module declares the target of a direct call as a function
// with exactly the types of the operands.
func (f *File) Fits(call *ptx.Call) bool {
	d := f.DeclOf(f.Uses[call.Use].Name)
	return d != nil && d.Kind == ptx.Func && d.Signature == call.Signature
}

// At returns a place in the file.
func (f *File) At(span diag.Span) diag.Place { return diag.At(f.Src, span) }

// NamePlace returns the place where the module declares the name.
func (f *File) NamePlace(name ptx.NameID) diag.Place {
	s := f.Symbols[name]
	switch {
	case s.Def >= 0:
		return f.At(f.Decls[s.Def].NameSpan)
	case s.Alias >= 0:
		return f.At(f.Aliases[s.Alias].NameSpan)
	case s.Decl >= 0:
		return f.At(f.Decls[s.Decl].NameSpan)
	}
	return f.At(diag.Span{})
}

// newFile returns the record of a parsed module and reports errors within the
// module.
func newFile(m *ptx.Module, log *diag.Log) *File {
	f := declared(m, log)
	for _, u := range m.Uses {
		f.Symbols[u.Name].Uses++
	}
	f.LineInfo = len(m.Locs) > 0
	for _, s := range m.Sections {
		f.Debug = f.Debug || s.Name == ".debug_info"
	}
	f.readPreamble(log)
	return f
}

// DropText releases the memory of the text if it is part of a mapped file, because the system can
// read it again when it is next used. Passes call it when they have read a text.
func (f *File) DropText() { f.maps.Drop(f.Src.Text) }

// declared returns the part of the record for which an outline suffices.
func declared(m *ptx.Module, log *diag.Log) *File {
	f := &File{record: record{Module: m, Name: m.Src.Name, Symbols: make([]Symbol, len(m.Names))}}
	for i := range f.Symbols {
		f.Symbols[i] = Symbol{Def: -1, Decl: -1, Alias: -1, Target: -1}
	}
	for i := range m.Decls {
		f.declare(int32(i), log)
	}
	for i, a := range m.Aliases {
		s := &f.Symbols[a.Name]
		switch {
		case s.Alias >= 0:
			log.Error(diag.Alias, f.At(a.NameSpan), m.Names[a.Name]+" is an alias of two functions").
				Note(f.At(m.Aliases[s.Alias].NameSpan), "first made an alias here")
		case s.Def >= 0:
			log.Error(diag.Alias, f.At(a.NameSpan), m.Names[a.Name]+" is both defined and an alias").
				Note(f.At(m.Decls[s.Def].NameSpan), "defined here")
		}
		s.Alias = int32(i)
		if s.Linkage == ptx.Extern { // because clang declares an alias .extern first
			s.Linkage = ptx.Visible
		}
		f.Symbols[a.Target].Uses++
	}
	f.followAliases()
	return f
}

// followAliases finds the end of each chain of aliases. Each alias is followed
// once, because a chain ends at a name that is not an alias, or at an alias already resolved.
func (f *File) followAliases() {
	if len(f.Aliases) == 0 {
		return
	}
	isAlias := func(name ptx.NameID) bool { return f.Symbols[name].Def < 0 && f.Symbols[name].Alias >= 0 }
	done := make([]bool, len(f.Symbols))
	var chain []ptx.NameID
	for _, a := range f.Aliases {
		name := a.Name
		for chain = chain[:0]; isAlias(name) && !done[name]; name = f.Aliases[f.Symbols[name].Alias].Target {
			done[name] = true
			chain = append(chain, name)
		}
		if isAlias(name) {
			name = f.Symbols[name].Target // -1 if it is on this chain, which is then circular
		}
		for _, link := range chain {
			f.Symbols[link].Target = name
		}
	}
}

// declare merges one more declaration into the symbol of its name. The definition
// decides, because a module may repeat prototypes before it.
func (f *File) declare(i int32, log *diag.Log) {
	d := &f.Decls[i]
	s := &f.Symbols[d.Name]
	if s.Decl >= 0 {
		first := &f.Decls[s.Decl]
		if first.Kind != d.Kind {
			log.Error(diag.SymbolKind, f.At(d.NameSpan), fmt.Sprintf("%s is declared as %s and as %s", f.Names[d.Name], d.Kind.A(), first.Kind.A())).
				Note(f.At(first.NameSpan), "first declared here")
			return
		}
	}
	if d.Kind == ptx.Variable {
		s.Align = max(s.Align, d.Alignment())
	}
	if d.Defines() {
		if s.Def >= 0 {
			log.Error(diag.DuplicateSymbol, f.At(d.NameSpan), f.Names[d.Name]+" is defined twice").
				Note(f.At(f.Decls[s.Def].NameSpan), "first defined here")
			return
		}
		linkage := d.Binding()
		if linkage == ptx.Visible && d.Kind == ptx.Variable && IsNumbaShared(f.Names[d.Name]) {
			linkage = ptx.Local
		}
		s.Linkage = s.Linkage.Merge(linkage, true, true)
		s.Def, s.Decl = i, i
		return
	}
	if s.Decl < 0 {
		s.Decl = i
	}
	s.Linkage = s.Linkage.Merge(d.Linkage, false, s.Def >= 0)
}

// producers are found by words in the comments before .version.
var producers = []struct{ words, name string }{
	{"Generated by LLVM NVPTX Back-End", "llvm"},
	{"BEGIN PREAMBLE", "gcc"},
	{"Generated by NVIDIA NVVM Compiler", "nvvm"},
}

// MetaMark starts the comment in which ptxlink's output carries its object record;
// package program writes it.
const MetaMark = "/* ptxlink-meta:"

// MetaDigest is the key of a digest in the record, and DigestLength the number of its
// characters.
const MetaDigest, DigestLength = "xxh64", 16

// readPreamble reads the comments before .version: the producer of the module,
// and the record of an earlier link.
//
// A record with values that ptxlink never writes is ignored as a whole, with a warning, because the
// record of the output would repeat its fields. Unknown keys are skipped, because a later version
// may have written them.
func (f *File) readPreamble(log *diag.Log) {
	preamble := f.preamble()
	if at := bytes.Index(preamble, []byte(MetaMark)); at >= 0 {
		meta, _, _ := strings.Cut(string(preamble[at+len(MetaMark):]), "*/")
		span := diag.Span{Off: int32(at), Len: int32(len(MetaMark))}
		if host, digests, bad := readMeta(meta); bad == "" {
			f.Producer, f.HostSpan, f.Host, f.Digests = "ptxlink", span, host, digests
		} else {
			log.Warn(diag.Record, f.At(span), "the record of an earlier link in this module is ignored: "+bad)
		}
	}
	if len(f.Digests) == 0 {
		f.Digests = []string{hex.EncodeToString(binary.BigEndian.AppendUint64(nil, xxhash.Sum64(f.Src.Text)))}
	}
	if f.Producer == "" {
		f.Producer = producer(preamble)
	}
}

// LinkOf reports whether f is the output of a link whose inputs include another file, or
// everything that was linked into that file.
func (f *File) LinkOf(input *File) bool {
	if f.Producer != "ptxlink" || f == input {
		return false
	}
	f.linkLock.Lock()
	defer f.linkLock.Unlock()
	holds, known := f.linkOf[input]
	if !known {
		if f.linkOf == nil {
			f.linkOf, f.digestSet = map[*File]bool{}, map[string]bool{}
			for _, d := range f.Digests {
				f.digestSet[d] = true
			}
		}
		holds = !slices.ContainsFunc(input.Digests, func(d string) bool { return !f.digestSet[d] })
		f.linkOf[input] = holds
	}
	return holds
}

// readMeta parses the fields of a record. bad describes the first error.
func readMeta(meta string) (host Host, digests []string, bad string) {
	for field := range strings.FieldsSeq(meta) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "address_size":
			if value != "32" && value != "64" {
				return Host{}, nil, "address_size is neither 32 nor 64"
			}
		case "os":
			host.OS = value
		case "arch":
			host.Arch = value
		case "model":
			host.Model = value
		case MetaDigest:
			if !isDigest(value) {
				return Host{}, nil, "an XXH64 digest has not 16 hexadecimal digits"
			}
			digests = append(digests, value)
		}
	}
	if !host.valid() {
		return Host{}, nil, "there is no such host"
	}
	return host, digests, ""
}

func isDigest(s string) bool {
	return len(s) == DigestLength && strings.Trim(s, "0123456789abcdef") == ""
}

func producer(preamble []byte) string {
	if _, rest, ok := bytes.Cut(preamble, []byte("Cuda compilation tools, release ")); ok {
		if end := len(rest) - len(bytes.TrimLeft(rest, "0123456789.")); end > 0 {
			return "nvcc " + string(rest[:end])
		}
	}
	for _, p := range producers {
		if bytes.Contains(preamble, []byte(p.words)) {
			return p.name
		}
	}
	return ""
}

// Measure returns the kind and state space of a declaration in words, the bytes of
// an object or of a body's text, and the alignment of an object.
func Measure(d *ptx.Decl) (kind, space string, size, align int64) {
	switch d.Kind {
	case ptx.Variable:
		return "object", strings.TrimPrefix(d.Space, "."), max(0, d.Size()), d.Alignment()
	case ptx.Entry:
		return "entry", "", int64(d.Body.Len), 0
	}
	return "func", "", int64(d.Body.Len), 0
}
