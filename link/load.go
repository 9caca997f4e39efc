package link

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ptxlink/internal/mapped"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/resolve"
)

// inputs holds the files to link. They no longer change.
type inputs struct {
	files  []*object.File // in command-line order
	pulls  []resolve.Pull
	unused []string // paths of archives with no linked member
	set    *object.Set

	redirect map[string]string // see resolve.Options
}

// load reads the inputs, and the needed members of archives. If the index of an
// archive turns out to be wrong, load reads the archive again without it.
func load(ctx context.Context, o Options, cubins cubins, maps *mapped.Files, log *diag.Log) (inputs, error) {
	redirect, err := o.redirect()
	if err != nil {
		return inputs{}, err
	}
	named := objectInputs(namedOnce(o.Inputs, log))
	for {
		try := diag.Log{Messages: slices.Clone(log.Messages), Spelling: log.Spelling}
		set, err := object.Open(ctx, named, object.Options{Jobs: o.Jobs, Arch: o.Arch, MaxSize: o.MaxInputSize, Map: maps}, &try)
		if err != nil {
			return inputs{}, err
		}
		in := inputs{set: set, redirect: redirect}
		if try.Errors() == 0 {
			read := func(units []*object.Unit) error { return set.Read(ctx, units, &try) }
			in.files, in.pulls, err = resolve.Live(set.Units, slices.Concat(o.Undefined, o.RequireDefined, cubins.needed), cubins.names, redirect, read)
			in.unused = unused(set.Archives(), in.files)
		}
		if err == nil {
			if named = set.Distrusted(log); named == nil {
				*log = try
				if len(o.Weaken) > 0 || len(o.LocalizeInputs) > 0 {
					relink(in.files, o, log)
				}
				if len(o.Define) > 0 {
					err = in.define(ctx, o, log)
				}
				if err == nil {
					err = loaded(in, log)
				}
				if err == nil {
					return in, nil
				}
			}
		}
		set.Close()
		if err != nil {
			return inputs{}, err
		}
	}
}

// define adds the variables of Options.Define.
func (in *inputs) define(ctx context.Context, o Options, log *diag.Log) error {
	made, err := definedByOptions(ctx, in.files, o, log)
	if made != nil {
		in.files = append(in.files, made)
	}
	return err
}

// loaded returns an error if the inputs cannot be linked at all.
func loaded(in inputs, log *diag.Log) error {
	if len(in.files) == 0 && log.Errors() == 0 {
		log.Error(diag.NothingLinked, diag.Place{}, "nothing is linked: all inputs are archives, and nothing in them is needed").
			WithHelp(diag.Join(log.With("--whole-archive", "%s links all members"+log.With("-r", " (add %s for a library on its own)")), log.With("-u NAME", "%s links the one that defines NAME")))
	}
	if log.Errors() > 0 {
		return &Errors{Messages: log.Messages, IO: in.set.Unread}
	}
	return nil
}

// namedOnce drops inputs that are named a second time. For a file this is an error,
// because every definition in it would be a duplicate. An archive may be named
// twice; its members are linked once.
func namedOnce(list []Input, log *diag.Log) []Input {
	type place struct{ input, kept int }
	first := map[string]place{}
	kept := make([]Input, 0, len(list))
	for i, in := range list {
		if in.Name == "" && in.Path == "" {
			in.Name = nameless(i)
		}
		if in.Path == "" || in.Text != nil || in.Reader != nil || in.opened != nil {
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
			log.Error(diag.DuplicateInput, diag.Place{}, fmt.Sprintf("%s is named twice, as inputs %d and %d", in.Path, earlier.input+1, i+1))
		}
	}
	return kept
}

// isArchive reports whether the file starts like an archive. It returns false for
// files it cannot read.
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

// unused returns the paths of the archives without a live member.
func unused(archives []string, live []*object.File) []string {
	used := map[string]bool{}
	for _, f := range live {
		used[f.Path] = true
	}
	return slices.DeleteFunc(archives, func(path string) bool { return used[path] })
}

// close releases what is not linked.
func (in *inputs) close() {
	in.set.Close()
	in.set = nil
}
