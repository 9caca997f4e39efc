//go:build linux

package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"

	"ptxlink/internal/oracles"
)

//go:embed debug.cu
var debugSource string

// debugUnits is the number of modules of a debug set.
const debugUnits = 8

// debugSet compiles debug.cu to modules, and strips copies of them to compare with. Its
// bytes are those of the modules with debug information.
func debugSet(compiler string, args ...string) func(s *set) {
	return func(s *set) { s.debug(compiler, args) }
}

func (s *set) debug(compiler string, args []string) {
	tool, ok := oracles.Find(compiler)
	if !ok {
		s.try(errMissing)
		return
	}
	source := s.path("debug.cu")
	s.try(os.WriteFile(source, []byte(debugSource), 0o666))
	var inputs, stripped []string
	jobs := twoJobs()
	for i := range debugUnits {
		name := fmt.Sprintf("m%d.ptx", i)
		inputs = append(inputs, name)
		jobs.Go(func() error {
			unit := []string{"-O0", "-std=c++17", "-ftemplate-depth=1000", fmt.Sprintf("-DUNIT=%d", i), source, "-o", s.path(name)}
			return s.bench.run(tool, append(unit, args...)...)
		})
	}
	s.try(jobs.Wait())
	for _, name := range inputs {
		stripped = append(stripped, s.write("stripped-"+name, func(w io.Writer) error { return strip(w, s.path(name)) }))
	}
	s.bytes = 0
	for _, name := range inputs {
		info, err := os.Stat(s.path(name))
		if err != nil {
			s.try(err)
			return
		}
		s.bytes += info.Size()
	}
	s.addLinkers(inputs...)
	s.addPtxlink("ptxlink, stripped", append([]string{"-j2"}, stripped...)...)
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
