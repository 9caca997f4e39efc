// Package pack creates and edits packages, which are archives of PTX. It also extracts
// PTX from files and splits modules.
package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Format is how a package stores its members.
type Format = container.Format

// The formats of packages; docs/packages.md describes them.
const (
	Plain = container.Plain // PTX text, for every tool that reads ar archives
	Zstd  = container.Zstd  // a zstd frame each, a quarter of the size
	NV    = container.NV    // host objects with a fatbin, for nvlink and nvcc
)

// Options holds the inputs and options of Make.
type Options struct {
	// Inputs are files of any form that link.Link accepts. Every PTX in them becomes a
	// member; from PTX for several targets, one is selected as by link.Link.
	Inputs []link.Input
	// Format is the format of the members; if it is empty, Plain is used.
	Format Format
	// Arch chooses between PTX for several targets; see link.Options.Arch.
	Arch string
	// Host is the host platform, such as "linux-x86_64", of inputs that do not record
	// one. If it is empty, an nv package uses linux-x86_64 for them.
	Host string
	// Jobs limits the number of inputs read at a time; 0 means one per CPU.
	Jobs int
	// MaxInputSize is the same as in link.Options.
	MaxInputSize int64
	// NoIndex omits the symbol index.
	NoIndex bool
	// Spelling is the same as in link.Options.
	Spelling diag.Spelling
}

// Package is a finished package.
type Package struct {
	Data     []byte
	Members  []Member
	Messages []*link.Message // warnings and notes
}

// Member is a member of an archive as stored: Name and Data, and Mode, UID, GID and
// Time from its header.
type Member = container.ArchiveMember

// Make creates a package, which is an ar archive of PTX. If inputs are not PTX, it
// returns *link.Errors with every error found. Other errors are the same as from link.Link,
// and an unknown Format. The same inputs give the same bytes for any Jobs.
//
// A member is named after the file it comes from: a.ptx for a.ptx and for app/a.o,
// k.ptx for libx.a(k.o). If the name is in use, it is a-2.ptx instead. Compressed members end
// in .ptx.zst, and members of nv packages in .o.
func Make(ctx context.Context, o Options) (*Package, error) {
	log := diag.Log{Spelling: o.Spelling}
	members, err := packMembers(ctx, o, takenNames{}, &log)
	if err != nil {
		return nil, err
	}
	finish(members, o.Format, &log)
	data, err := container.WriteArchive(members, !o.NoIndex)
	if err != nil {
		return nil, err
	}
	return &Package{data, members, log.Messages}, nil
}

// Check returns the *Message that Make would return for an invalid option.
func (o Options) Check() error {
	if o.Host != "" {
		if _, err := object.ParseHost(o.Host); err != nil {
			return err
		}
	}
	if formats := []Format{"", Plain, Zstd, NV}; !slices.Contains(formats, o.Format) {
		return diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q is not a package format", o.Format))
	}
	return object.CheckArch(o.Arch, o.Spelling)
}

// packMembers returns a member for each PTX of the inputs, with unused names.
func packMembers(ctx context.Context, o Options, taken takenNames, log *diag.Log) ([]Member, error) {
	if len(o.Inputs) == 0 {
		return nil, errors.New("no inputs")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	host, _ := object.ParseHost(o.Host) // none if it is empty
	o.Format = cmp.Or(o.Format, Plain)
	inputs := object.Named(o.Inputs)
	for i := range inputs {
		in := &inputs[i]
		in.WholeArchive = true // members that define nothing must be included
		if in.Text == nil && in.Reader != nil {
			in.Text, in.Reader = object.Buffer(ctx, in.Reader, o.MaxInputSize) // noteLeftOut reads it again
		}
	}
	files, unread, err := object.Load(ctx, inputs, object.Options{Jobs: o.Jobs, Arch: o.Arch, MaxSize: o.MaxInputSize}, log)
	if err != nil {
		return nil, err
	}
	if log.Errors() > 0 {
		return nil, &link.Errors{Messages: log.Messages, IO: unread}
	}
	noteLeftOut(ctx, inputs, files, o, log)
	members, symbols := make([]Member, len(files)), make([][]string, len(files))
	for i, f := range files {
		m := &members[i]
		m.Name = freeName(o.Format.StoredName(memberName(f.Name, o.Inputs[f.Input])), taken, exact)
		m.Record, m.Symbols = newRecord(f, host)
		if m.Data, err = store(f, m.Name, m.Record, o.Format); err != nil {
			log.Error(diag.NVMember, f.At(diag.Span{}), err.Error())
		}
		symbols[i], m.Symbols = m.Symbols, append(m.ELFSymbols(), m.Symbols...)
	}
	warnOfUse(files, symbols, o.Format, log)
	if log.Errors() > 0 {
		return nil, &link.Errors{Messages: log.Messages}
	}
	return members, nil
}

// warnOfUse warns about members that are useless in a package, or that would surprise users.
// symbols holds the names that each member defines for others.
func warnOfUse(files []*object.File, symbols [][]string, format Format, log *diag.Log) {
	relocatable := false // some member was compiled with -rdc=true
	for i, f := range files {
		relocatable = relocatable || len(symbols[i]) > 0 && strings.HasPrefix(f.Producer, "nvcc")
	}
	for i, f := range files {
		// If a file has only host code, nvcc makes a module without declarations. Without
		// -rdc=true, nvcc makes the same module if it drops all functions.
		hostOnly := len(f.Decls) == 0 && (relocatable || strings.Contains(f.Name, ":__nv_relfatbin"))
		var entries []*ptx.Decl
		for k := range f.Decls {
			if d := &f.Decls[k]; d.Kind == ptx.Entry && d.Defines() {
				entries = append(entries, d)
			}
		}
		if len(symbols[i]) == 0 && !hostOnly && len(entries) == 0 {
			m := log.Warn(diag.EmptyMember, f.At(diag.Span{}), "this module defines nothing that other modules can use")
			if resolve.WholeProgram(f) {
				m.WithHelp("compile it with -rdc=true; " + resolve.NoRDC)
			} else {
				m.WithHelp("make .visible what it is to define")
			}
		}
		if format != NV || len(entries) == 0 {
			continue
		}
		text := "the host cannot launch " + log.Name(f.Names[entries[0].Name])
		if n := len(entries) - 1; n > 0 {
			text += fmt.Sprintf(", and %d more,", n)
		}
		log.Warn(diag.NVEntry, f.At(entries[0].NameSpan), text+" out of an nv package: nothing in it registers kernels by name").
			WithHelp("an nv package is for device functions; let nvcc compile kernels, or load a linked module with cuModuleLoadData")
	}
}

// noteLeftOut notes the PTX that is omitted because a package has PTX for only one GPU from each
// fatbin, since a link of the package cannot choose another.
func noteLeftOut(ctx context.Context, inputs []object.Input, files []*object.File, o Options, log *diag.Log) {
	kept, fatbins := map[string]bool{}, map[int]bool{}
	for _, f := range files {
		kept[f.Name] = true
		// Only texts from a fatbin have alternatives, and only they have a colon after the name of
		// their input.
		in := inputs[f.Input]
		if behind := strings.TrimPrefix(f.Name, cmp.Or(in.Name, in.Path)); strings.Contains(behind, ":") {
			fatbins[f.Input] = true
		}
	}
	maps := new(infile.Maps)
	defer maps.Close()
	for i, in := range inputs {
		if !fatbins[i] {
			continue
		}
		name := cmp.Or(in.Name, in.Path)
		var ignored diag.Log // Load has reported it
		var texts []string
		times := map[string]int{}
		object.Walk(ctx, in, nil, object.Options{MaxSize: o.MaxInputSize, Map: maps}, &ignored, func(from container.Object) bool {
			var took string
			var left []string
			for _, c := range object.Choose(from, "", &ignored) {
				if kept[c.Name] {
					took = c.Target
				} else {
					left = append(left, c.Target)
				}
			}
			if took == "" || len(left) == 0 {
				return true
			}
			text := fmt.Sprintf("kept the PTX for %s and left out %s", took, strings.Join(left, ", "))
			if times[text]++; times[text] == 1 {
				texts = append(texts, text)
			}
			return true
		})
		for _, text := range texts {
			if n := times[text]; n > 1 {
				text += fmt.Sprintf(", %d times", n)
			}
			m := log.Note(diag.At(&diag.Source{Name: name}, diag.Span{}), text)
			if o.Arch == "" {
				m.WithHelp(diag.Join(log.With("--arch", "%s chooses"), "ptxlink extract writes all of them to files"))
			}
		}
	}
}

func store(f *object.File, name string, r *container.Record, format Format) ([]byte, error) {
	if format != NV {
		return format.Store(container.Image{Text: f.Src.Text}, "", "")
	}
	r.OS, r.Arch = cmp.Or(r.OS, "linux"), cmp.Or(r.Arch, "x86_64")
	switch {
	case r.OS != "linux":
		return nil, fmt.Errorf("it was compiled for %s, and the objects of an nv package are ELF, which is for linux", r.OS)
	case f.AddressSize == 32:
		return nil, errors.New("it has 32-bit addresses, and an nv package is for 64-bit hosts")
	case r.Target == "":
		return nil, errors.New("it has no .target, and an nv package needs to say which it is for")
	}
	// nvcc passes these options to ptxas for such modules.
	options := "--compile-only "
	switch {
	case f.Debug:
		options += "-g --dont-merge-basicblocks --return-at-end "
	case f.LineInfo:
		options += "--generate-line-info "
	}
	return format.Store(container.Image{
		Text: f.Src.Text, Target: r.Target, Major: f.Version.Major, Minor: f.Version.Minor,
		OS: r.OS, AddressSize: f.AddressSize, Debug: f.Debug, Options: options,
	}, r.Arch, moduleID(name, r))
}

const moduleMark = "_ptxlink_"

// moduleID returns an identifier that is unique among the objects of a program. It depends on the
// name too, so that the same text under another name gets a different identifier.
func moduleID(name string, r *container.Record) string {
	return moduleMark + fmt.Sprintf("%x", sha256.Sum256([]byte(r.SHA256+" "+name)))[:16]
}

// newRecord returns the record of a module in a package, and its names in the index:
// definitions visible to other modules, in the order of the module.
func newRecord(f *object.File, host object.Host) (*container.Record, []string) {
	of := f.Host
	if of.OS == "" || of.OS == host.OS {
		of = of.Or(host)
	}
	r := &container.Record{
		SHA256: fmt.Sprintf("%x", sha256.Sum256(f.Src.Text)), Bytes: int64(len(f.Src.Text)),
		OS: of.OS, Arch: of.Arch, Model: of.Model,
		AddressSize: f.AddressSize, Version: f.Version.String(), Producer: f.Producer, Debug: f.Debug,
	}
	if len(f.Target) > 0 {
		r.Target = f.Target[0].Word
	}
	order := make([]ptx.NameID, len(f.Names))
	for n := range order {
		order[n] = ptx.NameID(n)
	}
	slices.SortStableFunc(order, func(a, b ptx.NameID) int { return int(f.NamePlace(a).Span.Off - f.NamePlace(b).Span.Off) })
	var symbols []string
	for _, n := range order {
		name, s := f.Names[n], f.Symbols[n]
		switch {
		case !s.Exported():
			continue
		case !s.Defined():
			if s.Uses > 0 {
				r.Needs = append(r.Needs, name)
			}
			continue
		case s.Linkage == ptx.Weak:
			r.Weak = append(r.Weak, name)
		case s.Linkage == ptx.Common:
			r.Common = append(r.Common, name)
		default:
			r.Defines = append(r.Defines, name)
		}
		symbols = append(symbols, name)
	}
	return r, symbols
}

// finish warns about members for different hosts. For an nv package it removes the records, and
// warns about two strong definitions of a name, because nvlink links every member of an archive,
// needed or not, and would report a duplicate. ptxlink links the first of the members instead.
func finish(members []Member, format Format, log *diag.Log) {
	warnOfHosts(members, log)
	if format != NV {
		return
	}
	first := map[string]string{}
	for i := range members {
		m := &members[i]
		if m.Record == nil {
			continue
		}
		for _, name := range m.Record.Defines {
			if before, ok := first[name]; ok {
				log.Warn(diag.DuplicateMemberSymbol, diag.Place{}, fmt.Sprintf("%s and %s both define %s, and nvlink links every member of an archive", before, m.Name, log.Name(name))).Of(name)
				continue
			}
			first[name] = m.Name
		}
		m.Record = nil
	}
}

// warnOfHosts warns about members for different operating systems, once for each, because a link
// would refuse most combinations of such modules.
func warnOfHosts(members []Member, log *diag.Log) {
	var first *Member
	told := map[string]bool{}
	for i := range members {
		m := &members[i]
		switch {
		case m.Record == nil || m.Record.OS == "":
		case first == nil:
			first = m
		case m.Record.OS != first.Record.OS && !told[m.Record.OS]:
			told[m.Record.OS] = true
			log.Warn(diag.Host, diag.Place{}, fmt.Sprintf("%s was compiled for %s, and %s for %s", first.Name, first.Record.OS, m.Name, m.Record.OS)).
				WithHelp("make a package for each operating system")
		}
	}
}
