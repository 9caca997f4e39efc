// Package link turns PTX modules into one: it is the order of the passes.
package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"ptxlink/abicheck"
	"ptxlink/abicheck/atomics"
	"ptxlink/abicheck/dwarftypes"
	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// linker is the state of one link. Each pass adds to it and changes nothing
// that an earlier pass left.
type linker struct {
	options Options
	log     *diag.Log
	passes  []Pass

	files      []*object.File
	pulls      []resolve.Pull
	unused     []string    // paths of archives that gave nothing
	host       object.Host // of all inputs, as far as they say
	table      *resolve.Table
	names      *resolve.Names
	renamed    []bool // per file: some name differs from the input's
	locals     map[declID][]resolve.LocalRename
	debug      debugPlan
	fileTable  *fileTable
	sameFiles  []bool // per file: .loc directives stay as they are
	warnedFile map[int32]bool
}

// Link links the inputs into one module. Inputs that cannot be linked give
// *Errors with every fault that was found, and no Result; other errors are a
// cancelled context, no inputs at all, an Options.Host or Arch that is none and
// an AllowUndefined that is no pattern. Calls may run at the same time.
func Link(ctx context.Context, o Options) (*Result, error) {
	l := &linker{options: o, log: &diag.Log{}, warnedFile: map[int32]bool{}}
	if len(o.Inputs) == 0 {
		return nil, errors.New("no inputs")
	}

	var host object.Host
	if o.Host != "" {
		var err error
		if host, err = object.ParseHost(o.Host); err != nil {
			return nil, err
		}
	}
	if err := CheckArch(o.Arch); err != nil {
		return nil, err
	}
	for _, pattern := range o.AllowUndefined {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%q of AllowUndefined is not a pattern: %w", pattern, err)
		}
	}
	l.namedTwice()
	var err error
	var set *object.Set
	l.pass("load", func() { set, err = l.load(ctx) })
	if err != nil {
		return nil, err
	}
	// Files are immutable from here.

	l.pass("resolve", func() {
		l.table = resolve.Resolve(l.files, resolve.Options{Relocatable: o.Relocatable, AllowUndefined: o.AllowUndefined, Unlinked: set.Outlines}, l.log)
	})
	set.Close()
	set = nil // and what is not linked need not stay in memory
	l.requireDefined()
	// No file or symbol is added after this.

	var h header
	l.pass("check", func() {
		var addressSize int
		addressSize, l.host = abicheck.Hosts(l.files, abicheck.HostOptions{Host: host, AllowMismatch: o.AllowHostMismatch}, l.log)
		h = mergeHeaders(l.files, addressSize, l.log)
		checkArch(l.files, h, o.Arch, l.log)
		abicheck.Conventions(l.table, l.log)
		abicheck.Symbols(l.table, l.log)
		abicheck.SystemCalls(l.table, h.addressSize, l.log)
		abicheck.WeakBodies(l.table, l.log)
		dwarftypes.Check(l.table, l.log)
		abicheck.CxxNames(l.table, l.log)
		abicheck.Commons(l.table, l.log)
		abicheck.PrivateCopies(l.table, l.log)
		abicheck.Alignments(l.table, l.log)
		abicheck.Calls(l.table, l.log)
		if !o.Relocatable {
			abicheck.IndirectCalls(l.table, l.log)
		}
		if o.Atomics {
			atomics.Check(l.table, l.log)
		}
	})
	if l.log.Errors() > 0 {
		return nil, l.refused()
	}

	if err := ctx.Err(); err != nil {
		return nil, err
	}

	l.pass("rename", func() { l.rename() })
	// Every output name is now known.

	var p *plan
	l.pass("plan", func() {
		l.chooseDebug()
		l.mergeLines()
		if err = l.mergeDebug(ctx); err == nil {
			p = l.plan(h)
		}
	})
	if err != nil {
		return nil, err
	}
	if l.log.Errors() > 0 {
		return nil, l.refused()
	}

	if o.CheckOnly {
		return l.result(p, &writer{}), nil
	}

	var w *writer
	l.pass("emit", func() { w = l.emit(p) })
	return l.result(p, w), nil
}

// load reads the inputs, and of archives what is needed. An index that turns
// out wrong is no reason to give up: the archive is then read without it.
func (l *linker) load(ctx context.Context) (*object.Set, error) {
	o := l.options
	inputs := objectInputs(o.Inputs)
	for {
		log := diag.Log{Messages: slices.Clone(l.log.Messages)}
		set, err := object.Open(ctx, inputs, object.Options{Jobs: o.Jobs, Arch: o.Arch, MaxSize: o.MaxInputSize}, &log)
		if err != nil {
			return nil, err
		}
		if log.Errors() == 0 {
			read := func(units []*object.Unit) error { return set.Read(ctx, units, &log) }
			l.files, l.pulls, err = resolve.Live(set.Units, append(slices.Clone(o.Undefined), o.RequireDefined...), read)
			l.unused = unused(set.Archives(), l.files)
		}
		if err == nil {
			if inputs = set.Distrusted(l.log); inputs == nil {
				*l.log = log
				if err = l.loaded(set); err == nil {
					return set, nil
				}
			}
		}
		set.Close()
		if err != nil {
			return nil, err
		}
	}
}

// loaded says why what was read cannot be linked at all.
func (l *linker) loaded(set *object.Set) error {
	if len(l.files) == 0 && l.log.Errors() == 0 {
		l.log.Error(diag.NothingLinked, diag.Place{}, "nothing is linked: all inputs are archives, which are empty or of which nothing is needed").
			WithHelp("--whole-archive links all members, beside -r those of a library on its own; -u NAME links the one that defines NAME")
	}
	if l.log.Errors() > 0 {
		return &Errors{Messages: l.log.Messages, IO: set.Unread}
	}
	return nil
}

// namedTwice reports files that are inputs twice, once each: every definition in
// them would be a multiple one. An archive may be: what it has is linked once.
func (l *linker) namedTwice() {
	type place struct{ input, kept int }
	first := map[string]place{}
	var kept []Input
	for i, in := range l.options.Inputs {
		if in.Name == "" && in.Path == "" {
			in.Name = nameless(i)
		}
		if in.Path == "" || in.Text != nil || in.Reader != nil {
			kept = append(kept, in)
			continue
		}
		path, err := filepath.Abs(in.Path)
		if err != nil {
			path = filepath.Clean(in.Path)
		}
		earlier, twice := first[path]
		switch {
		case !twice:
			first[path] = place{i, len(kept)}
			kept = append(kept, in)
		case isArchive(path):
			same := &kept[earlier.kept]
			same.WholeArchive = same.WholeArchive || in.WholeArchive
		default:
			l.log.Error(diag.DuplicateInput, diag.Place{}, fmt.Sprintf("%s is named twice, as inputs %d and %d", in.Path, earlier.input+1, i+1))
		}
	}
	l.options.Inputs = kept
}

// isArchive says that a file begins as an archive does. What cannot be read is
// none, and read again.
func isArchive(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	_, err = io.ReadFull(f, head)
	return err == nil && container.IsArchive(head)
}

// unused are the paths of the archives of which no member is live.
func unused(archives []string, live []*object.File) []string {
	used := map[string]bool{}
	for _, f := range live {
		used[f.Path] = true
	}
	return slices.DeleteFunc(archives, func(path string) bool { return used[path] })
}

// requireDefined reports names of --require-defined that nothing defines.
func (l *linker) requireDefined() {
	for _, name := range l.options.RequireDefined {
		if s, ok := l.table.Lookup(name); !ok || !s.Defined() {
			l.log.Error(diag.UndefinedSymbol, diag.Place{}, "no input defines "+diag.Name(name)+", which --require-defined asks for")
		}
	}
}

func (l *linker) pass(name string, run func()) {
	start := time.Now()
	run()
	l.passes = append(l.passes, Pass{name, time.Since(start)})
}

// refused is the error of a link that found faults: messages in command-line
// order, whatever pass found them.
func (l *linker) refused() error { return &Errors{Messages: l.sorted()} }

func (l *linker) sorted() []*diag.Message {
	rank := map[*diag.Source]int{nil: -1}
	for i, f := range l.files {
		rank[f.Src] = i
	}
	sort.SliceStable(l.log.Messages, func(i, j int) bool {
		a, b := l.log.Messages[i].Place, l.log.Messages[j].Place
		if rank[a.Source] != rank[b.Source] {
			return rank[a.Source] < rank[b.Source]
		}
		return a.Span.Off < b.Span.Off
	})
	return l.log.Messages
}

func (l *linker) rename() {
	l.names = resolve.Rename(l.table)
	l.renamed = make([]bool, len(l.files))
	for _, id := range l.names.Renamed {
		f := l.files[id.File]
		l.renamed[id.File] = true
		if d := f.DeclOf(id.Name); d != nil && d.Kind == ptx.Entry {
			l.log.Warn(diag.EntryRenamed, f.At(d.NameSpan), fmt.Sprintf("entry %s is called %s in the output: it has no linkage, and another input has the name too", diag.Name(f.Names[id.Name]), l.names.Of(id))).
				WithHelp("make it .visible under a name of its own, so that the host can find it")
		}
	}
	l.locals = map[declID][]resolve.LocalRename{}
	for _, local := range l.names.Locals {
		at := declID{local.File, local.Decl}
		l.locals[at] = append(l.locals[at], local)
	}
}

// mergeLines numbers the files and finds the inputs whose .loc lines need no
// change at all.
func (l *linker) mergeLines() {
	l.fileTable = l.mergeFiles(l.debug.verbatim)
	l.sameFiles = make([]bool, len(l.files))
	for i, f := range l.files {
		same := true
		for index, n := range l.fileTable.of[i] {
			same = same && index == n
		}
		for _, file := range f.Files {
			same = same && file.In < 0
		}
		for k := 0; same && k < len(f.Locs); k++ {
			loc := &f.Locs[k]
			_, known := l.fileTable.of[i][loc.File]
			_, knownInlined := l.fileTable.of[i][loc.InlinedAt]
			same = known && (loc.Tail.Len == 0 || knownInlined && i == l.debug.verbatim)
		}
		l.sameFiles[i] = same
	}
}
