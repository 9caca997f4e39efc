package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"ptxlink/internal/infile"
)

const maxHeader = 16 << 20 // bytes

// request is one request to ptxlink serve. docs/serve.md describes its fields.
type request struct {
	id            int64
	args, outputs []string
	files         []content
	lines         bool
	libraries     string
	keep, arch    string
	drop          string
	cancel        int64
	refused       error // the reason why it cannot run
}

// content is a file whose bytes follow the header.
type content struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	data []byte
}

// tellApart gives files with the same name different names, because programs call several modules
// kernel.ptx: the second becomes kernel.ptx#2. It returns all new names for each original name.
func tellApart(files []content) map[string][]string {
	names, taken := map[string][]string{}, map[string]bool{}
	for _, f := range files {
		taken[f.Name] = true
	}
	for i, f := range files {
		name := f.Name
		for n := len(names[f.Name]) + 1; n > 1 && taken[name]; n++ {
			name = fmt.Sprintf("%s#%d", f.Name, n)
		}
		taken[name] = true
		names[f.Name] = append(names[f.Name], name)
		files[i].Name = name
	}
	return names
}

// frame is the result of readRequest.
type frame struct {
	*request
	err error
}

// brokenFrame is an error of standard input after which no further request can be found.
type brokenFrame string

func (e brokenFrame) Error() string { return string(e) }

// readRequests sends the requests up to the first error, after which there cannot be others.
func readRequests(ctx context.Context, in io.Reader, to chan<- frame) {
	reader := bufio.NewReaderSize(in, 1<<16)
	for {
		r, err := readRequest(reader)
		select {
		case to <- frame{r, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// readRequest reads a header and the files after it. The error is io.EOF if the input ends before
// another request.
func readRequest(in *bufio.Reader) (*request, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err == io.EOF {
		return nil, err
	} else if err != nil {
		return nil, cut(err)
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxHeader {
		return nil, brokenFrame(fmt.Sprintf("a header of %d bytes; at most %d are allowed", n, maxHeader))
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, cut(err)
	}
	r, err := parseRequest(header)
	if err != nil {
		return nil, err
	}
	for i := range r.files {
		if err := r.files[i].read(in); errors.Is(err, infile.ErrNoRoom) {
			r.refused = cmp.Or(r.refused, fmt.Errorf("the file %q: %w", r.files[i].Name, err))
		} else if err != nil {
			return nil, cut(err)
		}
	}
	return r, nil
}

// cut returns the error of a read in the middle of a request, where the input must not end.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return brokenFrame("it ends within a request")
	}
	return err
}

// read reads the file. It allocates memory only as the bytes come, because the size may be wrong,
// and skips a file for which memory is missing.
func (f *content) read(in io.Reader) (err error) {
	part := &io.LimitedReader{R: in, N: f.Size}
	f.data, err = infile.ReadAll(part, f.Size)
	if errors.Is(err, infile.ErrNoRoom) {
		if _, unread := io.Copy(io.Discard, part); unread != nil {
			return unread
		}
	}
	if part.N > 0 && (err == nil || errors.Is(err, infile.ErrNoRoom)) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parseRequest reads the fields of a request. An error in a field is kept in refused instead of
// ending the input: the end of the frame is still known, since no bytes follow for a file without a
// size.
func parseRequest(header []byte) (*request, error) {
	var f fields
	if json.Unmarshal(header, &f.values) != nil || f.values == nil {
		return nil, brokenFrame("the header is not a JSON object")
	}
	const text, texts, number, size = "a string", "a list of strings", "a whole number from -2^63 to 2^63 - 1", "a whole number from 0 to 2^63 - 1"
	r := &request{}
	var files []map[string]json.RawMessage
	f.take("id", number, &r.id)
	f.take("args", texts, &r.args)
	f.take("outputs", texts, &r.outputs)
	f.take("lines", "true or false", &r.lines)
	f.take("libraries", text, &r.libraries)
	f.take("keep", text, &r.keep)
	f.take("arch", text, &r.arch)
	f.take("drop", text, &r.drop)
	f.take("cancel", number, &r.cancel)
	f.take("files", "a list of objects", &files)
	for _, values := range files {
		of, file := fields{values: values, of: " of a file"}, content{}
		of.need("name", "size")
		of.take("name", text, &file.Name)
		if of.take("size", size, &file.Size); file.Size < 0 {
			of.fail("size", size)
			file.Size = 0
		}
		of.end()
		f.wrong = cmp.Or(f.wrong, of.wrong)
		r.files = append(r.files, file)
	}
	f.end()
	r.refused = cmp.Or(f.wrong, r.check())
	return r, nil
}

// check returns the error of a combination of fields that have the right types.
func (r *request) check() error {
	kinds := 0
	for _, given := range []bool{len(r.args) > 0, r.keep != "", r.drop != "", r.cancel != 0} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return errors.New("a request has one of the fields args, keep, drop and cancel")
	case len(r.args) == 0 && kinds > 0 && (len(r.outputs) > 0 || r.lines || r.libraries != ""):
		return errors.New("the fields outputs, lines and libraries go with args")
	case r.arch != "" && r.keep == "":
		return errors.New("the field arch goes with keep; other requests have --arch in args")
	case len(r.args) > 0 && r.args[0] == "serve":
		return errors.New("serve cannot run itself")
	}
	return nil
}

// fields holds the fields of a JSON object that are not read yet, and the first error.
type fields struct {
	values map[string]json.RawMessage
	of     string // description of the object
	wrong  error
}

// take removes a field and decodes its value. The field may be missing.
func (f *fields) take(name, is string, to any) {
	value, given := f.values[name]
	delete(f.values, name)
	if given && (string(value) == "null" || json.Unmarshal(value, to) != nil) {
		f.fail(name, is)
	}
}

func (f *fields) fail(name, is string) {
	f.wrong = cmp.Or(f.wrong, fmt.Errorf("the field %q%s must be %s", name, f.of, is))
}

// need reports fields that are missing.
func (f *fields) need(names ...string) {
	for _, name := range names {
		if f.values[name] == nil {
			f.wrong = cmp.Or(f.wrong, fmt.Errorf("the field %q%s is missing", name, f.of))
		}
	}
}

// end reports a field that nothing has taken.
func (f *fields) end() {
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		f.wrong = cmp.Or(f.wrong, fmt.Errorf("unknown field %q%s", name, f.of))
	}
}
