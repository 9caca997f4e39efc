//go:build linux

package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ptxlink/internal/oracles"
)

//go:embed debug.cu
var debugSource string

// debugUnits is the number of modules of a debug set.
const debugUnits = 8

// debugSet compiles debug.cu to modules, and strips copies of them to compare with. Its
// bytes are those of the modules with debug information.
func debugSet(compiler string, args ...string) func(b *bench, s *set) error {
	return func(b *bench, s *set) error { return b.debug(s, compiler, args) }
}

func (b *bench) debug(s *set, compiler string, args []string) error {
	tool, ok := oracles.Find(compiler)
	if !ok {
		return errMissing
	}
	source := filepath.Join(s.dir, "debug.cu")
	if err := os.WriteFile(source, []byte(debugSource), 0o666); err != nil {
		return err
	}
	var inputs, stripped []string
	jobs := b.jobs()
	for i := range debugUnits {
		name := fmt.Sprintf("m%d.ptx", i)
		inputs = append(inputs, name)
		stripped = append(stripped, "stripped-"+name)
		jobs.Go(func() error {
			unit := []string{"-O0", "-std=c++17", "-ftemplate-depth=1000", fmt.Sprintf("-DUNIT=%d", i), source, "-o", filepath.Join(s.dir, name)}
			return b.run(tool, append(unit, args...)...)
		})
	}
	if err := jobs.Wait(); err != nil {
		return err
	}
	for i := range inputs {
		if err := s.write(stripped[i], func(w io.Writer) error { return strip(w, filepath.Join(s.dir, inputs[i])) }); err != nil {
			return err
		}
	}
	s.bytes = 0
	for _, input := range inputs {
		info, err := os.Stat(filepath.Join(s.dir, input))
		if err != nil {
			return err
		}
		s.bytes += info.Size()
	}
	b.addLinkers(s, inputs...)
	b.addPtxlink(s, "ptxlink, stripped", append([]string{"-j2"}, stripped...)...)
	return nil
}

// strip copies a module without .file, .loc and .section. Both compilers put each of
// them at the start of a line.
func strip(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(w)
	inSection := false
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		word, _, _ = strings.Cut(word, " ")
		switch {
		case word == ".section":
			inSection = !strings.HasSuffix(line, "}")
		case inSection:
			inSection = word != "}"
		case word == ".file", word == ".loc":
		case word == ".target":
			fmt.Fprintln(out, strings.TrimSuffix(line, ", debug"))
		default:
			fmt.Fprintln(out, line)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}
