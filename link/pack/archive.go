package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Archive is an ar archive in memory, of PTX or other files. `ptxlink ar` lists and
// changes archives with it.
type Archive struct {
	Name    string
	Members []Member // as they are stored, in order; without indexes
	Thin    bool     // the members are separate files; the archive has only their names
	// MaxInputSize bounds the bytes that all compressed members together may grow to when they are
	// described; 0 is 4 GiB.
	MaxInputSize int64

	records []container.Record // records of the package that was read
}

// ReadArchive reads an archive of any kind. name is its name in messages. The error
// is *link.Errors.
func ReadArchive(name string, data []byte) (*Archive, error) {
	a, err := container.ReadArchive(name, data)
	if err != nil {
		var log diag.Log
		object.Refuse(name, err, &log)
		return nil, &link.Errors{Messages: log.Messages}
	}
	return &Archive{Name: name, Members: a.Members, Thin: a.Thin, records: a.Records}, nil
}

// Find returns the index of the member called name, or -1 if there is none. k.ptx also
// finds k.ptx.zst and k.o, its names in packages of other formats, but not an object
// from a compiler.
func (a *Archive) Find(name string) int { return a.FindAfter(-1, name) }

// FindAfter is like Find, but searches only the members after index at. Several
// members may have the same name.
func (a *Archive) FindAfter(at int, name string) int {
	for _, format := range []Format{Plain, Zstd, NV} {
		stored := format.StoredName(name)
		for i := at + 1; i < len(a.Members); i++ {
			m := a.Members[i]
			if m.Name == stored && (stored == name || format != NV || isPacked(m)) {
				return i
			}
		}
	}
	return -1
}

// isPacked reports whether a member is an object of an nv package instead of an object from a
// compiler.
func isPacked(m Member) bool { return slices.ContainsFunc(m.ELFSymbols(), isWrapper) }

// Format returns the format of the members, or "" if there are none, or only objects
// from a compiler, which are kept when members are added.
func (a *Archive) Format() Format {
	format := Format("")
	for _, m := range a.Members {
		switch {
		case m.IsMeta():
		case m.IsZstd():
			return Zstd
		case !m.IsHostObject():
			format = Plain
		case format == "" && isPacked(m):
			format = NV
		}
	}
	return format
}

// Add adds the inputs as members, in the format of the archive; see Make. Each member replaces the
// member of the same name. If there is none, or replace is false, it is appended instead, and a
// name in use gets a number. Add returns the names of the members, and which of them replaced
// others.
func (a *Archive) Add(ctx context.Context, o Options, replace bool) (names []string, replaced []bool, messages []*link.Message, err error) {
	if have := a.Format(); have != "" {
		o.Format = have
	}
	log := diag.Log{Spelling: o.Spelling}
	taken := takenNames{}
	for _, m := range a.Members {
		// A PTX file must not replace an object from a compiler.
		if !replace || m.IsHostObject() && !isPacked(m) {
			taken[m.Name] = 1
		}
	}
	members, err := packMembers(ctx, o, taken, &log)
	if err != nil {
		return nil, nil, nil, err
	}
	added := map[string]bool{}
	for _, m := range members {
		added[m.Name] = true
	}
	for _, m := range members {
		at := slices.IndexFunc(a.Members, func(old Member) bool { return old.Name == m.Name })
		if at >= 0 {
			a.keepHost(m.Record, a.Members[at])
			a.warnOfNamesakes(m.Name, added, &log)
			a.Members[at] = m
		} else {
			a.Members = append(a.Members, m)
		}
		names, replaced = append(names, m.Name), append(replaced, at >= 0)
	}
	return names, replaced, log.Messages, nil
}

// keepHost copies the recorded host of a replaced member to the new member if the new one records
// none, because usually both come from the same file.
func (a *Archive) keepHost(r *container.Record, old Member) {
	texts, err := old.PTX(old.Name, container.Options{MaxSize: a.MaxInputSize})
	if err != nil || len(texts) != 1 {
		return
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(texts[0].Text))
	for _, known := range a.records {
		if known.Name == old.Name && known.SHA256 == sum { // otherwise another tool added it
			r.KeepHost(known)
		}
	}
}

// warnOfNamesakes warns if there are members from other files of the same name,
// because the user may have meant one of those.
func (a *Archive) warnOfNamesakes(name string, added map[string]bool, log *diag.Log) {
	var others []string
	for taken := (takenNames{name: 1}); ; {
		next := freeName(name, taken, exact)
		if !slices.ContainsFunc(a.Members, func(m Member) bool { return m.Name == next }) {
			break
		}
		if !added[next] {
			others = append(others, next)
		}
	}
	if len(others) > 0 {
		log.Warn(diag.MemberName, diag.Place{}, fmt.Sprintf("%s of %s was replaced, but %s may have been meant", name, a.Name, strings.Join(others, " or "))).
			WithHelp("give the file the name of the member, or create the package again from all its files")
	}
}

// Bytes returns the archive as a file, with a new index, unless it is disabled, and new
// records of a package. The bytes of the members do not change. The definitions of a
// member are read from its PTX and, for host objects, also from their symbols. If PTX
// is invalid, the error is *link.Errors.
//
// The recorded host of an unchanged member is kept.
func (a *Archive) Bytes(ctx context.Context, index bool) ([]byte, []*link.Message, error) {
	var log diag.Log
	members := slices.DeleteFunc(slices.Clone(a.Members), Member.IsMeta)
	if err := a.describe(ctx, members, &log); err != nil {
		return nil, nil, err
	}
	finish(members, a.Format(), &log)
	if !index {
		for i := range members {
			members[i].Symbols = nil
		}
	}
	data, err := container.WriteArchive(members, index)
	return data, log.Messages, err
}

// describe finds the definitions of the members. Members that were just added have a record
// already, so they are skipped.
func (a *Archive) describe(ctx context.Context, members []Member, log *diag.Log) error {
	known := map[string]*container.Record{}
	for i, r := range a.records {
		known[r.Name+" "+r.SHA256] = &a.records[i]
	}
	inputs, owners := a.texts(members, log)
	if len(inputs) == 0 && log.Errors() == 0 {
		return nil
	}
	files, _, err := object.Load(ctx, inputs, object.Options{All: true}, log)
	if err != nil {
		return err
	}
	if log.Errors() > 0 {
		return &link.Errors{Messages: log.Messages}
	}
	for k := 0; k < len(files); {
		m, first := &members[owners[k]], k
		for k++; k < len(files) && owners[k] == owners[first]; k++ {
		}
		if r := a.record(m, files[first:k]); r != nil {
			if old := known[m.Name+" "+r.SHA256]; old != nil {
				r.KeepHost(*old)
			}
			m.Record = r
		}
	}
	return nil
}

// texts returns the texts in the members without a record, and for each text the member that
// contains it.
func (a *Archive) texts(members []Member, log *diag.Log) (inputs []object.Input, owners []int) {
	left := cmp.Or(a.MaxInputSize, container.DefaultMaxSize)
	for i, m := range members {
		if m.Record != nil {
			continue
		}
		members[i].Symbols = m.ELFSymbols()
		name := a.Name + "(" + m.Name + ")"
		if m.IsWindowsObject() {
			// The new index would lack the symbols that link.exe looks up.
			log.Error(diag.ArchiveFormat, diag.At(&diag.Source{Name: name}, diag.Span{}), "this is an object for Windows; ptxlink does not change archives of these").
				WithHelp("change the archive with Microsoft's lib or llvm-lib")
			break
		}
		texts, err := m.PTX(name, container.Options{MaxSize: max(left, 1)})
		if err != nil {
			object.Refuse(name, err, log)
			continue
		}
		for _, t := range texts {
			if len(m.Data) == 0 || len(t.Text) == 0 || &t.Text[0] != &m.Data[0] { // not the stored bytes
				left -= int64(len(t.Text))
			}
			inputs = append(inputs, object.Input{Name: t.Name, Text: t.Text})
			owners = append(owners, i)
		}
	}
	return inputs, owners
}

// record adds the symbols of the modules in a member, and returns its record, or nil if it cannot
// have one, because a record describes a member with a single text. Only finish handles host
// objects.
func (a *Archive) record(m *Member, modules []*object.File) (r *container.Record) {
	listed := map[string]bool{} // names that the index has for the member
	for _, s := range m.Symbols {
		listed[s] = true
	}
	for _, f := range modules {
		var symbols []string
		// The index must not have device functions. Otherwise the host linker would link
		// libcudadevrt's object for the cudaGetLastError of libcudart.
		if r, symbols = newRecord(f, object.Host{}); m.IsHostObject() && !slices.ContainsFunc(m.Symbols, isWrapper) {
			continue
		}
		for _, s := range symbols {
			if !listed[s] {
				m.Symbols = append(m.Symbols, s)
				listed[s] = true
			}
		}
	}
	switch {
	case len(modules) > 1,
		m.IsHostObject() && a.Format() != NV,
		!m.IsHostObject() && !m.IsZstd() && string(m.Data) != string(modules[0].Src.Text):
		return nil
	}
	return r
}

// isWrapper reports whether a symbol can only be from an object of an nv package.
func isWrapper(symbol string) bool { return strings.HasPrefix(symbol, "__fatbinwrap"+moduleMark) }

// Delete removes the members at these indexes.
func (a *Archive) Delete(at []int) {
	kept := a.Members[:0:0]
	for i, m := range a.Members {
		if !slices.Contains(at, i) {
			kept = append(kept, m)
		}
	}
	a.Members = kept
}

// CanExtract returns an error if a member cannot be written to a directory as a file with its name.
func CanExtract(m Member) error {
	if m.Name == "" || m.Name == "." || m.Name == ".." || strings.ContainsAny(m.Name, "/\\\x00") {
		return fmt.Errorf("member %q is not written: its name leads to another directory", m.Name)
	}
	if !filepath.IsLocal(m.Name) { // such as con.ptx, x:y.ptx
		return fmt.Errorf("member %q is not written: Windows reserves its name; ptxlink extract chooses another", m.Name)
	}
	return nil
}
