package outfile

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDependencies(t *testing.T) {
	var b strings.Builder
	inputs := []string{"a.ptx", "my dir/b$1#.ptx", "a.ptx", `c\ d.ptx`, ""}
	if err := Dependencies(&b, "out dir/o.ptx", inputs); err != nil {
		t.Fatal(err)
	}
	want := `out\ dir/o.ptx: \
  a.ptx \
  my\ dir/b$$1\#.ptx \
  c\\\ d.ptx

a.ptx:

my\ dir/b$$1\#.ptx:

c\\\ d.ptx:
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if err := Dependencies(&b, "o", []string{"a\nb"}); err == nil {
		t.Error("a line end in a name was written")
	}
}

// TestMakeReadsDependencies checks the quoting with Make itself.
func TestMakeReadsDependencies(t *testing.T) {
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	inputs := []string{"plain.ptx", "a b.ptx", "c$d.ptx", "e#f.ptx"}
	for _, name := range inputs {
		write(t, name, "")
	}
	var b strings.Builder
	if err := Dependencies(&b, "out.ptx", inputs); err != nil {
		t.Fatal(err)
	}
	write(t, "Makefile", "all: out.ptx\nout.ptx: ; @printf '%s|' $(foreach f,$^,'$f')\n"+b.String())
	got, err := exec.Command(tool, "-s").CombinedOutput()
	// $^ is a list of words, so a space splits there; the test is that every
	// prerequisite was found.
	if err != nil || !strings.Contains(string(got), "c$d.ptx|e#f.ptx|") {
		t.Errorf("make: %v\n%s", err, got)
	}
}
