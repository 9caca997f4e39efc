// Command ptxlink-cache keeps what ptxlink --cache=http://HOST/PATH gives it on a server with the
// layout of Bazel's HTTP cache. ptxlink starts it and speaks the protocol of Go's GOCACHEPROG with
// it: it is a program of its own because package net would make every start of ptxlink longer. The
// server is that of $PTXLINK_CACHE_SERVER, or its argument.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ptxlink/internal/shared"
)

func main() {
	where := os.Getenv(shared.ServerVariable)
	if len(os.Args) == 2 {
		where = os.Args[1]
	}
	if where == "" || strings.HasPrefix(where, "-") {
		fmt.Fprintln(os.Stderr, "usage: ptxlink-cache http://HOST/PATH, as GOCACHEPROG; ptxlink --cache=http://HOST/PATH runs it")
		os.Exit(2)
	}
	signal.Ignore(os.Interrupt) // Ctrl-C ends ptxlink, and with it standard input: then the directory goes
	if err := run(where, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "ptxlink-cache: %v\n", err)
		os.Exit(1)
	}
}

// run answers requests until their end. What the server has is written to files of a temporary
// directory, as the protocol wants it.
func run(where string, in io.Reader, out io.Writer) error {
	s, err := open(where, 5*time.Second)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ptxlink-cache-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var lock sync.Mutex
	answers := json.NewEncoder(out)
	answer := func(a shared.Answer) {
		lock.Lock()
		defer lock.Unlock()
		answers.Encode(a) // if nobody reads it, no request comes
	}
	answer(shared.Answer{KnownCommands: []string{"get", "put", "close"}})
	requests := json.NewDecoder(bufio.NewReader(in))
	var running sync.WaitGroup
	defer running.Wait()
	for {
		var r shared.Request
		if err := requests.Decode(&r); err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		var body []byte
		if r.BodySize > 0 {
			if err := requests.Decode(&body); err != nil {
				return err
			}
		}
		if r.Command == "close" {
			running.Wait()
			answer(shared.Answer{ID: r.ID})
			return nil
		}
		running.Go(func() {
			a, err := s.do(r, body, dir)
			if a.ID = r.ID; err != nil {
				a.Err = cmp.Or(err.Error(), "failed")
			}
			answer(a)
		})
	}
}

// do answers a request.
func (s *server) do(r shared.Request, body []byte, dir string) (a shared.Answer, err error) {
	key := hex.EncodeToString(r.ActionID)
	path := filepath.Join(dir, key)
	switch r.Command {
	case "get":
		data, err := s.Get(context.Background(), key)
		if errors.Is(err, shared.ErrDamaged) {
			return shared.Answer{Miss: true, Damaged: true}, nil
		}
		if err != nil || data == nil {
			return shared.Answer{Miss: true}, err
		}
		a.Size = int64(len(data))
		a.OutputID = r.ActionID
		body = data
	case "put":
		if err := s.Put(context.Background(), key, body); err != nil {
			return a, err
		}
	default:
		return a, fmt.Errorf("unknown command %q", r.Command)
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		return a, err
	}
	a.DiskPath = path
	return a, nil
}
