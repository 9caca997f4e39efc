package link

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"ptxlink/internal/infile"
	"ptxlink/link/advice"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// inputs holds the files to link. Passes after resolve cannot change them.
type inputs struct {
	files  []*object.File // in command-line order
	pulls  []resolve.Pull
	unused []string // paths of archives with no linked member
	set    *object.Set
	cubins *resolve.Cubins
	empty  bool // files is a module without symbols, because only Options.Cubins are linked

	named    []object.Input    // the inputs of set
	redirect map[string]string // see resolve.Options
	// relinked holds the symbols of files before Options.Weaken and LocalizeInputs changed them, so
	// that they can be restored.
	relinked map[*object.File][]object.Symbol
}

// load reads the inputs, and the needed members of archives. If the index of an archive turns out
// to be wrong, load must read the archive again without it. A later call, with more linked cubins, loads
// only missing files.
func (in *inputs) load(ctx context.Context, o Options, maps *infile.Maps, log *diag.Log) (err error) {
	if in.named == nil {
		if in.redirect, err = o.redirect(); err != nil {
			return err
		}
		in.named = namedOnce(ctx, o.Inputs, log)
	}
	for {
		try := diag.Log{Messages: slices.Clone(log.Messages), Spelling: log.Spelling}
		if in.set == nil {
			if in.set, err = object.Open(ctx, in.named, object.Options{Jobs: o.Jobs, Arch: o.Arch, MaxSize: o.MaxInputSize, Map: maps, Lines: o.Optimize.Enabled()}, &try); err != nil {
				return err
			}
		}
		if try.Errors() == 0 {
			err = in.choose(ctx, o, &try)
		}
		if err == nil {
			again := in.set.Distrusted(log)
			if again == nil {
				*log = try
				if err = in.change(ctx, o, log); err == nil {
					err = loaded(*in, log)
				}
				if err == nil {
					return nil
				}
			}
			in.named = again
		}
		in.set = nil
		if err != nil {
			return err
		}
	}
}

// CheckInputs returns *Errors if Link would find an error in the inputs of o while reading them,
// before it compares them. It does not read the members of archives.
func CheckInputs(ctx context.Context, o Options) error {
	maps := &infile.Maps{}
	if !o.MapInputs {
		maps = nil
	}
	log := &diag.Log{Spelling: o.Spelling}
	set, err := object.Open(ctx, namedOnce(ctx, o.Inputs, log), object.Options{Jobs: o.Jobs, Arch: o.Arch, MaxSize: o.MaxInputSize, Map: maps}, log)
	if err == nil && log.Errors() > 0 {
		return &Errors{Messages: log.Messages, IO: set.Unread, maps: maps}
	}
	maps.Close()
	return err
}

func (in *inputs) choose(ctx context.Context, o Options, log *diag.Log) (err error) {
	for f, symbols := range in.relinked {
		f.Symbols = symbols
	}
	read := func(units []*object.Unit) error { return in.set.Read(ctx, units, log) }
	in.files, in.pulls, err = resolve.Live(in.set.Units, slices.Concat(o.Undefined, o.RequireDefined, in.cubins.Needed()), in.cubins.Names(), in.redirect, read)
	in.unused = unused(in.set.Archives(), in.files)
	if in.empty = len(in.files) == 0 && len(o.Cubins) > 0; in.empty && err == nil {
		gpu, _ := object.ParseGPU(o.Arch)
		in.files, _, err = object.Load(ctx, []object.Input{{Name: "<no PTX>", Text: object.EmptyModule(gpu)}}, object.Options{}, log)
	}
	return err
}

func (in *inputs) change(ctx context.Context, o Options, log *diag.Log) error {
	if len(o.Weaken) > 0 || len(o.LocalizeInputs) > 0 {
		in.relinked = map[*object.File][]object.Symbol{}
		for _, f := range in.files {
			in.relinked[f] = f.Symbols
		}
		relink(in.files, o, log)
	}
	if len(o.Define) == 0 {
		return nil
	}
	made, err := definedByOptions(ctx, in.files, o, in.redirect, log)
	if made != nil {
		in.files = append(in.files, made)
	}
	return err
}

// loaded returns an error if the inputs cannot be linked at all, because of reported errors or
// because there are none.
func loaded(in inputs, log *diag.Log) error {
	if len(in.files) == 0 && log.Errors() == 0 {
		nothingLinked(log)
	}
	if log.Errors() > 0 {
		advice.Copies(in.duplicated(), log)
		return &Errors{Messages: log.Messages, IO: in.set.Unread}
	}
	return nil
}

// duplicated returns the modules and cubins, for advice on names that two of them define.
func (in inputs) duplicated() (list []advice.Input) {
	for _, f := range in.files {
		module := advice.Input{Name: f.Src.Name, File: f}
		if f.Input < len(in.named) { // otherwise the link made it
			module.Given = cmp.Or(in.named[f.Input].Name, in.named[f.Input].Path)
		}
		list = append(list, module)
	}
	for _, c := range in.cubins.Linked() {
		cubin := advice.Input{Name: c.Name, Code: c.Data}
		for _, s := range c.Symbols {
			if s.Defined {
				cubin.Defines = append(cubin.Defines, s.Name)
			}
		}
		list = append(list, cubin)
	}
	return list
}

func nothingLinked(log *diag.Log) {
	log.Error(diag.NothingLinked, diag.Place{}, "nothing is linked: all inputs are archives, and nothing in them is needed").
		WithHelp(diag.Join(log.With("--whole-archive", "%s links all members"+log.With("-r", " (add %s for a library on its own)")), log.With("-u NAME", "%s links the one that defines NAME")))
}

// namedOnce drops inputs that are named a second time. For a file this is an error, because every
// definition in it would be a duplicate. An archive may be named twice, since its members are
// linked only once.
func namedOnce(ctx context.Context, list []Input, log *diag.Log) []Input {
	type place struct{ input, kept int }
	first := map[string]place{}
	kept := make([]Input, 0, len(list))
	for i, in := range object.Named(list) {
		if in.Path == "" || in.Text != nil || in.Reader != nil || in.Opened != nil {
			kept = append(kept, in)
			continue
		}
		path, err := filepath.Abs(in.Path)
		if err != nil {
			path = filepath.Clean(in.Path)
		}
		key := infile.Fold(path)
		earlier, twice := first[key]
		switch {
		case !twice:
			first[key] = place{i, len(kept)}
			kept = append(kept, in)
		case container.IsArchive(infile.Of(ctx).Head(in.Path, 8)): // its reader gets the same error
			same := &kept[earlier.kept]
			same.WholeArchive = same.WholeArchive || in.WholeArchive
		default:
			log.Error(diag.DuplicateInput, diag.Place{}, fmt.Sprintf("%s is named twice, as inputs %d and %d", in.Path, earlier.input+1, i+1))
		}
	}
	return kept
}

func unused(archives []string, live []*object.File) []string {
	used := map[string]bool{}
	for _, f := range live {
		used[f.Path] = true
	}
	return slices.DeleteFunc(archives, func(path string) bool { return used[path] })
}
