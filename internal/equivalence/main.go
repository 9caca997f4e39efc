// Equivalence checks that linking does not change what programs do. It generates random
// programs, compiles them with several compilers, and interprets them unlinked, linked,
// linked in two steps, and optimised in several ways. All must leave the same memory,
// and every thread must make the same stores and prints in the same order. ptxas must
// accept every output without new warnings. Sets of modules written in PTX, whose
// declarations of one name differ, are compared in the same way.
//
//	make equivalence PROGRAMS=200 SEED=1000
//	go run ./internal/equivalence -programs 100 -sets 1000 -seed 1 -ptxas 0 -o /tmp/differences
//	make equivalence REAL=DIR
//
// With -real, the programs are the modules in each directory below DIR, that compilers made of
// the source of others.
//
// The compilers take turns. Programs and sets with a difference are kept below the directory
// of -o. The last lines count them; the exit code is 1 if there is one.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/kernels"
)

// totals counts what was compared.
type totals struct {
	sync.Mutex
	programs, sets, entries, kernels, cut, outputs, assembled, stores, bad, badSets int
	compilers                                                                       map[string]int
	reasons                                                                         map[string]int // why kernels were left out
}

func main() {
	programs := flag.Int("programs", 200, "number of programs")
	sets := flag.Int("sets", 1000, "number of sets of modules written in PTX")
	seed := flag.Uint64("seed", 1, "seed of the first program")
	jobs := flag.Int("j", 2, "programs at a time")
	every := flag.Int("ptxas", 1, "assemble the outputs of each program and set whose seed this number divides; 0: of none")
	real := flag.String("real", "", "compare the programs in the directories below `DIR`, and no generated ones")
	out := flag.String("o", "differences", "directory for programs with a difference")
	flag.Parse()
	var dirs []string
	if *real != "" {
		*programs, *sets = 0, 0
		var err error
		if dirs, err = realPrograms(*real); err != nil {
			fmt.Fprintln(os.Stderr, "equivalence:", err)
			os.Exit(2)
		}
	}
	compilers := slices.DeleteFunc(slices.Concat(kernels.Compilers, kernels.Others), func(c kernels.Compiler) bool {
		_, ok := oracles.Find(c.Tool)
		return !ok
	})
	if len(compilers) == 0 && *programs > 0 {
		fmt.Fprintln(os.Stderr, "equivalence: no compilers: run internal/oracles/fetch.sh --compilers")
		os.Exit(2)
	}
	sum := &totals{compilers: map[string]int{}, reasons: map[string]int{}}
	var group errgroup.Group
	group.SetLimit(*jobs)
	job := func(name string, count, bad *int, compare func() ([]fault, error)) {
		group.Go(func() error {
			faults, err := compare()
			sum.report(name, count, bad, faults, err)
			return nil
		})
	}
	assembles := func(s uint64) bool { return *every > 0 && s%uint64(*every) == 0 }
	for i, dir := range dirs {
		kept := filepath.Join(*out, strings.ReplaceAll(strings.TrimLeft(dir, "./"), "/", "_"))
		job(dir, &sum.programs, &sum.bad, func() ([]fault, error) { return sum.real(dir, assembles(uint64(i)), kept) })
	}
	for i := range uint64(*sets) {
		s := *seed + i
		kept := filepath.Join(*out, fmt.Sprint("set", s))
		job(fmt.Sprint("set ", s), &sum.sets, &sum.badSets, func() ([]fault, error) { return sum.set(s, assembles(s), kept) })
	}
	for i := range uint64(*programs) {
		s := *seed + i
		c := compilers[int(s%uint64(len(compilers)))]
		kept := filepath.Join(*out, fmt.Sprint(s))
		job(fmt.Sprint(s, ": ", c.Name), &sum.programs, &sum.bad, func() ([]fault, error) { return sum.one(s, c, assembles(s), kept) })
	}
	group.Wait() // no job returns an error
	for _, c := range compilers[:min(len(compilers), *programs)] {
		fmt.Printf("%8d  programs by %s\n", sum.compilers[c.Name], c.Name)
	}
	fmt.Printf("%8d  sets of modules: %d sets with a difference\n", sum.sets, sum.badSets)
	fmt.Printf("%8d  programs: %d programs with a difference\n", sum.programs, sum.bad)
	if *real != "" {
		fmt.Printf("%8d  kernels; made-up arguments suit %d, and the start of %d\n", sum.entries, sum.kernels, sum.cut)
		for _, reason := range slices.SortedFunc(maps.Keys(sum.reasons), func(a, b string) int {
			return cmp.Or(cmp.Compare(sum.reasons[b], sum.reasons[a]), cmp.Compare(a, b))
		}) {
			fmt.Printf("%8d  kernels end with: %s\n", sum.reasons[reason], reason)
		}
	}
	fmt.Printf("%8d  kernels of programs, %d stores, %d outputs, %d of them assembled\n", sum.kernels, sum.stores, sum.outputs, sum.assembled)
	if sum.bad+sum.badSets > 0 {
		os.Exit(1)
	}
}

// report counts one program or set, and prints its faults.
func (sum *totals) report(name string, count, bad *int, faults []fault, err error) {
	if err != nil {
		faults = append(faults, fault{variant: "unlinked", text: err.Error()})
	}
	sum.Lock()
	defer sum.Unlock()
	*count++
	if len(faults) > 0 {
		*bad++
	}
	for _, f := range faults {
		fmt.Printf("%s: %s: %s\n", name, f.variant, f.text)
	}
}

// one compares the program of a seed. The files stay in dir if there is a fault.
func (sum *totals) one(seed uint64, c kernels.Compiler, assembles bool, dir string) ([]fault, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	p := kernels.Generate(seed)
	path, _ := oracles.Find(c.Tool)
	texts, err := p.Compile(c, path, dir)
	if err != nil {
		return nil, err
	}
	sum.Lock()
	sum.kernels += p.Kernels
	sum.compilers[c.Name]++
	sum.Unlock()
	return sum.compare(unitsOf(texts), launcherOf(p), nil, ptxsim.Options{}, variants, assembles, dir)
}

// set compares the modules of a seed. The files stay in dir if there is a fault.
func (sum *totals) set(seed uint64, assembles bool, dir string) ([]fault, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	s := generateModules(seed)
	for i, u := range s.units {
		err := os.WriteFile(filepath.Join(dir, u.name), u.text, 0o666)
		if o := s.optional[i]; err == nil && !bytes.Equal(o.text, u.text) {
			err = os.WriteFile(filepath.Join(dir, "optional_"+u.name), o.text, 0o666)
		}
		if err != nil {
			return nil, err
		}
	}
	faults, err := sum.compare(s.units, launchAll, nil, ptxsim.Options{}, s.variants(), assembles, dir)
	return slices.DeleteFunc(faults, func(f fault) bool { return strings.HasPrefix(f.text, "message: ") }), err
}

// compare compares units with their variants. It removes dir if there is no fault.
func (sum *totals) compare(units []unit, launch launcher, cut []launcher, opt ptxsim.Options, variants []variant, assembles bool, dir string) ([]fault, error) {
	res, err := compare(units, launch, cut, opt, variants)
	if err != nil {
		return nil, err
	}
	assembled := 0
	if assembles {
		for _, tool := range []string{"ptxas", "ptxas-new"} {
			n, faults, err := assemble(tool, tool == "ptxas", variants, res.outputs, dir)
			if err != nil {
				return nil, err
			}
			assembled += n
			res.faults = append(res.faults, faults...)
		}
	}
	sum.Lock()
	sum.stores += len(res.want.stores)
	sum.outputs += len(res.outputs)
	sum.assembled += assembled
	sum.Unlock()
	if len(res.faults) == 0 {
		return nil, os.RemoveAll(dir)
	}
	for i, outputs := range res.outputs {
		for _, u := range outputs {
			if err := os.WriteFile(filepath.Join(dir, variants[i].file()+u.name), u.text, 0o666); err != nil {
				return nil, err
			}
		}
	}
	return res.faults, nil
}

var notLetters = regexp.MustCompile(`[^A-Za-z0-9]+`)

func (v variant) file() string { return "out" + notLetters.ReplaceAllString(v.name, "_") + "_" }

var (
	debugTarget = regexp.MustCompile(`(?m)^\.target .*\bdebug\b`)
	target      = regexp.MustCompile(`(?m)^\.target (sm_\w+)`)
)

// inLine is the place in a message of ptxas.
var inLine = regexp.MustCompile(`, line \d+`)

// assemble assembles the outputs. The first one is not optimised; the others must not
// have messages that it does not have. Parts can only be relocatable. An output that takes longer than a
// minute is left out: --inline=* may make kernels of any size.
func assemble(tool string, relocatable bool, variants []variant, outputs [][]unit, dir string) (n int, faults []fault, err error) {
	path, ok := oracles.Find(tool)
	if !ok {
		return 0, nil, nil
	}
	known := map[string]bool{}
	done := map[string]bool{}
	in, cubin := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	for i, list := range outputs {
		for _, u := range list {
			if done[string(u.text)] {
				continue
			}
			done[string(u.text)] = true
			if err := os.WriteFile(in, u.text, 0o666); err != nil {
				return n, nil, err
			}
			os.Remove(cubin)
			// Little optimisation, as the module of whole programs takes minutes otherwise.
			// ptxas has none for .target ..., debug.
			level := "-O1"
			if debugTarget.Match(u.text) {
				level = "-O0"
			}
			gpu := "sm_80"
			if t := target.FindSubmatch(u.text); t != nil && oracles.GPU(string(t[1])) == string(t[1]) {
				gpu = string(t[1])
			}
			args := []string{level, "-arch=" + gpu, in, "-o", cubin}
			if relocatable || len(list) > 1 {
				args = append(args, "-c")
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			said, failed := exec.CommandContext(ctx, path, args...).CombinedOutput()
			late := ctx.Err() != nil
			cancel()
			if late && i == 0 {
				return n, faults, nil // what the others are compared with
			} else if late {
				continue
			}
			if bytes.Contains(said, []byte("Unsupported .version")) || bytes.Contains(said, []byte("is not defined for option 'gpu-name'")) {
				return n, nil, nil // a module for a later ptxas
			}
			n++
			if info, err := os.Stat(cubin); failed != nil || err != nil || info.Size() == 0 {
				faults = append(faults, fault{variants[i].name, fmt.Sprintf("%s: %v\n%s", tool, failed, said)})
				continue
			}
			for line := range strings.Lines(inLine.ReplaceAllString(string(said), "")) {
				if i == 0 {
					known[line] = true
				} else if !known[line] {
					faults = append(faults, fault{variants[i].name, tool + " warns: " + line})
				}
			}
		}
	}
	return n, faults, nil
}
