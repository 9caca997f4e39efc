// Command ptxlink-cache keeps the entries of ptxlink --cache=http://HOST/PATH on a server with the
// layout of Bazel's HTTP cache. ptxlink starts it and speaks the protocol of Go's GOCACHEPROG with
// it. It must be a separate program, because package net would make every start of ptxlink slower.
// The address of the server is in $PTXLINK_CACHE_SERVER, or is the argument.
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
	signal.Ignore(os.Interrupt) // Ctrl-C must end ptxlink, and so standard input, first
	if err := run(where, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "ptxlink-cache: %v\n", err)
		os.Exit(1)
	}
}

// run answers requests until their end. It writes the entries of the server to files of a temporary
// directory, because the protocol passes data in files.
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
		answers.Encode(a) // if nobody reads it, there will be no more requests
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
