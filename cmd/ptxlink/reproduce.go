package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/link/dlink"
)

// reproduction is the tar of --reproduce: a directory with the name of the tar, with response.txt,
// version.txt and the inputs under their names in the directory.
type reproduction struct {
	dir   string
	files []link.Input
}

// reproduce writes the tar of --reproduce. It must do so before the link, because the tar must
// exist even when ptxlink crashes.
func (j *linkRequest) reproduce() error {
	file := j.beside["reproduce"]
	if file == "" {
		return nil
	}
	j.options.Inputs = dlink.Buffered(j.opts.Context, j.options.Inputs, j.options.MaxInputSize)
	base := filepath.Base(file)
	r := &reproduction{dir: strings.TrimSuffix(base, filepath.Ext(base))}
	if r.dir == "" || r.dir == "." || r.dir == base {
		r.dir = base + ".d"
	}
	var words []string
	for _, arg := range j.arguments {
		if word := reproduced(arg); word != "" {
			words = append(words, word)
		}
	}
	whole := false
	taken := map[string]bool{"response.txt": true, "version.txt": true}
	for _, in := range j.options.Inputs {
		if in.WholeArchive != whole {
			whole = in.WholeArchive
			words = append(words, map[bool]string{true: "--whole-archive", false: "--no-whole-archive"}[whole])
		}
		name := "stdin"
		if in.Path != "" {
			name = insideDir(in.Path)
		}
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		in.Name = name
		r.files = append(r.files, in)
		words = append(words, "./"+name)
	}
	if script := j.opts.String("version-script"); script != "" {
		r.files = append(r.files, link.Input{Name: insideDir(script), Path: script})
	}
	r.files = slices.Insert(r.files, 0, link.Input{Name: "response.txt", Text: responseFile(words, runtime.GOOS)}, link.Input{Name: "version.txt", Text: []byte(version() + "\n")})
	return j.writeFirst(j.paths, outfile.File{Path: file, From: r})
}

// reproduced returns an argument in the form for the response file, or "" if it must not be there.
func reproduced(arg string) string {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	switch name {
	case "reproduce", "L", "l", "whole-archive", "no-whole-archive", "push-state", "pop-state", "cache", "cache-dir", "cache-size":
		return ""
	case "version-script":
		return "--version-script=" + insideDir(value)
	case "ptxas", "nvlink", "nvvm", "fatbinary":
		if strings.ContainsRune(value, filepath.Separator) {
			if full, err := filepath.Abs(value); err == nil {
				value = full
			}
		}
		return "--" + name + "=" + value
	}
	if (name == "output" || name == "emit-parts" || slices.Contains(sideFiles, name)) && hasValue && value != "-" {
		return "--" + name + "=" + filepath.Base(value)
	}
	return arg
}

// insideDir returns the path of a file in the tar, with slashes. Names below the working directory
// must stay, so that messages show them as before.
func insideDir(name string) string {
	name = filepath.ToSlash(filepath.Clean(name))
	if filepath.IsLocal(name) {
		return name
	}
	if full, err := filepath.Abs(name); err == nil {
		name = filepath.ToSlash(full)
	}
	return path.Join("root", strings.NewReplacer("//?/", "", ":", "").Replace(name))
}

// beforeQuote matches the backslashes that splitArguments would read as escapes on Windows.
var beforeQuote = sets.Regexp(`(\\*)("|$)`)

// windowsWord quotes an argument so that programs on Windows read it unchanged.
func windowsWord(w string) string {
	return `"` + strings.ReplaceAll(beforeQuote().ReplaceAllString(w, `$1$1$2`), `"`, `\"`) + `"`
}

// responseFile returns the text of a response file with one word on each line.
func responseFile(words []string, system string) []byte {
	var b bytes.Buffer
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, w := range words {
		if system == "windows" {
			w = windowsWord(w)
		} else {
			w = `"` + quote.Replace(w) + `"`
		}
		b.WriteString(w + "\n")
	}
	return b.Bytes()
}

// WriteTo writes the tar. It has no times and users, since the same link must give the same tar.
func (r *reproduction) WriteTo(w io.Writer) (int64, error) {
	t := tarWriter{bufio.NewWriter(w)}
	for _, f := range r.files {
		if err := t.addInput(r.dir+"/"+f.Name, f); err != nil && !errors.Is(err, fs.ErrNotExist) { // the link reports missing files
			return 0, err
		}
	}
	return 0, t.close()
}

// addInput writes an input, unless it is a stream that cannot be read.
func (t tarWriter) addInput(name string, in link.Input) error {
	switch {
	case in.Text != nil:
		return t.add(name, int64(len(in.Text)), bytes.NewReader(in.Text))
	case in.Reader != nil:
		return nil
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return t.add(name, info.Size(), f)
}

// tarWriter writes regular files as a POSIX tar (ustar, with a pax header if a name is long or not
// ASCII). Package archive/tar is not used, because it looks up users, for which Go links the C
// library, and every start of ptxlink would be slower. The writer keeps the first error.
type tarWriter struct{ *bufio.Writer }

const tarBlock = 512

// add writes a file of the given size. Its mode is 0644; it has no time and user.
func (t tarWriter) add(name string, size int64, from io.Reader) error {
	if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) || size >= 1<<33 {
		records := paxRecord("path", name) + paxRecord("size", strconv.FormatInt(size, 10))
		t.header("pax", int64(len(records)), 'x')
		t.WriteString(records)
		t.pad(int64(len(records)))
		name = "long"
	}
	t.header(name, size, '0')
	_, err := io.CopyN(t, from, size)
	t.pad(size)
	return err
}

func (t tarWriter) close() error {
	t.Write(make([]byte, 2*tarBlock))
	return t.Flush()
}

// header writes the header of an entry. If the size does not fit, it must be in a pax header
// before.
func (t tarWriter) header(name string, size int64, kind byte) {
	var h [tarBlock]byte
	copy(h[0:100], name)
	octal := func(at, digits int, n int64) { copy(h[at:], fmt.Sprintf("%0*o", digits, n)) }
	octal(100, 7, 0o644)
	octal(108, 7, 0)
	octal(116, 7, 0)
	octal(124, 11, size&(1<<33-1))
	octal(136, 11, 0)
	copy(h[148:156], "        ") // because the sum counts itself as spaces
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	sum := int64(0)
	for _, b := range h {
		sum += int64(b)
	}
	octal(148, 6, sum)
	h[154] = 0
	t.Write(h[:])
}

// pad fills the last block of n bytes.
func (t tarWriter) pad(n int64) {
	if rest := n % tarBlock; rest > 0 {
		t.Write(make([]byte, tarBlock-rest))
	}
}

// paxRecord returns "LENGTH KEY=VALUE\n". The length includes its own digits, so it must be
// searched for.
func paxRecord(key, value string) string {
	rest := " " + key + "=" + value + "\n"
	n := len(rest) + 1
	for n != len(strconv.Itoa(n))+len(rest) {
		n = len(strconv.Itoa(n)) + len(rest)
	}
	return strconv.Itoa(n) + rest
}
