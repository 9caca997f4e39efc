// Package outfile writes files whole or not at all: outputs and what stands beside
// them.
package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ptxlink/internal/diag"
)

// File is one file to write: the output, or something beside it.
type File struct {
	Path string
	Data []byte
	Mode fs.FileMode // permissions; 0 leaves them to the umask
	// To is what the data is written to in place of a file, such as standard
	// output. Path is then what messages call it.
	To io.Writer
}

// Write writes files, each whole, and all of them or none.
//
//  1. The bytes go to a temporary file in the same folder, which then takes
//     the place of the file: a reader sees the old file or the new one, and a
//     failure leaves the old one. No file is put in place before all have been
//     written. They are put in place in the order given, so the one that others
//     wait for (Make, Ninja) comes last.
//  2. A symbolic link stays, and the file it leads to is replaced.
//  3. A device or a pipe (/dev/null, /dev/stdout) is written as it is, before
//     files are put in place.
//  4. A folder and a file that is also an input are refused.
func Write(inputs []string, files ...File) error {
	var staged []stagedFile
	defer func() {
		for _, s := range staged {
			discard(s.temp)
		}
	}()
	var direct []File
	for _, f := range files {
		if f.To != nil {
			direct = append(direct, f)
			continue
		}
		if err := Check(f.Path, inputs); err != nil {
			return err
		}
		if isSpecial(f.Path) {
			direct = append(direct, f)
			continue
		}
		s, err := stage(f)
		if s.temp != "" {
			staged = append(staged, s)
		}
		if err != nil {
			return CannotWrite(f.Path, err)
		}
	}
	for _, f := range direct {
		if err := writeSpecial(f); err != nil {
			return CannotWrite(f.Path, err)
		}
	}
	return place(staged)
}

// place gives the files their names, all of them if Abandon is called meanwhile.
func place(staged []stagedFile) error {
	made.Lock()
	defer made.Unlock()
	if made.abandoned {
		return errAbandoned
	}
	for _, s := range staged {
		if err := os.Rename(s.temp, s.final); err != nil {
			return CannotWrite(s.final, err)
		}
		made.written = true
	}
	return nil
}

// Check says why path cannot be an output, so that the reason is known
// before any work is done. Another spelling of an input, a hard link to it and
// a symbolic link to it all count as the input.
func Check(path string, inputs []string) error {
	if path == "" {
		return &diag.Message{ID: diag.Usage, Text: "the name of the output is empty"}
	}
	for _, input := range inputs {
		if input != "" && !isSpecial(path) && Same(path, input) {
			m := &diag.Message{ID: diag.OutputIsInput, Text: fmt.Sprintf("the output %s is also an input", path), Help: "choose another name for the output"}
			if input != path {
				m.Text = fmt.Sprintf("the output %s is the same file as the input %s", path, input)
			}
			return m
		}
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return CannotWrite(path, errors.New("it is a folder"))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return CannotWrite(path, err)
	}
	final, err := followLinks(path)
	if err != nil {
		return CannotWrite(path, err)
	}
	folder := filepath.Dir(final)
	if _, err := os.Stat(folder); err != nil {
		return CannotWrite(path, fmt.Errorf("there is no folder %s", folder))
	}
	return nil
}

// Same reports whether two names lead to one file, or would if the file
// existed.
func Same(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return errA != nil && errB != nil && canonical(a) == canonical(b)
}

// canonical is one spelling for the name of a file that does not exist yet.
func canonical(path string) string {
	if final, err := followLinks(path); err == nil {
		path = final
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return filepath.Join(folder, filepath.Base(path))
}

// stagedFile is a written file that waits for its name.
type stagedFile struct{ temp, final string }

// stage writes a file beside its place. The temporary file may be there in case
// of an error too.
func stage(f File) (s stagedFile, err error) {
	if s.final, err = followLinks(f.Path); err != nil {
		return s, err
	}
	var temp *os.File
	err = create(func() (string, error) {
		if temp, err = createBeside(s.final); err != nil {
			return "", err
		}
		s.temp = temp.Name()
		return s.temp, nil
	}, os.Remove)
	if err != nil {
		return s, err
	}
	_, err = temp.Write(f.Data)
	if f.Mode != 0 {
		err = errors.Join(err, temp.Chmod(f.Mode))
	}
	return s, errors.Join(err, temp.Close())
}

// createBeside makes a new file in the folder of path: a rename is atomic only
// within one file system. os.CreateTemp would give it mode 0600; a compiler's
// output has the mode that the umask leaves.
func createBeside(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".ptxlink-%08x.tmp", rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		return f, err
	}
}

// followLinks is where the symbolic links of path end, even at a file that
// does not exist yet; filepath.EvalSymlinks fails there.
func followLinks(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			// Not filepath.Join: it would take "link/.." for the folder that
			// holds link.
			target = filepath.Dir(path) + string(filepath.Separator) + target
		}
		path = target
	}
	return "", errors.New("too many symbolic links")
}

// isSpecial reports whether path is written as it is. The names of open files
// count even where they lead to a regular file, because whoever opened that
// file holds on to it and would not see another one take its place.
func isSpecial(path string) bool {
	if path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// writeSpecial writes to what is written as it is. It appends, so that
// `-o /dev/stdout >>log` keeps the log.
func writeSpecial(f File) error {
	if w, ok := f.To.(*os.File); ok && w == os.Stdout || isStdout(f.Path) {
		if closedAtStart() {
			return errors.New("it is closed")
		}
	}
	to := f.To
	if to == nil {
		w, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		defer w.Close() // what was written to a device or a pipe is gone already
		to = w
	}
	if err := begin(); err != nil {
		return err
	}
	_, err := to.Write(f.Data)
	if f.To != nil && errors.Is(err, syscall.EPIPE) {
		return ErrStdoutUnread
	}
	return err
}

// ErrStdoutUnread is returned when whoever read File.To has stopped to.
var ErrStdoutUnread = errors.New("nobody reads it")

// isStdout reports whether a path names standard output as it was at the start.
func isStdout(path string) bool {
	return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1"
}

// CannotWrite is the error of a write to path that failed.
func CannotWrite(path string, err error) error {
	return fmt.Errorf("cannot write %s: %w", path, reason(err))
}

// reason leaves out the operation and the path of an *fs.PathError: the path may
// be that of a temporary file, which means nothing to the user.
func reason(err error) error {
	var perr *fs.PathError
	var lerr *os.LinkError
	switch {
	case errors.As(err, &perr):
		return perr.Err
	case errors.As(err, &lerr):
		return lerr.Err
	}
	return err
}
