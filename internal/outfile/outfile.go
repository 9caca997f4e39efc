// Package outfile writes files whole or not at all: outputs and what stands beside
// them.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"ptxlink/internal/diag"
)

// File is one file to write: the output, or something beside it.
type File struct {
	Path string
	Data []byte
	Mode fs.FileMode // permissions; 0 leaves them to the umask
}

// Write writes data to path, all of it or nothing.
//
//  1. The bytes go to a temporary file in the same folder, which then takes
//     the place of path: a reader sees the old file or the new one, and a
//     failure leaves the old one.
//  2. A symbolic link stays, and the file it leads to is replaced.
//  3. A device or a pipe (/dev/null, /dev/stdout) is written as it is.
//  4. A folder and a file that is also an input are refused.
func Write(path string, data []byte, inputs []string) error {
	return WriteAll(inputs, File{Path: path, Data: data})
}

// WriteAll writes several files as Write does. No file is put in place
// before all of them have been written; they are put in place in the order
// given, so the one that others wait for (Make, Ninja) comes last.
func WriteAll(inputs []string, files ...File) error {
	var staged []stagedFile
	// A file that was put in place is no longer there under its temporary name.
	defer func() {
		for _, s := range staged {
			os.Remove(s.temp)
		}
	}()
	var direct []File
	for _, f := range files {
		if err := Check(f.Path, inputs); err != nil {
			return err
		}
		if isSpecial(f.Path) {
			direct = append(direct, f)
			continue
		}
		s, err := stage(f)
		if err != nil {
			return cannotWrite(f.Path, err)
		}
		staged = append(staged, s)
	}
	for _, f := range direct {
		if err := writeSpecial(f); err != nil {
			return cannotWrite(f.Path, err)
		}
	}
	for _, s := range staged {
		if err := os.Rename(s.temp, s.final); err != nil {
			return cannotWrite(s.final, err)
		}
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
		return cannotWrite(path, errors.New("it is a folder"))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return cannotWrite(path, err)
	}
	final, err := followLinks(path)
	if err != nil {
		return cannotWrite(path, err)
	}
	folder := filepath.Dir(final)
	if _, err := os.Stat(folder); err != nil {
		return cannotWrite(path, fmt.Errorf("there is no folder %s", folder))
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

func stage(f File) (stagedFile, error) {
	final, err := followLinks(f.Path)
	if err != nil {
		return stagedFile{}, err
	}
	temp, err := createBeside(final)
	if err != nil {
		return stagedFile{}, err
	}
	_, err = temp.Write(f.Data)
	if f.Mode != 0 {
		err = errors.Join(err, temp.Chmod(f.Mode))
	}
	err = errors.Join(err, temp.Close())
	if err != nil {
		os.Remove(temp.Name())
		return stagedFile{}, err
	}
	return stagedFile{temp.Name(), final}, nil
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

// writeSpecial appends, so that `-o /dev/stdout >>log` keeps the log.
func writeSpecial(f File) error {
	w, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = w.Write(f.Data)
	return errors.Join(err, w.Close())
}

// cannotWrite leaves out the operation and the path of an *fs.PathError: the
// path may be that of a temporary file, which means nothing to the user.
func cannotWrite(path string, err error) error {
	var perr *fs.PathError
	var lerr *os.LinkError
	switch {
	case errors.As(err, &perr):
		err = perr.Err
	case errors.As(err, &lerr):
		err = lerr.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}
