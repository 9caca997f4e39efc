//go:build linux

package main

import (
	_ "embed"
	"fmt"
	"os"

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
		check(errMissing)
	}
	source := s.path("debug.cu")
	check(os.WriteFile(source, []byte(debugSource), 0o666))
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
	check(jobs.Wait())
	for _, name := range inputs {
		stripped = append(stripped, "stripped-"+name)
		check(s.bench.strip(s.path(name), s.path("stripped-"+name)))
		info, err := os.Stat(s.path(name))
		check(err)
		s.bytes += info.Size()
	}
	s.addLinkers(inputs...)
	s.addPtxlink("ptxlink, stripped", append([]string{"-j2"}, stripped...)...)
}

// strip copies a module without .file, .loc and .section. Both compilers put each of
// them at the start of a line.
func (b *bench) strip(in, out string) error {
	return b.run("sh", "-c", `sed -E -e '/^\s*\.(file|loc)\s/d' -e '/^\s*\.section.*\}$/d' \
-e '/^\s*\.section/,/^\s*\}/d' -e '/^\.target/s/, debug$//' "$0" >"$1"`, in, out)
}
