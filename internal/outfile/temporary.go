package outfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"ptxlink/object/diag"
)

// made records the files and directories that this process has created and must remove:
// temporary ones, and directories for outputs that are not written yet. The code that
// creates one removes it; Abandon removes the rest if the process ends while that
// code still runs, or waits for a pipe.
var made struct {
	sync.Mutex
	list      []temporary // in creation order
	written   bool        // some output has been written, in whole or in part
	abandoned bool
}

type temporary struct {
	path   string
	remove func(string) error
}

// errAbandoned is returned to code that still runs after Abandon.
var errAbandoned = errors.New("interrupted")

// Abandon removes all temporary files and directories. Afterwards none can be created
// and no output renamed. The process ends after it. written reports whether outputs
// exist already.
func Abandon() (written bool) {
	made.Lock()
	defer made.Unlock()
	made.abandoned = true
	for _, t := range slices.Backward(made.list) {
		t.remove(t.path)
	}
	return made.written
}

// Hold makes everything that writes wait until release is called, so that Abandon knows
// of it.
func Hold() (release func()) {
	made.Lock()
	return made.Unlock
}

// create calls mk, which creates a file or a directory, and records how to remove it.
func create(mk func() (string, error), remove func(string) error) error {
	return unlessAbandoned(func() error {
		path, err := mk()
		if err == nil {
			made.list = append(made.list, temporary{path, remove})
		}
		return err
	})
}

// unlessAbandoned calls work, which changes made or renames an output, with the lock held.
func unlessAbandoned(work func() error) error {
	made.Lock()
	defer made.Unlock()
	if made.abandoned {
		return errAbandoned
	}
	return work()
}

// discard removes what create made. A file that was renamed no longer exists under
// its temporary name.
func discard(path string) {
	made.Lock()
	defer made.Unlock()
	if i := slices.IndexFunc(made.list, func(t temporary) bool { return t.path == path }); i >= 0 {
		made.list[i].remove(path)
		made.list = slices.Delete(made.list, i, i+1)
	}
}

// removeDir removes a directory and its contents. It tries several times, because a program that
// was run there may still be exiting.
func removeDir(path string) (err error) {
	for range 20 {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		if err = removeNames(path); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// removeNames does what os.RemoveAll does with no more than one open file, where two are
// too many.
func removeNames(path string) error {
	list, _ := os.ReadDir(path) // it fails if no descriptor is left, and then no file was made either
	for _, e := range list {
		name := filepath.Join(path, e.Name())
		if err := os.Remove(name); err != nil && e.IsDir() {
			removeNames(name)
		}
	}
	return os.Remove(path)
}

// TempDir creates a directory for a program that is run, with these files. remove removes it
// and its contents.
func TempDir(files ...File) (dir string, remove func(), err error) {
	err = create(func() (string, error) {
		dir, err = os.MkdirTemp("", "ptxlink-")
		return dir, err
	}, removeDir)
	if err != nil && !errors.Is(err, errAbandoned) {
		return "", nil, diag.New(diag.IO, diag.Place{}, fmt.Sprintf("cannot make a temporary directory in %s: %v", os.TempDir(), Reason(err))).
			WithHelp("name a directory that is there and can be written with the environment variable " + map[bool]string{false: "TMPDIR", true: "TMP"}[runtime.GOOS == "windows"])
	}
	for _, f := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Path), f.Data, 0o600)
		}
	}
	if err != nil {
		discard(dir)
	}
	return dir, func() { discard(dir) }, err
}

// MakeDir creates the last directory of a path, if it is missing. undo removes it
// again if it was created here and is empty; so call it even after success.
func MakeDir(path string) (undo func(), err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return func() {}, nil
	}
	err = create(func() (string, error) { return path, os.Mkdir(path, 0o777) }, os.Remove)
	if err != nil {
		return nil, fmt.Errorf("cannot make the directory %s: %w", path, Reason(err))
	}
	return func() { discard(path) }, nil
}
