package main

import (
	"bufio"
	"bytes"
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
	d := json.NewDecoder(bytes.NewReader(header))
	d.UseNumber()
	f := fields{}
	if !json.Valid(header) || d.Decode(&f.values) != nil || f.values == nil {
		return nil, brokenFrame("the header is not a JSON object")
	}
	r := &request{
		id:        field(&f, "id", numberField),
		args:      field(&f, "args", textsField),
		outputs:   field(&f, "outputs", textsField),
		lines:     field(&f, "lines", boolField),
		libraries: field(&f, "libraries", textField),
		keep:      field(&f, "keep", textField),
		arch:      field(&f, "arch", textField),
		drop:      field(&f, "drop", textField),
		cancel:    field(&f, "cancel", numberField),
	}
	for _, values := range field(&f, "files", objectsField) {
		of := fields{values: values, of: " of a file"}
		of.need("name", "size")
		r.files = append(r.files, content{Name: field(&of, "name", textField), Size: field(&of, "size", sizeField)})
		of.end()
		f.wrong = cmp.Or(f.wrong, of.wrong)
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
	values map[string]any
	of     string // description of the object
	wrong  error
}

// kind is a type of fields. read returns as much as possible of a wrong value.
type kind[T any] struct {
	is   string
	read func(any) (T, bool)
}

var (
	textField    = kind[string]{"a string", typed[string]}
	boolField    = kind[bool]{"true or false", typed[bool]}
	textsField   = kind[[]string]{"a list of strings", listOf[string]}
	objectsField = kind[[]map[string]any]{"a list of objects", listOf[map[string]any]}
	numberField  = kind[int64]{"a whole number from -2^63 to 2^63 - 1", wholeNumber}
	sizeField    = kind[int64]{"a whole number from 0 to 2^63 - 1", func(v any) (int64, bool) {
		n, ok := wholeNumber(v)
		return max(n, 0), ok && n >= 0
	}}
)

// field removes a field and returns its value. The field may be missing.
func field[T any](f *fields, name string, of kind[T]) (value T) {
	v, given := f.values[name]
	if !given {
		return value
	}
	delete(f.values, name)
	value, ok := of.read(v)
	if !ok {
		f.fail("the field %q%s must be %s", name, f.of, of.is)
	}
	return value
}

// need reports fields that are missing.
func (f *fields) need(names ...string) {
	for _, name := range names {
		if _, given := f.values[name]; !given {
			f.fail("the field %q%s is missing", name, f.of)
		}
	}
}

// end reports a field that nothing has taken.
func (f *fields) end() {
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		f.fail("unknown field %q%s", name, f.of)
	}
}

func (f *fields) fail(format string, args ...any) {
	if f.wrong == nil {
		f.wrong = fmt.Errorf(format, args...)
	}
}

func typed[T any](v any) (T, bool) {
	t, ok := v.(T)
	return t, ok
}

func listOf[T any](v any) (all []T, ok bool) {
	values, ok := v.([]any)
	for _, v := range values {
		if t, of := v.(T); of {
			all = append(all, t)
		} else {
			ok = false
		}
	}
	return all, ok
}

// wholeNumber returns a number. It must not have a fraction or an exponent, since clients do not
// write them.
func wholeNumber(v any) (int64, bool) {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil {
		return 0, false
	}
	return i, true
}
