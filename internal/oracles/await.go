package oracles

import (
	"os"
	"strings"
	"time"
)

// Await returns when something has happened. It has no limit of its own, because a test must not fail on a
// busy machine: go test -timeout ends a test that waits for what never happens, and prints where it waits.
func Await(happened func() bool) {
	for !happened() {
		time.Sleep(10 * time.Millisecond)
	}
}

// AwaitEnd waits for the end of a process on Linux.
func AwaitEnd(id string) {
	Await(func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(id) + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	})
}

// AwaitTick waits until the system gives files a later time of change than those that a test has written in
// a directory so far. Make and others compare these times.
func AwaitTick(dir string) error {
	f, err := os.CreateTemp(dir, "tick")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var first time.Time
	Await(func() bool {
		var info os.FileInfo
		if _, err = f.WriteString("."); err == nil {
			info, err = f.Stat()
		}
		if err == nil && first.IsZero() {
			first = info.ModTime()
		}
		return err != nil || info.ModTime().After(first)
	})
	return err
}
