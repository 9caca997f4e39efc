package object

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Set holds the modules in the inputs of a link.
type Set struct {
	Units  []*Unit // in command-line order; modules of a container in file order
	Unread bool    // some input could not be read at all

	inputs  []Input
	stale   []*container.Error // by input: the error in its index
	options Options
	files   *fileTable

	spelling diag.Spelling            // of the log of Open
	unusable map[string]*diag.Message // by name, for Unusable; nil until it is called
}

// Unit is one module of the inputs, or several alternatives in one archive member; a link uses one
// of them. Units that are not Lazy have been read, or have errors.
type Unit struct {
	// Lazy is set for a member of an archive: it is read and linked only if
	// something needs it.
	Lazy  bool
	File  *File // nil until it is read, or if it has errors
	Input int   // the number of its input, as passed to Open

	member   *container.Member // nil until it is read through an index
	unusable string            // why it cannot be linked
	unread   bool
	index    *container.Index
	indexed  *container.Indexed
	recorded map[string]ptx.Linkage // what the index records for the unit, once read
	defines  []ptx.Definition       // of a lazy unit without an index
	opened   *openedUnit            // shared with other links; nil if it is not
}

// Open finds the modules of all inputs, in parallel, and reads those that are
// linked in any case. It learns the names that archive members define from the
// index of a package, without looking at the members, or else with ptx.Definitions. The
// log gets every error, in command-line order.
//
// Open and Set.Read read in parallel. Each worker writes only its own slot of the result
// and its own log, so that messages keep the order of the command line.
func Open(ctx context.Context, inputs []Input, o Options, log *diag.Log) (*Set, error) {
	s := &Set{inputs: slices.Clone(inputs), options: o, stale: make([]*container.Error, len(inputs)), files: newFileTable(ctx, o.Map)}
	opened := make([]opening, len(inputs))
	s.spelling = log.Spelling
	jobs := parallel.Jobs(o.Jobs, small(inputs))
	err := parallel.Each(ctx, len(inputs), jobs, func(i int) string { return "reading " + inputs[i].Name + inputs[i].Path }, func(i int) {
		op := &opened[i]
		op.log.Spelling = log.Spelling
		if s.inputs[i].Opened != nil {
			op.from(&s.inputs[i], i, o)
			return
		}
		op.open(ctx, s.files, &s.inputs[i], i, o)
		if op.started = len(op.units) == 1; op.started { // now, because the caches of the processor hold its text
			op.units[0].start(s, &op.log)
		}
	})
	if err == nil {
		err = ctx.Err() // since inputs that were not waited for have no message
	}
	if err != nil {
		return nil, err
	}
	units := 0
	var rest []*Unit
	for i := range opened {
		s.Unread = s.Unread || opened[i].unread
		units += len(opened[i].units)
		if !opened[i].started {
			rest = append(rest, opened[i].units...)
		}
	}
	logs := log.Split(len(rest))
	err = parallel.Each(ctx, len(rest), parallel.Jobs(o.Jobs, few(rest)), func(i int) string { return rest[i].reading() }, func(i int) {
		rest[i].start(s, &logs[i])
	})
	if err != nil {
		return nil, err
	}
	s.Units = make([]*Unit, 0, units)
	for i := range opened {
		log.Append(&opened[i].log)
		for _, u := range opened[i].units {
			if !opened[i].started {
				log.Append(&logs[0])
				logs = logs[1:]
			}
			if u.Lazy || u.File != nil {
				s.Units = append(s.Units, u)
			}
		}
	}
	return s, nil
}

// reading returns what a worker does with the unit, for the report of a panic.
func (u *Unit) reading() string {
	if u.member == nil {
		return "reading a member"
	}
	return "reading " + u.member.Name
}

// little is the number of bytes that one goroutine reads faster than others can be started.
const little = 1 << 15

// small reports whether the inputs are so small that one goroutine reads them faster than several.
// It returns false if a read could block, as on a pipe.
func small(inputs []Input) bool {
	size := int64(0)
	for i := range inputs {
		in := &inputs[i]
		switch {
		case in.Opened != nil:
		case in.Text != nil:
			size += int64(len(in.Text))
		case in.Reader != nil:
			return false
		default:
			info, err := os.Stat(in.Path)
			if err != nil || !info.Mode().IsRegular() {
				return false
			}
			size += info.Size()
		}
		if size > little {
			return false
		}
	}
	return true
}

// few reports whether one goroutine reads the units faster than several.
func few(units []*Unit) bool {
	size := 0
	for _, u := range units {
		if u.indexed != nil {
			return false
		}
		if size += len(u.member.Text); size > little {
			return false
		}
	}
	return true
}

// Archives returns the paths of the inputs with lazy units, in command-line order.
func (s *Set) Archives() (paths []string) {
	last := -1
	for _, u := range s.Units {
		if u.Lazy && u.Input != last && s.inputs[u.Input].Path != "" {
			last = u.Input
			paths = append(paths, s.inputs[u.Input].Path)
		}
	}
	return paths
}

// Read reads units that have not been read yet, in parallel. File stays nil for
// units with errors, which are in the log.
func (s *Set) Read(ctx context.Context, units []*Unit, log *diag.Log) error {
	if !slices.ContainsFunc(units, func(u *Unit) bool { return u.File == nil }) {
		return nil
	}
	logs := log.Split(len(units))
	stale := make([]*container.Error, len(units))
	err := parallel.Each(ctx, len(units), parallel.Jobs(s.options.Jobs, few(units)), func(i int) string { return units[i].reading() }, func(i int) {
		if units[i].File == nil {
			stale[i] = units[i].read(s, &logs[i])
		}
	})
	for i, u := range units {
		log.Append(&logs[i])
		s.Unread = s.Unread || u.unread
		s.stale[u.Input] = cmp.Or(s.stale[u.Input], stale[i])
	}
	return err
}

// Distrusted returns nil unless an index was found wrong while members were read,
// so that nothing read is reliable. It then warns and returns the inputs to open
// instead.
func (s *Set) Distrusted(log *diag.Log) []Input {
	var again []Input
	for i, fault := range s.stale {
		if fault != nil {
			again = s.inputs
			again[i].NoIndex = true
			warnStale(log, fault)
		}
	}
	return again
}

// Outlines returns outlines of the units that have not been read: their
// declarations and producers. Errors are ignored, because outlines serve only for messages.
func (s *Set) Outlines() (files []*File) {
	for _, u := range s.Units {
		if u.File != nil || u.unusable != "" {
			continue
		}
		member := u.member
		if u.indexed != nil {
			read, err := u.index.Read(u.indexed)
			if err != nil {
				continue
			}
			member = &read
		}
		m, fault := ptx.Outline(source(member))
		if fault != nil {
			continue
		}
		var ignored diag.Log
		f := declared(m, &ignored)
		f.Producer = producer(f.preamble())
		files = append(files, f)
	}
	return files
}

type opening struct {
	units  []*Unit
	log    diag.Log
	unread bool
	// started is set once its only unit has been started, see Unit.start.
	started bool
}

func (op *opening) open(ctx context.Context, files *fileTable, in *Input, i int, o Options) {
	data, index, ok := op.contents(ctx, files, in, o)
	if index != nil {
		for k := range index.Members {
			op.units = append(op.units, &Unit{Lazy: true, Input: i, index: index, indexed: &index.Members[k]})
		}
		return
	}
	if !ok {
		return
	}
	members, err := container.Open(in.name(), data, container.Options{MaxSize: o.MaxSize, Open: files.readRegular})
	if err != nil {
		op.unread = unread(err)
		otherGPU(err, o.Arch)
		Refuse(in.name(), err, &op.log)
		return
	}
	add := func(m *container.Member) *Unit {
		u := &Unit{Lazy: m.Archive && !in.WholeArchive, Input: i, member: m}
		op.units = append(op.units, u)
		return u
	}
	if o.All {
		for i := range members {
			add(&members[i])
		}
		return
	}
	alternatives(members, o.Arch, func(group []container.Member, best int) {
		if best >= 0 {
			add(&group[best])
			return
		}
		add(&group[0]).unusable = noneRuns(group, o.Arch)
	})
}

// contents returns what read does, or logs why there is nothing.
func (op *opening) contents(ctx context.Context, files *fileTable, in *Input, o Options) (data []byte, index *container.Index, ok bool) {
	at := func() diag.Place { return diag.At(&diag.Source{Name: in.name()}, diag.Span{}) }
	data, index, err := op.read(ctx, files, in, o)
	if err != nil {
		op.unread = true
		op.log.Error(diag.IO, at(), err.Error()).Err = err
		return nil, nil, false
	}
	if index == nil && len(bytes.Trim(data, " \t\r\n\x00")) == 0 {
		m := op.log.Error(diag.EmptyInput, at(), "the file is empty")
		if bytes.IndexByte(data, 0) >= 0 {
			m.Text = fmt.Sprintf("the file has %d bytes, all of them NULs or white space", len(data))
			m.WithHelp("the file was probably cut short by a crash; create it again")
		}
		return nil, nil, false
	}
	return data, index, true
}

// read returns the contents of an input, or the index of a package, which makes it
// unnecessary to read all members.
func (op *opening) read(ctx context.Context, files *fileTable, in *Input, o Options) (data []byte, index *container.Index, err error) {
	switch {
	case in.Text != nil:
		data = in.Text
	case in.Reader != nil:
		data, err = readAll(ctx, in.Reader, o.MaxSize)
		in.Text, in.Reader = data, nil // because a stream can be read only once
	case in.Path == "":
		err = errors.New("it has no Path, Text or Reader") // because a Name is not opened
	default:
		data, err = unlessDone(ctx, func() ([]byte, error) { return files.readAny(in.Path, o.MaxSize) })
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read: %w", infile.Reason(err))
	}
	if !in.WholeArchive && !in.NoIndex && !o.All && container.IsArchive(data) {
		if index = op.index(in.name(), data, o); index != nil {
			in.Text = data // for Set.Distrusted
		}
	}
	return data, index, nil
}

// Buffer reads a stream of at most limit bytes, with the default of Options.MaxSize, to its
// end, so that several passes can read it. It returns when ctx ends. A stream that cannot be
// read is replaced by one that gives the same error.
func Buffer(ctx context.Context, r io.Reader, limit int64) (text []byte, unread io.Reader) {
	text, err := readAll(ctx, r, limit)
	if err != nil {
		return nil, failed{err}
	}
	return text, nil
}

func readAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) { return infile.ReadAll(r, bound(limit)) })
}

// failed is a stream that cannot be read.
type failed struct{ error }

func (f failed) Read([]byte) (int, error) { return 0, f.error }

// unlessDone calls read, which may block on a pipe or a remote file system. It
// returns when ctx ends, and abandons the read, which it cannot interrupt.
func unlessDone(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		data  []byte
		err   error
		panic any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panic = recover()
			done <- r
		}()
		r.data, r.err = read()
	}()
	select {
	case r := <-done:
		if r.panic != nil {
			panic(r.panic)
		}
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// index returns nil if the file has no reliable index. It drops errors, because they are reported
// when the whole file is read.
func (op *opening) index(name string, data []byte, o Options) *container.Index {
	index, err := container.OpenIndex(name, data, container.Options{MaxSize: o.MaxSize})
	if fault, ok := errors.AsType[*container.Error](err); ok && fault.Stale {
		warnStale(&op.log, fault)
	}
	return index
}

func warnStale(log *diag.Log, fault *container.Error) {
	log.Warn(diag.StaleIndex, diag.At(&diag.Source{Name: fault.Name}, diag.Span{}), "the index of this archive is ignored: "+fault.Text).
		WithHelp("ptxlink ar s " + fault.Name + " rebuilds it")
}

// start reads a unit that is linked in any case, and only the definitions of a lazy
// one.
func (u *Unit) start(s *Set, log *diag.Log) {
	switch {
	case u.indexed != nil:
	case !u.Lazy:
		u.read(s, log)
	default:
		var ok bool
		if u.opened != nil {
			u.defines, ok = u.opened.definitions()
		} else {
			u.defines, ok = ptx.Definitions(source(u.member))
		}
		if ok {
			return
		}
		// The full parser reports the error, if it is one.
		if u.read(s, log); u.File == nil {
			u.Lazy = false
		}
	}
}

// read reads the unit. stale is the error in the index.
func (u *Unit) read(s *Set, log *diag.Log) (stale *container.Error) {
	if u.unusable != "" {
		u.refuse(s.options, log)
		return nil
	}
	if u.indexed != nil {
		member, err := u.index.Read(u.indexed)
		if err != nil {
			if f, ok := errors.AsType[*container.Error](err); ok && f.Stale {
				return f
			}
			u.unread = unread(err)
			Refuse(s.inputs[u.Input].name(), err, log)
			return nil
		}
		u.member = &member
	}
	var f *File
	if u.opened != nil {
		f = u.opened.read(log)
	} else {
		f = parse(u.member, log)
	}
	if f == nil {
		return nil
	}
	if s.options.Lines {
		f.Src.Line(int32(len(f.Src.Text)))
	}
	f.maps = s.options.Map
	f.DropText()
	f.Path = s.inputs[u.Input].Path
	u.File, u.defines = f, nil
	return nil
}

// Unusable returns an error about the first lazy unit that defines a name but cannot be
// linked, or nil. It is the same error for each of the unit's names. Such units offer
// nothing to a link.
func (s *Set) Unusable(name string) *diag.Message {
	if s.unusable == nil {
		s.unusable = map[string]*diag.Message{}
		for _, u := range s.Units {
			if !u.Lazy || u.unusable == "" {
				continue
			}
			log := diag.Log{Spelling: s.spelling}
			u.refuse(s.options, &log)
			for _, d := range u.defines {
				if s.unusable[d.Name] == nil {
					s.unusable[d.Name] = log.Messages[0]
				}
			}
		}
	}
	return s.unusable[name]
}

// ForNvlink returns advice for a member of libcudadevrt. A link for one GPU must leave such members
// to nvlink, because the library has PTX only for the newest GPU, and cubins for all. It returns ""
// for other members.
func ForNvlink(member, gpu string) string {
	if !IsCudadevrt(member[:max(0, strings.LastIndexByte(member, '('))]) {
		return ""
	}
	return fmt.Sprintf("write a cubin for one GPU, for which nvlink takes the library's: ptxlink FILE... --arch=%s -o out.cubin (docs/libraries.md)", gpu)
}

// refuse reports why the unit cannot be linked.
func (u *Unit) refuse(o Options, log *diag.Log) {
	help := "compile it for " + o.Arch + " or lower" + log.With("--arch", ", or choose another %s")
	if devrt := ForNvlink(u.member.Name, o.Arch); devrt != "" {
		help = devrt
	}
	log.Error(diag.ArchMismatch, diag.At(&diag.Source{Name: u.member.Name}, diag.Span{}), u.unusable).WithHelp(help)
}

// noneRuns says why no PTX of a group is usable.
func noneRuns(group []container.Member, arch string) string {
	var targets []string
	for _, m := range group {
		targets = append(targets, m.Target)
	}
	return fmt.Sprintf("no PTX in it runs on %s; there is %s", arch, strings.Join(targets, ", "))
}

// Offers calls visit with every name that the unit may define for others, before it
// is read. A unit that cannot be linked offers nothing. A name from an index comes with
// Local; Linkage gives the exact answer.
func (u *Unit) Offers(visit func(name string, hash uint64, linkage ptx.Linkage)) {
	if u.unusable != "" {
		return
	}
	if u.File == nil && u.indexed != nil {
		for _, name := range u.indexed.Defines {
			visit(name, sets.Hash(name), ptx.Local)
		}
		return
	}
	u.Definitions(visit)
}

// Definitions calls visit with every name that the unit defines for others.
func (u *Unit) Definitions(visit func(name string, hash uint64, linkage ptx.Linkage)) {
	switch {
	case u.File != nil:
		f := u.File
		for n, s := range f.Symbols {
			if s.Defined() && s.Exported() {
				visit(f.Names[n], f.NameHash(ptx.NameID(n)), s.Linkage)
			}
		}
	case u.indexed != nil:
		for name, linkage := range u.linkages() {
			visit(name, sets.Hash(name), linkage)
		}
	default:
		for _, d := range u.defines {
			if !IsNumbaShared(d.Name) { // because File.declare makes it private
				visit(d.Name, d.Hash, d.Linkage)
			}
		}
	}
}

// Linkage returns the linkage with which the index says that the unit defines
// a name for others; Local if it does not.
func (u *Unit) Linkage(name string) ptx.Linkage { return u.linkages()[name] }

// linkages returns the definitions that the index records for the unit. If the
// record cannot be read, the unit counts as defining all names in the index, so
// that it is read and the error is reported.
func (u *Unit) linkages() map[string]ptx.Linkage {
	if u.recorded != nil {
		return u.recorded
	}
	u.recorded = map[string]ptx.Linkage{}
	r, err := u.index.Record(u.indexed)
	if err != nil {
		r = container.Record{Defines: u.indexed.Defines}
	}
	for _, name := range r.Common {
		u.recorded[name] = ptx.Common
	}
	for _, name := range r.Weak {
		u.recorded[name] = ptx.Weak
	}
	for _, name := range r.Defines {
		u.recorded[name] = ptx.Visible
	}
	return u.recorded
}
