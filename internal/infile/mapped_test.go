package infile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDrop drops parts of several mapped files, and memory that is not mapped: all of it has
// its contents still. A dropped file takes no memory.
func TestDrop(t *testing.T) {
	var files Maps
	defer files.Close()
	var texts, wanted [][]byte
	for i := range 5 {
		text := bytes.Repeat(fmt.Appendf(nil, "file %d\n", i), LeastMapped/4)
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		data, err := files.Read(path, int64(len(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		texts, wanted = append(texts, data), append(wanted, text)
	}
	heap := bytes.Clone(wanted[0])
	texts, wanted = append(texts, heap), append(wanted, wanted[0])
	for i, text := range texts {
		if !bytes.Equal(text, wanted[i]) {
			t.Fatalf("file %d has other contents", i)
		}
		for _, part := range [][]byte{text[1:], text[:len(text)-1], text[100:200], nil, text} {
			files.Drop(part)
		}
		if n, known := resident(t, text); known && (n > 0) != (i == len(texts)-1) {
			t.Errorf("file %d takes %d KB", i, n)
		}
		if !bytes.Equal(text, wanted[i]) {
			t.Errorf("file %d has other contents", i)
		}
	}
	(*Maps)(nil).Drop(heap)
}

// resident returns the memory in KB that the mapping of data takes, if the system says.
func resident(t *testing.T, data []byte) (n int, known bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0, false
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	within := false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err == nil {
			within = from <= address(data) && address(data) < to
		} else if within && strings.HasPrefix(line, "Rss:") {
			fmt.Sscanf(line, "Rss: %d kB", &n)
			return n, true
		}
	}
	t.Fatal("no mapping holds the data")
	return 0, false
}
