package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/report"
	"ptxlink/object"
	"ptxlink/object/diag"
)

var serveCommand = subcommand{
	Command: described("serve"),
	run: func(c *command, opts *cli.Context) error {
		if len(c.inputs) > 0 {
			return usageError("serve takes no arguments", "ptxlink --help shows the usage")
		}
		collectAt(200) // what a request allocates does not live to the end of the process
		in, out, err := apart(c.stdin, c.stdout)
		if err != nil {
			return fmt.Errorf("cannot use standard input and output: %w", err)
		}
		return (&server{out: out, broken: make(chan struct{})}).serve(opts.Context, in)
	},
}

// protocol is the version of the protocol. It grows with every change that a client can
// notice, but not with a new field of an answer.
const protocol = 1

const maxRunning = 64 // requests that are read before others are answered

// memory is what a command reads and writes in place of files.
type memory struct {
	files     map[string][]byte
	names     map[string][]string // of tellApart
	outputs   map[string]*output
	libraries *link.Linker // or nil
	linked    *link.Result
}

// output is an output that stays in memory.
type output struct {
	bytes.Buffer
	named   bool // by an option
	written bool
}

// answer is the header of an answer. The bytes of Stdout, Stderr and Files follow it.
type answer struct {
	ID       int64             `json:"id"`
	Code     int               `json:"code"` // the exit code
	Error    string            `json:"error,omitempty"`
	Messages []json.RawMessage `json:"messages,omitempty"`
	Stdout   int               `json:"stdout"`
	Stderr   int               `json:"stderr"`
	Files    []content         `json:"files,omitempty"`
	Modules  []string          `json:"modules,omitempty"`
	Lines    []int             `json:"lines,omitempty"`
	body     [][]byte
}

type server struct {
	mu        sync.Mutex // of out and failed
	out       io.Writer
	failed    error         // of out
	broken    chan struct{} // closed once failed is set
	libraries sync.Map      // the *link.Linker of each name
	running   sync.Map      // the context.CancelFunc of each ID
}

// serve answers requests until in ends, or an answer cannot be written. It then cancels those that
// run, as nobody reads their answers.
func (s *server) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() {
		cancel()
		done := make(chan bool)
		go func() { group.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(patience): // for one that waits for a pipe or a file system
		}
	}()
	hello, _ := json.Marshal(struct {
		Protocol int    `json:"protocol"`
		Version  string `json:"version"`
	}{protocol, version()})
	s.write(hello)
	slots, threads := make(chan struct{}, maxRunning), make(chan struct{}, max(4, runtime.GOMAXPROCS(0)))
	frames := make(chan frame)
	go readRequests(ctx, in, frames) // it may wait for in when an answer cannot be written
	for {
		var f frame
		select {
		case f = <-frames:
		case <-s.broken:
			return s.failed
		}
		switch {
		case f.err == io.EOF || errors.Is(f.err, syscall.ECONNRESET): // of a socket whose client died
			return nil
		case f.err != nil:
			code, what := exitIO, "cannot read standard input"
			if _, ok := errors.AsType[brokenFrame](f.err); ok {
				code, what = exitUsage, "standard input is not a request of ptxlink serve"
			}
			err := outfile.Reason(f.err)
			s.answer(&answer{Code: code, Error: err.Error()})
			return &exitError{code, fmt.Errorf("%s: %w", what, err)}
		case f.refused != nil:
			code := exitUsage
			if errors.Is(f.refused, infile.ErrNoRoom) {
				code = exitIO
			}
			s.answer(&answer{ID: f.id, Code: code, Error: f.refused.Error()})
			continue
		case f.cancel != 0:
			if stop, ok := s.running.Load(f.cancel); ok {
				stop.(context.CancelFunc)()
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-s.broken:
			return s.failed
		}
		ctx, stop := context.WithCancel(ctx)
		if _, running := s.running.LoadOrStore(f.id, stop); running {
			stop()
			<-slots
			s.answer(&answer{ID: f.id, Code: exitUsage, Error: fmt.Sprintf("a request with the id %d is running", f.id)})
			continue
		}
		group.Go(func() {
			turn := threads
			select {
			case turn <- struct{}{}:
			case <-ctx.Done(): // run returns at once
				turn = nil
			}
			a := s.run(ctx, f.request)
			if turn != nil {
				<-turn
			}
			s.running.Delete(f.id)
			stop()
			<-slots
			s.answer(a)
		})
	}
}

// run does what a request asks for.
func (s *server) run(ctx context.Context, r *request) *answer {
	a := &answer{ID: r.id}
	if r.drop != "" {
		s.libraries.Delete(r.drop)
		return a
	}
	m := &memory{files: map[string][]byte{}, names: tellApart(r.files), outputs: map[string]*output{}}
	for _, f := range r.files {
		m.files[f.Name] = f.data
	}
	for _, name := range r.outputs {
		m.outputs[name] = &output{}
	}
	if r.libraries != "" {
		kept, ok := s.libraries.Load(r.libraries)
		if !ok {
			a.Code, a.Error = exitUsage, "no libraries are kept as "+r.libraries
			return a
		}
		m.libraries = kept.(*link.Linker)
	}
	var stdout, stderr bytes.Buffer
	c := &command{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, memory: m}
	a.Code = c.guard(ctx, func(ctx context.Context) error {
		if r.keep != "" {
			return s.keep(ctx, c, r)
		}
		err := c.start(ctx, r.args)
		if err == nil && r.lines && m.linked != nil {
			a.Modules, a.Lines = report.Origins(m.linked)
		}
		return err
	})
	var list bytes.Buffer
	style := c.report.style
	style.Format = "json"
	diag.Write(&list, c.report.shown, style)
	for line := range bytes.Lines(list.Bytes()) {
		a.Messages = append(a.Messages, json.RawMessage(bytes.TrimSpace(line)))
	}
	a.Stdout, a.Stderr, a.body = stdout.Len(), stderr.Len(), [][]byte{stdout.Bytes(), stderr.Bytes()}
	for _, name := range r.outputs {
		if o := m.outputs[name]; a.Code == exitOK && o.written {
			a.Files = append(a.Files, content{Name: name, Size: int64(o.Len())})
			a.body = append(a.body, o.Bytes())
		}
	}
	return a
}

// keep reads the files of a request as libraries.
func (s *server) keep(ctx context.Context, c *command, r *request) error {
	var inputs []link.Input
	for _, f := range r.files {
		inputs = append(inputs, link.Input{Name: f.Name, Text: f.data})
	}
	if err := object.CheckArch(r.arch, diag.Spelling{Options: func(string) (string, bool) { return "arch", true }}); err != nil {
		return err
	}
	linker, err := link.NewLinker(ctx, r.arch, inputs...)
	if err != nil {
		return c.refused(err)
	}
	s.libraries.Store(r.keep, linker)
	return nil
}

// answer writes an answer.
func (s *server) answer(a *answer) {
	header, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	s.write(header, a.body...)
}

// write writes a header and the bytes after it. After a write has failed, it writes nothing.
func (s *server) write(header []byte, body ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return
	}
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header...)
	for _, part := range append([][]byte{frame}, body...) {
		if len(part) == 0 {
			continue
		}
		if _, err := s.out.Write(part); err != nil {
			s.failed = outfile.CannotWrite("standard output", err)
			close(s.broken)
			return
		}
	}
}

// renameInputs gives inputs that are several files in memory the names of these, in order.
func (c *command) renameInputs() error {
	m := c.memory
	if m == nil {
		return nil
	}
	used := map[string]int{}
	for i, in := range c.inputs {
		if in.library {
			continue
		}
		if names := m.names[in.name]; len(names) > 1 && used[in.name] < len(names) {
			c.inputs[i].name = names[used[in.name]]
		}
		used[in.name]++
	}
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		if sent := len(m.names[name]); sent > 1 && used[name] != sent {
			return usageError(fmt.Sprintf("files has %d called %s, and args has %d", sent, name, used[name]), "")
		}
	}
	return nil
}

// input returns the input of a link that is in memory under a name.
func (m *memory) input(in input) (link.Input, bool) {
	if m == nil || in.library {
		return link.Input{}, false
	}
	text, ok := m.files[in.name]
	return link.Input{Name: in.name, Text: text, WholeArchive: in.whole}, ok
}

// output returns the output with a name that stays in memory, or nil.
func (m *memory) output(name string) *output {
	if m == nil {
		return nil
	}
	return m.outputs[filepath.ToSlash(name)]
}

// redirect makes outputs that are kept in memory go there.
func (m *memory) redirect(files []outfile.File) {
	for i, f := range files {
		if o := m.output(f.Path); o != nil && f.To == nil {
			o.named, o.written = true, true
			files[i].To = o
		}
	}
}

// unnamed returns an error if no option names one of the outputs that stay in memory.
func (m *memory) unnamed() error {
	if m == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.outputs)) {
		if !m.outputs[name].named {
			return usageError("no option writes the output "+name, "")
		}
	}
	return nil
}
