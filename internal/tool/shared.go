package tool

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"ptxlink/internal/infile"
)

// MaxEntry is the largest data that Get returns, in bytes.
const MaxEntry = 1 << 30

// OpenStore returns the store that a command makes. It does not start the command yet.
func OpenStore(command string) (*Store, error) { return openStore(command, 5*time.Second) }

// openStore is OpenStore. patience is how long a store may take to begin; it may take ten times as long for an
// answer.
func openStore(command string, patience time.Duration) (*Store, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil, errors.New("prog: names no command")
	}
	return &Store{words: words, patience: patience}, nil
}

// CheckKey returns an error if key is not 64 hexadecimal digits.
func CheckKey(key string) error {
	if len(key) != 64 || strings.Trim(key, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not a key", key)
	}
	return nil
}

// ErrDamaged is returned by Get if the store has something else than what was kept.
var ErrDamaged = errors.New("it has something else than what was kept")

// maxAnswer is the largest size of an answer of a program, in bytes.
const maxAnswer = 1 << 20

// Store keeps data by key, 64 hexadecimal digits. Several goroutines may use it. It is a program
// that speaks the protocol of GOCACHEPROG (go help environment, cmd/go/internal/cacheprog):
// requests and answers are lines of JSON.
type Store struct {
	words    []string
	patience time.Duration
	start    sync.Once
	in       io.WriteCloser
	command  *exec.Cmd
	ready    chan struct{} // closed when err and known are set
	err      error         // why the program could not be started
	known    []string      // the commands that it has

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan Answer
	flooded bool // it answered more than it was asked for
}

// Request is a request of the protocol. The body of a put, if it has bytes, follows as a string in
// base64.
type Request struct {
	ID       int64
	Command  string
	ActionID []byte `json:",omitempty"`
	OutputID []byte `json:",omitempty"`
	BodySize int64  `json:",omitempty"`
}

// Answer is an answer. The first has ID 0 and lists the commands.
type Answer struct {
	ID            int64
	Err           string   `json:",omitempty"`
	KnownCommands []string `json:",omitempty"`
	Miss          bool     `json:",omitempty"`
	Damaged       bool     `json:",omitempty"` // a Miss because of ErrDamaged, for ptxlink alone
	OutputID      []byte   `json:",omitempty"`
	Size          int64    `json:",omitempty"`
	DiskPath      string   `json:",omitempty"`
}

// String names the store in messages, without arguments, which may have a password.
func (p *Store) String() string { return "prog:" + p.words[0] }

// run starts the program, and waits until it has listed its commands.
func (p *Store) run(ctx context.Context) error {
	p.start.Do(func() {
		p.ready = make(chan struct{})
		p.command = exec.Command(p.words[0], p.words[1:]...)
		p.command.Stderr = os.Stderr
		Lead(p.command)
		p.waiting = map[int64]chan Answer{0: make(chan Answer, 1)}
		hello := p.waiting[0]
		var out io.Reader
		if p.in, p.err = p.command.StdinPipe(); p.err == nil {
			out, p.err = p.command.StdoutPipe()
		}
		if p.err == nil {
			p.err = p.command.Start()
		}
		if p.err != nil {
			close(p.ready)
			return
		}
		go p.receive(out)
		go p.greet(hello)
	})
	select {
	case <-p.ready:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// greet waits for the first answer, which lists the commands.
func (p *Store) greet(hello chan Answer) {
	defer close(p.ready)
	select {
	case answer, ok := <-hello:
		if p.known = answer.KnownCommands; !ok {
			p.err = p.ended()
		}
	case <-time.After(p.patience):
		p.err = fmt.Errorf("it says nothing for %v", p.patience)
		Kill(p.command)
	}
}

var errEnded, errFlooded = errors.New("it has ended"), errors.New("it answers more than it was asked for")

// ended returns why the store gives no answers.
func (p *Store) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flooded {
		return errFlooded
	}
	return errEnded
}

func (p *Store) receive(out io.Reader) {
	part := &io.LimitedReader{R: out}
	lines, flooded := json.NewDecoder(part), false
	for !flooded {
		var answer Answer
		part.N = maxAnswer
		if err := lines.Decode(&answer); err != nil {
			flooded = part.N == 0
			break
		}
		p.mu.Lock()
		to := p.waiting[answer.ID]
		delete(p.waiting, answer.ID)
		p.mu.Unlock()
		if flooded = to == nil; !flooded {
			to <- answer
		}
	}
	if flooded {
		Kill(p.command)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flooded = flooded
	for _, to := range p.waiting {
		close(to)
	}
	p.waiting = nil
}

func (p *Store) ask(ctx context.Context, r Request, body []byte) (answer Answer, err error) {
	if err := p.run(ctx); err != nil {
		return answer, err
	}
	if !slices.Contains(p.known, r.Command) {
		return Answer{Miss: true}, nil
	}
	p.mu.Lock()
	if p.waiting == nil {
		p.mu.Unlock()
		return answer, p.ended()
	}
	p.last++
	r.ID = p.last
	to := make(chan Answer, 1)
	p.waiting[r.ID] = to
	text, err := json.Marshal(r)
	text = append(text, '\n')
	if len(body) > 0 {
		text = append(text, '"')
		text = base64.StdEncoding.AppendEncode(text, body)
		text = append(text, "\"\n"...)
	}
	if err == nil {
		if pipe, ok := p.in.(interface{ SetWriteDeadline(time.Time) error }); ok {
			pipe.SetWriteDeadline(time.Now().Add(10 * p.patience))
		}
		if _, err = p.in.Write(text); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			err = errEnded // because the pipe is closed
		}
	}
	p.mu.Unlock()
	if err != nil {
		return answer, err
	}
	timeout := time.NewTimer(10 * p.patience)
	defer timeout.Stop()
	select {
	case answer, ok := <-to:
		if !ok {
			return answer, p.ended()
		}
		if answer.Err != "" {
			return answer, errors.New(answer.Err)
		}
		return answer, nil
	case <-timeout.C:
		Kill(p.command) // so that the others need not wait as long
		return answer, fmt.Errorf("it gives no answer for %v", 10*p.patience)
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// Get returns the data stored under a key, or nil. The caller must check the data: a store may
// return anything.
func (p *Store) Get(ctx context.Context, key string) ([]byte, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	id, _ := hex.DecodeString(key)
	answer, err := p.ask(ctx, Request{Command: "get", ActionID: id}, nil)
	if answer.Damaged {
		err = cmp.Or(err, ErrDamaged)
	}
	if err != nil || answer.Miss || answer.DiskPath == "" {
		return nil, err
	}
	f, info, err := infile.OpenRegular(answer.DiskPath, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > MaxEntry {
		return nil, fmt.Errorf("%s has %d bytes", answer.DiskPath, info.Size())
	}
	return infile.Read(f, info)
}

func (p *Store) Put(ctx context.Context, key string, data []byte) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	id, _ := hex.DecodeString(key)
	digest := sha256.Sum256(data)
	_, err := p.ask(ctx, Request{Command: "put", ActionID: id, OutputID: digest[:], BodySize: int64(len(data))}, bytes.Clone(data))
	return err
}

// Close ends the program, with what it has started and left in its process group. It kills the program
// if that does not end, or at once if ctx is done.
func (p *Store) Close(ctx context.Context) error {
	if p.command == nil || p.command.Process == nil {
		return nil
	}
	p.ask(ctx, Request{Command: "close"}, nil)
	p.in.Close()
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { Kill(p.command) })()
	err := p.command.Wait()
	Kill(p.command)
	return err
}
