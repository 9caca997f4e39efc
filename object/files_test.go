package object_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/pack"
	"ptxlink/object"
)

// makePackage writes a package of one module, which defines a function.
func makePackage(t *testing.T, path, function string) {
	t.Helper()
	text := fmt.Appendf(nil, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func %s() { ret; }\n", function)
	p, err := pack.Make(t.Context(), pack.Options{Inputs: []link.Input{{Name: "m.ptx", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, p.Data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestPackagesReplaced checks that a package that was closed to make room is not
// confused with another file of its name when it is reopened.
func TestPackagesReplaced(t *testing.T) {
	const many = 40
	for what, replace := range map[string]func(path string){
		"replaced": func(path string) { makePackage(t, path+".new", "g00"); os.Rename(path+".new", path) },
		"touched":  func(path string) { os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) },
		"deleted":  func(path string) { os.Remove(path) },
		"left":     func(string) {},
	} {
		dir := t.TempDir()
		var inputs []object.Input
		for i := range many {
			in := object.Input{Path: filepath.Join(dir, fmt.Sprintf("l%d.a", i))}
			makePackage(t, in.Path, fmt.Sprintf("f%02d", i))
			inputs = append(inputs, in)
		}
		var log diag.Log
		// One at a time: the first is then surely closed for the last.
		set, err := object.Open(t.Context(), inputs, object.Options{Jobs: 1}, &log)
		if err != nil || len(set.Units) != many {
			t.Fatalf("%v; %d units", err, len(set.Units))
		}
		if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
			open := 0
			for _, fd := range fds {
				if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); filepath.Dir(to) == dir {
					open++
				}
			}
			if open == 0 || open > 8 {
				t.Errorf("%s: %d packages are open", what, open)
			}
		}
		replace(inputs[0].Path) // opened first, and closed since to make room
		if err := set.Read(t.Context(), set.Units, &log); err != nil {
			t.Fatal(err)
		}
		var warnings diag.Log
		again := set.Distrusted(&warnings)
		read := 0
		for _, u := range set.Units {
			if u.File != nil {
				read++
			}
		}
		set.Close()
		if what == "left" {
			if again != nil || read != many {
				t.Errorf("%d of %d are read, distrusted: %v", read, many, again != nil)
			}
			continue
		}
		if read != many-1 || !slices.ContainsFunc(again, func(in object.Input) bool { return in.Path == inputs[0].Path && in.NoIndex }) {
			t.Errorf("%s: %d of %d are read, distrusted: %v", what, read, many, again != nil)
		}
		var b bytes.Buffer
		diag.Write(&b, warnings.Messages, diag.Style{})
		if !bytes.Contains(b.Bytes(), []byte("another file has taken its place")) {
			t.Errorf("%s: %s", what, &b)
		}
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
	}
}
