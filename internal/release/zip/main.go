// Zip packs a directory in an archive of the form zip. The same files give the same bytes:
// they are sorted and have the time of $SOURCE_DATE_EPOCH. With RECORD, the archive is a
// wheel: the files are not below the name of the directory, and a file with that name comes
// last, which lists their digests.
package main

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	record := ""
	switch len(os.Args) {
	case 3:
	case 4:
		record = os.Args[3]
	default:
		fmt.Fprintln(os.Stderr, "usage: zip DIR FILE [RECORD]")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], record); err != nil {
		fmt.Fprintln(os.Stderr, "zip:", err)
		os.Exit(1)
	}
}

// pack writes the files of dir to an archive, below the name of dir unless there is a record.
func pack(dir, file, record string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	add := func(name string, mode fs.FileMode, data []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Unix(seconds, 0).UTC()}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if record != "" {
		parent = dir
	}
	var digests strings.Builder
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(parent, path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info, err := d.Info(); err == nil && info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&digests, "%s,sha256=%s,%d\n", filepath.ToSlash(name), base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		return add(filepath.ToSlash(name), mode, data)
	})
	if err == nil && record != "" {
		err = add(record, 0o644, []byte(digests.String()+record+",,\n"))
	}
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Close()
}
