package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"ptxlink/internal/diag"
	"ptxlink/object/ptx"
)

// Input is where a module is read from: Text, else Reader, else Path.
type Input struct {
	Name   string // as messages call it; Path if empty
	Path   string
	Text   []byte
	Reader io.Reader
}

// Load reads and parses all inputs, at most jobs at a time, and returns them in
// command-line order. Every fault of every input is in the log, also in that
// order. unread says that some input could not be read at all.
//
// It is the only worker pool for reading. A worker owns what it writes: its
// slot of the result and its log.
func Load(ctx context.Context, inputs []Input, jobs int, log *diag.Log) (files []*File, unread bool, err error) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	loaded := make([]*File, len(inputs))
	logs := make([]diag.Log, len(inputs))
	failed := make([]bool, len(inputs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for i, in := range inputs {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			defer func() {
				// A panic here would end the process without a word of ours.
				if r := recover(); r != nil {
					err = &Panic{Input: in.Name + in.Path, Value: r, Stack: debug.Stack()}
				}
			}()
			src, err := read(in)
			if err != nil {
				failed[i] = true
				logs[i].Error(diag.At(src, diag.Span{}), err.Error())
				return nil
			}
			if loaded[i] = parse(src, &logs[i]); loaded[i] != nil {
				loaded[i].Path = in.Path
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		var p *Panic
		if errors.As(err, &p) {
			panic(p)
		}
		return nil, false, err
	}
	for i, f := range loaded {
		log.Append(&logs[i])
		unread = unread || failed[i]
		if f != nil {
			f.Rank = len(files)
			files = append(files, f)
		}
	}
	return files, unread, nil
}

// Panic is a panic of a worker of Load, thrown again where Load was called.
type Panic struct {
	Input string
	Value any
	Stack []byte // of the worker
}

func (p *Panic) Error() string {
	return fmt.Sprintf("reading %s: %v\n%s", p.Input, p.Value, p.Stack)
}

func read(in Input) (*diag.Source, error) {
	src := &diag.Source{Name: in.Name, Text: in.Text}
	if src.Name == "" {
		src.Name = in.Path
	}
	var err error
	switch {
	case in.Text != nil:
	case in.Reader != nil:
		src.Text, err = io.ReadAll(in.Reader)
	default:
		src.Text, err = os.ReadFile(in.Path)
	}
	if err == nil {
		return src, nil
	}
	// The path is already in front of the message.
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return src, fmt.Errorf("cannot read: %w", err)
}

func parse(src *diag.Source, log *diag.Log) *File {
	if what := notPTX(src.Text); what != "" {
		log.Error(diag.At(src, diag.Span{}), what)
		return nil
	}
	m, err := ptx.Parse(src)
	if err != nil {
		log.Error(diag.At(src, err.Span), err.Text).Help = err.Help
		return nil
	}
	return newFile(m, log)
}

// notPTX names the things that people pass by mistake.
func notPTX(text []byte) string {
	for _, form := range []struct{ magic, what string }{
		{"!<arch>\n", "this is an archive; extract its PTX members and pass those (archives are not read yet)"},
		{"!<thin>\n", "this is a thin archive; pass its members (archives are not read yet)"},
		{"\x7fELF", "this is an ELF file (a cubin or host object), not PTX; compile to PTX instead (nvcc -ptx)"},
		{"\x50\xed\x55\xba", "this is a fatbin; extract its PTX with cuobjdump -xptx all (fatbins are not read yet)"},
		{"BC\xc0\xde", "this is LLVM bitcode, not PTX; compile it with llc -march=nvptx64"},
		{"\x1f\x8b", "this is gzip data; decompress it first"},
		{"\x28\xb5\x2f\xfd", "this is zstd data; decompress it first"},
	} {
		if bytes.HasPrefix(text, []byte(form.magic)) {
			return form.what
		}
	}
	if len(bytes.Trim(text, " \t\r\n\x00")) == 0 {
		return "the file is empty"
	}
	return ""
}
