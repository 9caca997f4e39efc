package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ptxlink/internal/ptxsim"
	"ptxlink/object/ptx"
)

// realPrograms returns the directories below dir that have files *.ptx. The modules of one
// directory are a program.
func realPrograms(dir string) []string {
	found := map[string]bool{}
	must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".ptx") {
			found[filepath.Dir(path)] = true
		}
		return err
	}))
	return slices.Sorted(maps.Keys(found))
}

// real compares a program that compilers made of the source of others. Its kernels run with
// arguments that are made up. Of those that end with an error, what they do before is compared. A program
// that does not link without options is a fault.
func (sum *totals) real(dir string, assembles bool, out string) ([]fault, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	must(err)
	var units []unit
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(err)
		units = append(units, unit{filepath.Base(path), text})
	}
	if _, _, err := variants[0].link(units); err != nil {
		return []fault{{variants[0].name, err.Error()}}, nil
	}
	must(os.MkdirAll(out, 0o777))
	known := contentsOf(units)
	entries := slices.Sorted(maps.Keys(known))
	var whole, cut []launcher
	for _, entry := range entries[:min(len(entries), realKernels)] {
		var best launcher
		most, reason, long := 0, "no stores", 0
		for style := range styles {
			launch := madeUp(entry, known[entry], style, 2)
			o := run(units, launch, realRun)
			if o.err == nil && len(o.stores) > 0 {
				whole, best = append(whole, launch), nil
				break
			}
			if o.err != nil && len(o.stores) >= most {
				// Warps that go on for long may read what others store, in turns that depend on their code.
				best, most, reason = madeUp(entry, known[entry], style, 1), len(o.stores), reasonOf(o.err)
			}
			if o.err != nil && reasonOf(o.err) == ptxsim.TooManySteps {
				long++
			}
			// The other styles take as long.
			if style == styles-1 || long == 3 {
				sum.add(ends+reason, 1)
				break
			}
		}
		if best != nil && most > 0 {
			cut = append(cut, best)
		}
	}
	sum.add("entries", len(entries))
	sum.add("kernels", len(whole))
	sum.add("cut", len(cut))
	// What one kernel leaves in memory may be what another one fails for.
	for n := 0; n < len(whole); {
		if run(units, inTurn(whole[:n+1]), realRun).err != nil {
			whole = slices.Delete(whole, n, n+1)
		} else {
			n++
		}
	}
	return sum.compare(units, inTurn(whole), cut, realRun, variants, false, assembles, out)
}

// inTurn launches kernels in turn.
func inTurn(list []launcher) launcher {
	return func(m *ptxsim.Machine) error {
		for _, launch := range list {
			if err := launch(m); err != nil {
				return err
			}
		}
		return nil
	}
}

var numbers = regexp.MustCompile(`\b(0x[0-9a-f]+|[0-9]+)\b`)

// reasonOf returns why a kernel was left out, without places.
func reasonOf(err error) string {
	e, ok := err.(*ptxsim.Error)
	if !ok {
		return err.Error()
	}
	text := e.Text
	if strings.Contains(text, " is outside ") || strings.Contains(text, "misaligned") {
		text, _, _ = strings.Cut(text, " at ")
	}
	return numbers.ReplaceAllString(text, "N")
}

// realRun limits the instructions of a kernel, whose loops may go on for long.
var realRun = ptxsim.Options{Steps: 5e5, Sparse: true}

// realKernels limits the kernels of a program: a library of templates has hundreds.
const realKernels = 30

// contentsOf returns what the parameters of each kernel hold.
func contentsOf(units []unit) map[string]map[place]content {
	modules, err := parse(units)
	must(err)
	known := map[string]map[place]content{}
	for _, m := range modules {
		for i := range m.Decls {
			if d := &m.Decls[i]; d.Kind == ptx.Entry && d.HasBody {
				known[m.Names[d.Name]] = contents(m, d)
			}
		}
	}
	return known
}
