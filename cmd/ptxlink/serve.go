package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/link"
)

var serveCommand = subcommand{
	Command: described("serve"),
	flags:   commonFlags,
	run: func(c *command, opts *cli.Context) error {
		if len(c.inputs) > 0 {
			return usageError("serve takes no arguments", "ptxlink --help shows the usage")
		}
		collectAt(200) // what a request allocates does not live to the end of the process
		return (&server{out: c.stdout}).serve(opts.Context, c.stdin)
	},
}

// protocol is the version of the protocol. It grows with every change that a client can
// notice, but not with a new field of an answer.
const protocol = 1

const (
	maxHeader  = 16 << 20 // bytes
	maxRunning = 64       // requests that are read before others are answered
)

// memory is what a command reads and writes in place of files.
type memory struct {
	files     map[string][]byte
	outputs   map[string]*bytes.Buffer
	libraries *link.Linker // or nil
	linked    *link.Result
}

// request is the header of a request. The bytes of Files follow it.
type request struct {
	ID      int64     `json:"id"`
	Args    []string  `json:"args"`
	Files   []content `json:"files"`
	Outputs []string  `json:"outputs"`   // files that go into the answer
	Lines   bool      `json:"lines"`     // asks for answer.Lines
	Library string    `json:"libraries"` // a name that Keep gave
	Keep    string    `json:"keep"`      // keep Files as libraries under this name
	Arch    string    `json:"arch"`      // of Keep
	Drop    string    `json:"drop"`      // forget the libraries with this name
	Cancel  int64     `json:"cancel"`    // the request to end
}

// content is a file whose bytes follow the header.
type content struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
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
	failed    error    // of out
	libraries sync.Map // the *link.Linker of each name
	running   sync.Map // the context.CancelFunc of each ID
}

// serve answers requests until in ends. It then cancels those that run, as nobody reads their
// answers.
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
	if err := s.write(hello); err != nil {
		return err
	}
	slots, threads := make(chan struct{}, maxRunning), make(chan struct{}, max(4, runtime.GOMAXPROCS(0)))
	reader := bufio.NewReaderSize(in, 1<<16)
	for {
		r, files, err := readRequest(reader)
		switch {
		case err == io.EOF || errors.Is(err, syscall.ECONNRESET): // of a socket whose client died
			return nil
		case err != nil:
			s.answer(&answer{Code: exitUsage, Error: err.Error()})
			return &exitError{exitUsage, fmt.Errorf("standard input is not a request of ptxlink serve: %w", err)}
		case r.Cancel != 0:
			if stop, ok := s.running.Load(r.Cancel); ok {
				stop.(context.CancelFunc)()
			}
			continue
		}
		slots <- struct{}{}
		ctx, stop := context.WithCancel(ctx)
		if _, running := s.running.LoadOrStore(r.ID, stop); running {
			stop()
			<-slots
			s.answer(&answer{ID: r.ID, Code: exitUsage, Error: fmt.Sprintf("a request with the id %d is running", r.ID)})
			continue
		}
		group.Go(func() {
			threads <- struct{}{}
			a := s.run(ctx, r, files)
			<-threads
			s.running.Delete(r.ID)
			stop()
			<-slots
			if s.answer(a) != nil {
				cancel()
			}
		})
	}
}

// run does what a request asks for.
func (s *server) run(ctx context.Context, r *request, files map[string][]byte) *answer {
	a := &answer{ID: r.ID}
	refuse := func(format string, args ...any) *answer {
		a.Code, a.Error = exitUsage, fmt.Sprintf(format, args...)
		return a
	}
	switch {
	case r.Keep != "":
		var inputs []link.Input
		for _, f := range r.Files {
			inputs = append(inputs, link.Input{Name: f.Name, Text: files[f.Name]})
		}
		linker, err := link.NewLinker(ctx, r.Arch, inputs...)
		if err != nil {
			return refuse("%v", err)
		}
		s.libraries.Store(r.Keep, linker)
		return a
	case r.Drop != "":
		s.libraries.Delete(r.Drop)
		return a
	case len(r.Args) > 0 && r.Args[0] == "serve":
		return refuse("serve cannot run itself")
	}
	m := &memory{files: files, outputs: map[string]*bytes.Buffer{}}
	for _, name := range r.Outputs {
		m.outputs[name] = &bytes.Buffer{}
	}
	if r.Library != "" {
		kept, ok := s.libraries.Load(r.Library)
		if !ok {
			return refuse("no libraries are kept as %s", r.Library)
		}
		m.libraries = kept.(*link.Linker)
	}
	var stdout, stderr bytes.Buffer
	c := &command{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, memory: m}
	a.Code = c.run(ctx, r.Args)
	var list bytes.Buffer
	style := c.report.style
	style.Format = "json"
	link.WriteMessages(&list, c.report.shown, style)
	for line := range bytes.Lines(list.Bytes()) {
		a.Messages = append(a.Messages, json.RawMessage(bytes.TrimSpace(line)))
	}
	a.Stdout, a.Stderr, a.body = stdout.Len(), stderr.Len(), [][]byte{stdout.Bytes(), stderr.Bytes()}
	for _, name := range r.Outputs {
		if b := m.outputs[name]; a.Code == exitOK && b.Len() > 0 {
			a.Files = append(a.Files, content{name, int64(b.Len())})
			a.body = append(a.body, b.Bytes())
		}
	}
	if r.Lines && a.Code == exitOK && m.linked != nil {
		a.Modules, a.Lines = m.linked.Origins()
	}
	return a
}

// answer writes an answer.
func (s *server) answer(a *answer) error {
	header, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return s.write(header, a.body...)
}

// write writes a header and the bytes behind it. Once a write has failed, all do.
func (s *server) write(header []byte, body ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header...)
	for _, part := range append([][]byte{frame}, body...) {
		if s.failed == nil && len(part) > 0 {
			_, s.failed = s.out.Write(part)
		}
	}
	return s.failed
}

// readRequest reads a header and the files behind it. The error is io.EOF if there is no
// further request.
func readRequest(in *bufio.Reader) (*request, map[string][]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, nil, err // io.EOF between requests
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxHeader {
		return nil, nil, fmt.Errorf("a header of %d bytes; at most %d are allowed", n, maxHeader)
	}
	header, err := readBytes(in, int64(n))
	if err != nil {
		return nil, nil, err
	}
	r := &request{}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, nil, fmt.Errorf("the header: %w", err)
	}
	files := map[string][]byte{}
	for _, f := range r.Files {
		if _, twice := files[f.Name]; twice || f.Size < 0 {
			return nil, nil, fmt.Errorf("the file %q has a negative size or is sent twice", f.Name)
		}
		if files[f.Name], err = readBytes(in, f.Size); err != nil {
			return nil, nil, err
		}
	}
	return r, files, nil
}

// readBytes reads n bytes. It allocates memory for them as they come, because n may be wrong.
func readBytes(in io.Reader, n int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, n))
	if err == nil && int64(len(data)) < n {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// input returns the input of a link that is in memory under a name.
func (m *memory) input(in input) (link.Input, bool) {
	if m == nil || in.library {
		return link.Input{}, false
	}
	text, ok := m.files[in.name]
	return link.Input{Name: in.name, Text: text, WholeArchive: in.whole}, ok
}

// redirect makes outputs that are kept in memory go there.
func (m *memory) redirect(files []outfile.File) {
	if m == nil {
		return
	}
	for i, f := range files {
		if b := m.outputs[filepath.ToSlash(f.Path)]; b != nil && f.To == nil {
			files[i].To = b
		}
	}
}
