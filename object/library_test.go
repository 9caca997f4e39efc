package object

import (
	"os"
	"path/filepath"
	"testing"

	"ptxlink/object/diag"
)

// TestFindLibrary checks which of several files -l finds.
func TestFindLibrary(t *testing.T) {
	root := t.TempDir()
	dirs := []string{filepath.Join(root, "1"), filepath.Join(root, "2")}
	for _, file := range []string{"1/liba.ptx", "2/liba.a", "1/libb.ptx", "1/libb.a", "1/c.lib", "2/libc.a", "1/libd.lib", "1/d.lib", "1/libe.a/x", "2/libe.a", "1/plain.ptx"} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, want string }{
		{"a", "1/liba.ptx"}, // the directory decides
		{"b", "1/libb.a"},
		{"c", "2/libc.a"},
		{"d", "1/d.lib"},
		{"e", "2/libe.a"}, // 1/libe.a is a directory
		{":libb.ptx", "1/libb.ptx"},
		{":a", ""},
		{"libb", ""},
	} {
		got, ok := FindLibrary(test.name, dirs, &diag.Log{})
		if want := filepath.Join(root, test.want); ok != (test.want != "") || ok && got != want {
			t.Errorf("-l%s: %s, want %s", test.name, got, want)
		}
	}
	for _, test := range []struct{ name, want string }{
		{"libb", "-lb"}, {"b.a", "-lb"}, {":libb.pxt", "-l:libb.ptx"}, {"qqqqqq", ""}, {"plian", ""},
	} {
		if got := SimilarLibrary(test.name, dirs); got != test.want {
			t.Errorf("near %s: %q, want %q", test.name, got, test.want)
		}
	}
}
