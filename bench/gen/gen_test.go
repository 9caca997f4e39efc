package gen

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
)

// TestPrograms: ptxas and nvlink accept the modules, and ptxlink links them without
// a message.
func TestPrograms(t *testing.T) {
	for name, p := range map[string]Program{
		"large":   {Modules: 3, Functions: 6, Externs: 8, Size: 20_000},
		"small":   {Modules: 3, Functions: 20, Externs: 6},
		"markers": {Modules: 3, Functions: 6, Externs: 8, Size: 20_000, Markers: true},
		"chain":   {Modules: 4, Functions: 1, Size: 8_000, Chain: 2, Markers: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var inputs []link.Input
			var cubins []string
			add := func(name string, text []byte) {
				inputs = append(inputs, link.Input{Name: name + ".ptx", Text: text})
				path := filepath.Join(dir, name+".cubin")
				cubins = append(cubins, path)
				if err := os.WriteFile(path, oracles.Assemble(t, "ptxas", "sm_80", text, "-c"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for i := range p.Modules {
				add(fmt.Sprintf("m%d", i), text(t, func(b *bytes.Buffer) error { return p.Write(b, i) }))
			}
			if p.Chain > 0 {
				add("kernel", text(t, func(b *bytes.Buffer) error { return p.Kernel(b, p.Chain) }))
			}
			r, err := link.Link(context.Background(), link.Options{Inputs: inputs})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Messages {
				t.Errorf("message: %s", m.Text)
			}
			args := append([]string{"-arch=sm_80", "-o", filepath.Join(dir, "out.cubin")}, cubins...)
			if out, err := exec.Command(oracles.Require(t, "nvlink"), args...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("nvlink: %v\n%s", err, out)
			}
		})
	}
}

// TestSize: a module has the size asked for, as long as it is larger than what its
// functions need.
func TestSize(t *testing.T) {
	p := Program{Modules: 100, Functions: 177, Externs: 216, Size: 550_000}
	n := len(text(t, func(b *bytes.Buffer) error { return p.Write(b, 7) }))
	if n < 540_000 || n > 560_000 {
		t.Errorf("%d bytes, want about %d", n, p.Size)
	}
}

// text returns what write writes, and checks that it writes the same again.
func text(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var a, b bytes.Buffer
	if err := write(&a); err != nil {
		t.Fatal(err)
	}
	if err := write(&b); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("%v: two runs differ", err)
	}
	return a.Bytes()
}
