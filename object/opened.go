package object

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ptxlink/internal/infile"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Opened is an input that has been read, for several links, which may run at the same
// time. Its modules are parsed when a link first needs them.
type Opened struct {
	options Options
	units   []*openedUnit
}

type openedUnit struct {
	archive  bool
	member   container.Member
	unusable string

	definitions func() ([]ptx.Definition, bool) // the names that it defines for others

	parsed func() *File // nil if the module has errors, which are in log
	log    diag.Log
}

// Keep reads an input to its end, for Input.Opened. Of the options, it uses Arch and
// MaxSize. The log gets the errors; the result is then nil, and unread says whether
// the input could not be read at all.
func Keep(ctx context.Context, in Input, o Options, log *diag.Log) (opened *Opened, unread bool) {
	in.NoIndex = true
	o.Map, o.All = nil, false
	var op opening
	ctx, read := infile.Record(ctx)
	op.open(ctx, newFileTable(ctx, nil), &in, 0, o)
	if err := read.Changed(); err != nil { // first, because a file that changes may give other errors as well
		log.Error(diag.IO, diag.Place{}, err.Error()).Err = err
		return nil, true
	}
	log.Append(&op.log)
	if op.log.Errors() > 0 {
		return nil, op.unread
	}
	opened = &Opened{options: o}
	for _, u := range op.units {
		kept := &openedUnit{archive: u.member.Archive, member: *u.member, unusable: u.unusable}
		kept.definitions = sync.OnceValues(func() ([]ptx.Definition, bool) { return ptx.Definitions(source(&kept.member)) })
		kept.parsed = sync.OnceValue(func() *File { return parse(&kept.member, &kept.log) })
		opened.units = append(opened.units, kept)
	}
	return opened, false
}

// from fills the opening with the units of an input that has been read.
func (op *opening) from(in *Input, i int, o Options) {
	if in.Opened.options.Arch != o.Arch {
		op.log.Error(diag.ArchMismatch, diag.At(&diag.Source{Name: in.name()}, diag.Span{}), fmt.Sprintf("the library was opened for %q, and the link is for %q", in.Opened.options.Arch, o.Arch))
		return
	}
	for _, u := range in.Opened.units {
		op.units = append(op.units, &Unit{Lazy: u.archive && !in.WholeArchive, Input: i, member: &u.member, unusable: u.unusable, opened: u})
	}
}

// read returns a record for one link, because links change their records, and logs the errors of
// the unit, which are the same in every link.
func (u *openedUnit) read(log *diag.Log) *File {
	f := u.parsed()
	for _, m := range u.log.Messages {
		again := *m
		again.Notes = slices.Clip(again.Notes)
		log.Messages = append(log.Messages, &again)
	}
	if f == nil {
		return nil
	}
	return &File{record: f.record}
}

func source(member *container.Member) *diag.Source {
	return &diag.Source{Name: member.Name, Text: member.Text}
}

func parse(member *container.Member, log *diag.Log) *File {
	m, err := ptx.Parse(source(member))
	if err != nil {
		id := diag.Syntax
		if err.NotPTX {
			id = diag.NotPTX
		} else if at := int(err.Span.Off); at < len(m.Src.Text) && m.Src.Text[at] == 0 {
			id = diag.NUL
		}
		log.Error(id, diag.At(m.Src, err.Span), err.Text).WithHelp(err.Help)
		return nil
	}
	f := newFile(m, log)
	f.claim(member, log)
	return f
}
