package outfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"ptxlink/internal/diag"
)

// made are the files and folders that this process has made and that are not
// to outlive it: temporary ones, and folders for outputs that are not written
// yet. Whoever makes one removes it; Abandon removes what is left when the
// process ends while that code still runs, or waits for a pipe.
var made struct {
	sync.Mutex
	list      []temporary // in the order in which they were made
	written   bool        // some output is in place, in whole or in part
	abandoned bool
}

type temporary struct {
	path   string
	remove func(string) error
}

// errAbandoned is what remaining code sees after Abandon.
var errAbandoned = errors.New("interrupted")

// Abandon removes all temporary files and folders and lets no more be made, nor
// outputs be put in place. The process ends after it. written says that
// outputs are there already.
func Abandon() (written bool) {
	made.Lock()
	defer made.Unlock()
	made.abandoned = true
	for _, t := range slices.Backward(made.list) {
		t.remove(t.path)
	}
	return made.written
}

// create calls mk, which makes a file or a folder, and remembers what removes it.
func create(mk func() (string, error), remove func(string) error) error {
	made.Lock()
	defer made.Unlock()
	if made.abandoned {
		return errAbandoned
	}
	path, err := mk()
	if err == nil {
		made.list = append(made.list, temporary{path, remove})
	}
	return err
}

// begin is called before the first byte of an output that is not a file of its
// own.
func begin() error {
	made.Lock()
	defer made.Unlock()
	if made.abandoned {
		return errAbandoned
	}
	made.written = true
	return nil
}

// discard removes what create made. A file that was put in place is no longer
// there under its temporary name.
func discard(path string) {
	made.Lock()
	defer made.Unlock()
	for i, t := range made.list {
		if t.path == path {
			t.remove(path)
			made.list = slices.Delete(made.list, i, i+1)
			return
		}
	}
}

// removeFolder removes a folder and what it holds. A program that was run there
// may just be ending.
func removeFolder(path string) (err error) {
	for range 20 {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// TempDir makes a folder for the files of a program that is run. remove removes
// it and what it holds.
func TempDir() (dir string, remove func(), err error) {
	err = create(func() (string, error) {
		dir, err = os.MkdirTemp("", "ptxlink-")
		return dir, err
	}, removeFolder)
	if err != nil && !errors.Is(err, errAbandoned) {
		return "", nil, &diag.Message{
			ID:   diag.IO,
			Text: fmt.Sprintf("cannot make a temporary folder in %s: %v", os.TempDir(), reason(err)),
			Help: "name a folder that is there and can be written with the environment variable " + map[bool]string{false: "TMPDIR", true: "TMP"}[runtime.GOOS == "windows"],
		}
	}
	return dir, func() { discard(dir) }, err
}

// MakeFolder makes the last folder of a path, if it is missing. undo removes it
// again if it was made here and is empty; so call it after a success too.
func MakeFolder(path string) (undo func(), err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return func() {}, nil
	}
	err = create(func() (string, error) { return path, os.Mkdir(path, 0o777) }, os.Remove)
	if err != nil {
		return nil, fmt.Errorf("cannot make the folder %s: %w", path, reason(err))
	}
	return func() { discard(path) }, nil
}
