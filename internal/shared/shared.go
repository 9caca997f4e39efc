// Package shared keeps data by key in caches that several machines share: servers with the
// layout of Bazel's HTTP cache, and programs that speak Go's GOCACHEPROG protocol.
package shared

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Store keeps data by key, 64 hexadecimal digits. Several goroutines may use it.
type Store interface {
	// Get returns the data of a key, nil if there is none. What it returns may be anything: the
	// caller checks it.
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, data []byte) error
	// Close ends the connection.
	Close() error
	// String names the store in messages, without a password.
	String() string
}

// MaxSize is the largest data that Get returns, in bytes.
const MaxSize = 1 << 30

// Names reports whether where names a store, and not a directory: http://, https:// or
// prog:COMMAND.
func Names(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") || strings.HasPrefix(where, "prog:")
}

// Open returns the store that where names. It connects to nothing yet.
func Open(where string) (Store, error) { return open(where, 5*time.Second) }

// open is Open. patience is how long a store may take to answer; it may take ten times as long to
// send all.
func open(where string, patience time.Duration) (Store, error) {
	if command, ok := strings.CutPrefix(where, "prog:"); ok {
		words := strings.Fields(command)
		if len(words) == 0 {
			return nil, errors.New("prog: names no command")
		}
		return &program{words: words, patience: patience}, nil
	}
	return openHTTP(where, patience)
}

// checkKey returns an error for a key that is none.
func checkKey(key string) error {
	if len(key) != 64 || strings.Trim(key, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not a key", key)
	}
	return nil
}
