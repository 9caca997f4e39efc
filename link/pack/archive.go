package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
)

// Archive is an ar archive in memory, of PTX or anything else, to be listed and
// changed: `ptxlink ar`.
type Archive struct {
	Name    string
	Members []Member // as they are stored, in order; without indexes
	Thin    bool     // the members are files of their own: there are only names
	// MaxInputSize bounds the bytes that all compressed members together may grow
	// to when they are described; 0 is 4 GiB.
	MaxInputSize int64

	records []container.Record // of the package that was read
}

// ReadArchive reads an archive of any kind. name is what messages call it. The
// error is *link.Errors.
func ReadArchive(name string, data []byte) (*Archive, error) {
	a, err := container.ReadArchive(name, data)
	if err != nil {
		var log diag.Log
		object.Refuse(name, err, &log)
		return nil, &link.Errors{Messages: public(&log)}
	}
	return &Archive{Name: name, Members: a.Members, Thin: a.Thin, records: a.Records}, nil
}

// Find is the index of the member called name, -1 if there is none. k.ptx also
// finds k.ptx.zst and k.o, which it is called in packages of other formats, but
// not an object that no package made.
func (a *Archive) Find(name string) int { return a.FindAfter(-1, name) }

// FindAfter is Find among the members behind the one at that index: several may
// have one name.
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

// isPacked says that a member is an object of an nv package, not one that a
// compiler made.
func isPacked(m Member) bool { return slices.ContainsFunc(m.ELFSymbols(), isWrapper) }

// Format is how the members are stored, empty if there are none, or none but
// objects of a compiler: new ones go beside those.
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

// Add makes members of inputs as Make does, in the format of the archive. Each
// takes the place of the member of its name; if there is none, or replace is
// false, it comes last, and a name that is taken gets a number. It returns the
// names of the members, and which of them took the place of others.
func (a *Archive) Add(ctx context.Context, o Options, replace bool) (names []string, replaced []bool, messages []*link.Message, err error) {
	if have := a.Format(); have != "" {
		o.Format = have
	}
	var log diag.Log
	taken := takenNames{}
	for _, m := range a.Members {
		// An object of a compiler is not what a file of PTX takes the place of.
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
	return names, replaced, public(&log), nil
}

// keepHost takes over what the archive said of the host of the member in whose
// place another one comes, if that one does not say. It was made of the same
// file, as a rule.
func (a *Archive) keepHost(r *container.Record, old Member) {
	texts, err := old.PTX(old.Name, container.Options{MaxSize: a.MaxInputSize})
	if err != nil || len(texts) != 1 {
		return
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(texts[0].Text))
	for _, known := range a.records {
		if known.Name == old.Name && known.SHA256 == sum { // not one that another tool put there
			r.KeepHost(known)
		}
	}
}

// warnOfNamesakes warns of members that were made of other files of that name:
// which of them the user meant, their names do not tell.
func (a *Archive) warnOfNamesakes(name string, added map[string]bool, log *diag.Log) {
	var others []string
	for taken := (takenNames{name: 1}); ; {
		next := freeName(name, taken)
		if !slices.ContainsFunc(a.Members, func(m Member) bool { return m.Name == next }) {
			break
		}
		if !added[next] {
			others = append(others, next)
		}
	}
	if len(others) > 0 {
		log.Warn(diag.MemberName, diag.Place{}, fmt.Sprintf("%s of %s was replaced, but %s may have been meant", name, a.Name, strings.Join(others, " or "))).
			WithHelp("give the file the name of the member, or make the package anew of all its files")
	}
}

// Bytes is the archive as a file, with its index, if that is wanted, and with
// the records of a package made anew. The bytes of the members stay as they
// are. What a member offers is read from its PTX and, of host objects, from
// their symbols too, so all PTX must be sound: the error is *link.Errors if not.
//
// What the archive said of the host of a member that has not changed is kept.
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
	return data, public(&log), err
}

// describe finds out what the members offer that were not added just now.
func (a *Archive) describe(ctx context.Context, members []Member, log *diag.Log) error {
	known := map[string]*container.Record{}
	for i, r := range a.records {
		known[r.Name+" "+r.SHA256] = &a.records[i]
	}
	var inputs []object.Input
	var owners []int // the member that each input lies in
	left := cmp.Or(a.MaxInputSize, container.DefaultMaxSize)
	for i, m := range members {
		if m.Record != nil {
			continue
		}
		members[i].Symbols = m.ELFSymbols()
		name := a.Name + "(" + m.Name + ")"
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
	if len(inputs) == 0 && log.Errors() == 0 {
		return nil
	}
	files, _, err := object.Load(ctx, inputs, object.Options{All: true}, log)
	if err != nil {
		return err
	}
	if log.Errors() > 0 {
		return &link.Errors{Messages: public(log)}
	}
	var listed map[string]bool // names that the index has for the member at hand
	for k, f := range files {
		m := &members[owners[k]]
		first := k == 0 || owners[k-1] != owners[k]
		if first {
			listed = map[string]bool{}
			for _, s := range m.Symbols {
				listed[s] = true
			}
		}
		r, symbols := newRecord(f, object.Host{})
		// With device functions in the index, the host's linker would take
		// libcudadevrt's object for the cudaGetLastError that is in libcudart.
		if m.IsHostObject() && !slices.ContainsFunc(m.Symbols, isWrapper) {
			symbols = nil
		}
		for _, s := range symbols {
			if !listed[s] {
				m.Symbols = append(m.Symbols, s)
				listed[s] = true
			}
		}
		// A record is of a member that is one text. Host objects are looked at
		// by finish alone.
		alone := first && (k+1 == len(files) || owners[k+1] != owners[k])
		if m.IsHostObject() {
			alone = alone && a.Format() == NV
		} else if !m.IsZstd() {
			alone = alone && string(m.Data) == string(f.Src.Text)
		}
		if !alone {
			continue
		}
		if old := known[m.Name+" "+r.SHA256]; old != nil {
			r.KeepHost(*old)
		}
		m.Record = r
	}
	return nil
}

// isWrapper says that a symbol is that of an object of an nv package.
func isWrapper(symbol string) bool { return strings.HasPrefix(symbol, "__fatbinwrap"+moduleMark) }

// Delete takes the members at these indexes out.
func (a *Archive) Delete(at []int) {
	kept := a.Members[:0:0]
	for i, m := range a.Members {
		if !slices.Contains(at, i) {
			kept = append(kept, m)
		}
	}
	a.Members = kept
}

// CanExtract says why a member cannot become a file of its name in a folder;
// nil if it can.
func CanExtract(m Member) error {
	if m.Name == "" || m.Name == "." || m.Name == ".." || strings.ContainsAny(m.Name, "/\\\x00") {
		return fmt.Errorf("member %q is not written: its name leads to another folder", m.Name)
	}
	return nil
}

// IsArchive says that data begins as an ar archive does.
func IsArchive(data []byte) bool { return container.IsArchive(data) }
