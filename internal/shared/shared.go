// Package shared keeps data by key in caches that several machines share, through programs that speak
// Go's GOCACHEPROG protocol: the user's, or ptxlink-cache for a server.
package shared

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// MaxSize is the largest data that Get returns, in bytes.
const MaxSize = 1 << 30

// Names reports whether where names a store, and not a directory: http://, https:// or
// prog:COMMAND.
func Names(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") || strings.HasPrefix(where, "prog:")
}

// Open returns the store that where names. It connects to nothing yet.
func Open(where string) (*Store, error) { return open(where, 5*time.Second) }

// open is Open. patience is how long a store may take to begin; it may take ten times as long for an
// answer.
func open(where string, patience time.Duration) (*Store, error) {
	command, ok := strings.CutPrefix(where, "prog:")
	if !ok {
		if u, err := url.Parse(where); err != nil || u.Host == "" {
			return nil, fmt.Errorf("%s is not the address of a server", Redacted(where))
		}
		return &Store{words: []string{serverProgram()}, server: where, patience: patience}, nil
	}
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil, errors.New("prog: names no command")
	}
	return &Store{words: words, patience: patience}, nil
}

// ServerVariable is the environment variable that names the server for ptxlink-cache: others see the
// arguments of a program, and the address may have a password.
const ServerVariable = "PTXLINK_CACHE_SERVER"

// serverProgram returns the path of ptxlink-cache, which connects to servers: beside this program, or
// on PATH.
func serverProgram() string {
	name := "ptxlink-cache" + map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return name
}

// Redacted leaves out the user and the password of an address.
func Redacted(where string) string {
	scheme, rest, _ := strings.Cut(where, "://")
	host, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if path != "" {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// CheckKey returns an error if key is not 64 hexadecimal digits.
func CheckKey(key string) error {
	if len(key) != 64 || strings.Trim(key, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not a key", key)
	}
	return nil
}
