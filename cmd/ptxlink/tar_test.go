package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestTarWriter(t *testing.T) {
	names := []string{"a", strings.Repeat("d/", 49) + "xy", strings.Repeat("d/", 49) + "xyz", strings.Repeat("n", 90), strings.Repeat("n", 1000), "ä/ö.ptx", "line\nfeed"}
	var b bytes.Buffer
	w := tarWriter{bufio.NewWriter(&b)}
	for i, name := range names {
		if err := w.add(name, int64(i*300), strings.NewReader(strings.Repeat("x", i*300))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil || b.Len()%tarBlock != 0 {
		t.Fatalf("%d bytes, %v", b.Len(), err)
	}
	r := tar.NewReader(&b)
	for i, name := range names {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || h.Name != name || len(data) != i*300 || h.Mode != 0o644 || h.Typeflag != tar.TypeReg {
			t.Errorf("%q: %+v, %d bytes, %v", name, h, len(data), err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("behind the last file: %v", err)
	}
	if err := (tarWriter{bufio.NewWriter(&b)}).add("a", 5, strings.NewReader("abc")); err == nil {
		t.Error("a file that became shorter is no error")
	}
	large := tarWriter{bufio.NewWriter(&b)}
	b.Reset()
	large.add("a", 1<<33, strings.NewReader("")) // only the headers
	large.Flush()
	h, err := tar.NewReader(&b).Next()
	if err != nil || h.Size != 1<<33 {
		t.Errorf("a file of 8 GiB: %+v, %v", h, err)
	}
}
