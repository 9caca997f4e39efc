package kernels_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/kernels"
)

var update = flag.Bool("update", false, "record the programs of testdata again")

// recorded are seeds, whose programs testdata holds as PTX, with the compiler that
// their remainder selects.
var recorded = []uint64{7, 8, 220}

// TestRecorded runs programs whose PTX and results on the host are recorded, for
// machines without compilers.
func TestRecorded(t *testing.T) {
	for _, seed := range recorded {
		c := kernels.Compilers[int(seed)%len(kernels.Compilers)]
		p := kernels.Generate(seed)
		file := filepath.Join("testdata", fmt.Sprintf("seed%d.txtar", seed))
		if *update {
			record(t, p, c, file)
		}
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var units []string
		for _, f := range a.Files[:len(a.Files)-1] {
			units = append(units, string(f.Data))
		}
		got, err := p.Simulate(ptxsim.Options{}, parse(t, units)...)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if want := string(a.Files[len(a.Files)-1].Data); sums(got) != want {
			t.Errorf("%s:\n%swant\n%s", file, sums(got), want)
		}
	}
}

// sums returns the digests of a memory.
func sums(memory map[string][]byte) string {
	var lines []string
	for name, data := range memory {
		lines = append(lines, fmt.Sprintf("%s %d %x\n", name, len(data), sha256.Sum256(data)))
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}

// record compiles a program and runs it on the host.
func record(t *testing.T, p kernels.Program, c kernels.Compiler, file string) {
	dir := t.TempDir()
	memory, err := p.RunOnHost(oracles.Require(t, "g++"), dir)
	if err != nil {
		t.Fatal(err)
	}
	units, err := p.Compile(c, oracles.Require(t, c.Tool), dir)
	if err != nil {
		t.Fatal(err)
	}
	a := &txtar.Archive{Comment: []byte("# Made by go test ./internal/ptxsim/kernels -update with " + c.Name + ".\n")}
	for i, u := range units {
		a.Files = append(a.Files, txtar.File{Name: fmt.Sprintf("unit%d.ptx", i), Data: []byte(u)})
	}
	a.Files = append(a.Files, txtar.File{Name: "memory", Data: []byte(sums(memory))})
	if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
		t.Fatal(err)
	}
}
