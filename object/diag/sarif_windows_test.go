package diag

import "testing"

func TestFileURI(t *testing.T) {
	for name, want := range map[string]string{
		`C:\a b\c.ptx`:               "file:///C:/a%20b/c.ptx",
		`\\?\C:\a\c.ptx`:             "file:///C:/a/c.ptx",
		`\\host\share\a\c.ptx`:       "file://host/share/a/c.ptx",
		`\\?\UNC\host\share\a\c.ptx`: "file://host/share/a/c.ptx",
		`a\c.ptx`:                    "a/c.ptx",
	} {
		if got := fileURI(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
