package ptxas

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ptxlink/internal/outfile"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/link/partition"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/object/srcline"
)

// Options holds the options of ptxas.
type Options struct {
	// Path is the path of ptxas, as returned by Find.
	Path string
	// First are directories that Find, FindNvlink and FindFatbinary search before others.
	First []Directory
	// Arch is the GPU to assemble for, such as "sm_80". It has no default, because a cubin for the
	// wrong GPU would fail only when it is loaded.
	Arch string
	// Args are additional arguments (-Xptxas). They override the options below.
	Args []string
	// Debug and LineInfo are set if the module has DWARF, which needs -g, or .loc
	// lines, which need -lineinfo.
	Debug, LineInfo bool
	// Compile writes a relocatable cubin (-c).
	Compile bool
	// Usage asks for Output.Usages.
	Usage bool
	// SuppressStackWarnings drops the warnings that the size of a kernel's stack is not known.
	SuppressStackWarnings bool
	// Modules are the modules of the link. ptxas gets the options that they record.
	Modules []link.Module
	// Cubins are the cubins that nvlink links with the output of ptxas. If there are any, Build.Mode
	// must be Separate, and with Compile the result can be linked again.
	Cubins []*object.Cubin
	// Spelling is how messages name options and symbols.
	Spelling diag.Spelling
	// Cache keeps the output of ptxas; it may be nil.
	Cache *Cache
}

// ErrRejected is returned if ptxas or nvlink refuses a program, and the messages give the reason.
// Any other error means that a program failed, or comes from the machine.
var ErrRejected = tool.ErrRejected

// The names must be the same in every run and contain no directory, because with -g ptxas 13 writes
// its command line into the cubin.
const inputName, outputName = "linked.ptx", "linked.cubin"

// teller reports the messages of ptxas about a linked module.
type teller struct {
	Options
	linked *diag.Source
	lines  *link.LineMap
	// program returns the linked module with its graph, or an error if ptxlink cannot read it.
	program func() (*partition.Program, *ptx.Error)
	slots   slots
	hits    atomic.Int32 // number of results that came from the cache
	// recorded maps the names of inputs to the options that they record, if they record any.
	recorded map[string]string
	refused  []*diag.Message // warnings about recorded options that ptxas does not get

	way   string // the choice of Auto, and its reason
	apart bool   // functions are separate, but need not be

	mu     sync.Mutex
	spills map[string]Spills
}

// linkedName stands for the linked module in messages, unless a file has it.
const linkedName = "<linked module>"

func newTeller(o Options, r *link.Result) *teller {
	t := &teller{Options: o, linked: &diag.Source{Name: linkedName, Text: r.PTX}, lines: r.Lines, spills: map[string]Spills{}}
	t.program = sync.OnceValues(func() (*partition.Program, *ptx.Error) {
		m, err := ptx.Parse(t.linked)
		if err != nil {
			return nil, err
		}
		return partition.New(m), nil
	})
	t.recorded, t.refused = o.recorded()
	return t
}

// explained returns the messages of a log with the source lines of their places.
func explained(log *diag.Log) []*link.Message {
	lines := srcline.Finder{Spelling: log.Spelling, Parse: true}
	for _, m := range log.Messages {
		lines.Explain(m)
	}
	return log.Messages
}

// unit is a text for ptxas: the linked module or a part of it.
type unit struct {
	text    []byte
	line    func(int) int // the line of the linked module; nil if this is the linked module
	options []string      // options that its inputs record
}

// check returns an error if the module cannot be given to ptxas, because ptxas would not report the
// problem.
func (t *teller) check(log *diag.Log) error {
	if t.Arch == "" {
		return errors.New("ptxas needs the name of a GPU, such as sm_80")
	}
	if SetsArch(t.Args) {
		return errors.New("arguments for ptxas name a GPU, which Options.Arch names")
	}
	// A NUL must be refused, because ptxas 12.4 stops at it and exits 0, with a cubin of the part
	// before it.
	if at := bytes.IndexByte(t.linked.Text, 0); at >= 0 {
		log.Error(diag.NUL, diag.At(t.linked, diag.Span{Off: int32(at), Len: 1}), "ptxas would ignore everything after this NUL")
		return ErrRejected
	}
	log.Messages = append(log.Messages, t.refused...)
	return nil
}

func (t *teller) assemble(ctx context.Context, u unit, log *diag.Log) (cubin []byte, err error) {
	key := t.Cache.Key(ctx, t.Path, t.args(u, inputName, outputName), u.text)
	before := len(log.Messages)
	said, cubin, cached, err := t.Cache.Kept(ctx, key, container.CheckCubin, func() (said string, cubin []byte, err error) {
		err = t.slots.with(ctx, func() error {
			return withRoom(func() error {
				log.Messages = log.Messages[:before]
				said, cubin, err = t.run(ctx, u, log)
				return err
			})
		})
		return said, cubin, err
	})
	if cached {
		t.hits.Add(1)
		t.hear(said, u, log)
	}
	return cubin, err
}

func (t *teller) run(ctx context.Context, u unit, log *diag.Log) (_ string, cubin []byte, err error) {
	dir, remove, err := outfile.TempDir(outfile.File{Path: inputName, Data: u.text})
	if err != nil {
		return "", nil, err
	}
	defer remove()
	out, err := tool.Run(ctx, tool.Command{Path: t.Path, Args: t.args(u, inputName, outputName), Dir: dir})
	if err != nil {
		return "", nil, err
	}
	said := string(out.Said)
	own := log.Split(1)[0]
	t.hear(said, u, &own)
	noteLeft("ptxas", out.Left, &own)
	cubin, err = out.Take("ptxas", diag.PtxasFailed, own.Errors() > 0, tool.Wanted{Form: "cubin", Dir: dir, File: outputName, Check: container.CheckCubin})
	log.Append(without(&own, err))
	if failed, ok := errors.AsType[*diag.Message](err); ok {
		switch {
		case out.Killed() != "":
			failed.Help += "; try another version" + log.With("--ptxas", " with %s") + ", and write the PTX instead of a cubin to see what it crashed on"
			if bytes.Contains(u.text, []byte(".debug_info")) { // ptxas 12.4 crashes on some from LLVM 22
				failed.Help += log.With("-S", "; %s drops debug information, which it may have crashed on")
			}
		case out.State.Success() && object.IsVirtual(t.Arch):
			failed.Help = t.Arch + " is a virtual architecture, for which ptxas only checks the module; name a GPU, such as sm_80"
		}
	}
	return said, cubin, err
}

// args returns the command line. The user's arguments must come last, so that they win.
func (o Options) args(u unit, input, output string) []string {
	args := []string{"-arch=" + o.Arch}
	if o.Compile && !given(o.Args, "-c", "--compile-only") {
		args = append(args, "-c")
	}
	// ptxas must print spills. -v does not depend on Usage, because ptxas 13 may write its command
	// line into the cubin.
	if !talks(o.Args) {
		args = append(args, "-v")
	}
	// ptxas accepts -g or -lineinfo, but not both.
	if !given(o.Args, "-g", "--device-debug", "-lineinfo", "--generate-line-info") {
		if o.Debug {
			args = append(args, "-g")
		} else if o.LineInfo {
			args = append(args, "-lineinfo")
		}
	}
	args = append(append(args, u.options...), o.Args...)
	return append(args, input, "-o", output)
}

func talks(args []string) bool { return given(args, "-v", "--verbose") }

// SetsArch reports whether arguments for ptxas (-Xptxas) name a GPU. They must not, because the
// link would not be checked for it.
func SetsArch(args []string) bool { return given(args, "-arch", "--gpu-name") }

// given reports whether one of the names is among the arguments, alone or as name=value.
func given(args []string, names ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(names, name)
	})
}
