// Equivalence checks that linking does not change what programs do. It generates random
// programs, compiles them with several compilers, and interprets them unlinked, linked,
// linked in two steps, and optimised in several ways. All must leave the same memory,
// and every thread must make the same stores and prints in the same order. ptxas must
// accept every output without new warnings.
//
//	make equivalence PROGRAMS=200 SEED=1000
//	go run ./internal/equivalence -programs 100 -seed 1 -ptxas 0 -o /tmp/differences
//
// The compilers take turns. Programs with a difference are kept below the folder of -o.
// The exit code is 1 if there is one.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim/kernels"
)

// totals counts what was compared.
type totals struct {
	sync.Mutex
	programs, kernels, outputs, assembled, stores, bad int
	compilers                                          map[string]int
}

func main() {
	programs := flag.Int("programs", 200, "number of programs")
	seed := flag.Uint64("seed", 1, "seed of the first program")
	jobs := flag.Int("j", 2, "programs at a time")
	every := flag.Int("ptxas", 1, "assemble the outputs of each program whose seed this number divides; 0: of none")
	out := flag.String("o", "differences", "folder for programs with a difference")
	flag.Parse()
	var compilers []kernels.Compiler
	for _, c := range slices.Concat(kernels.Compilers, kernels.Others) {
		if _, ok := oracles.Find(c.Tool); ok {
			compilers = append(compilers, c)
		}
	}
	if len(compilers) == 0 {
		fmt.Fprintln(os.Stderr, "equivalence: no compilers: run internal/oracles/fetch.sh --compilers")
		os.Exit(2)
	}
	sum := &totals{compilers: map[string]int{}}
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range *jobs {
		workers.Go(func() {
			for s := range seeds {
				c := compilers[int(s%uint64(len(compilers)))]
				dir := filepath.Join(*out, fmt.Sprint(s))
				faults, err := sum.one(s, c, *every > 0 && s%uint64(*every) == 0, dir)
				if err != nil {
					faults = append(faults, fault{variant: "unlinked", text: err.Error()})
				}
				sum.Lock()
				sum.programs++
				sum.compilers[c.Name]++
				if len(faults) > 0 {
					sum.bad++
				}
				for _, f := range faults {
					fmt.Printf("%d: %s: %s: %s\n", s, c.Name, f.variant, f.text)
				}
				sum.Unlock()
			}
		})
	}
	for i := range *programs {
		seeds <- *seed + uint64(i)
	}
	close(seeds)
	workers.Wait()
	for _, c := range compilers {
		fmt.Printf("%8d  programs by %s\n", sum.compilers[c.Name], c.Name)
	}
	fmt.Printf("%8d  programs with %d kernels and %d stores, %d outputs, %d assembled: %d programs with a difference\n",
		sum.programs, sum.kernels, sum.stores, sum.outputs, sum.assembled, sum.bad)
	if sum.bad > 0 {
		os.Exit(1)
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
	res, err := compare(unitsOf(texts), launcherOf(p))
	if err == nil {
		err = res.want.err
	}
	if err != nil {
		return nil, err
	}
	assembled := 0
	if assembles {
		for _, tool := range []string{"ptxas", "ptxas-new"} {
			n, faults, err := assemble(tool, tool == "ptxas", res.outputs, dir)
			if err != nil {
				return nil, err
			}
			assembled += n
			res.faults = append(res.faults, faults...)
		}
	}
	sum.Lock()
	sum.kernels += p.Kernels
	sum.stores += len(res.want.stores)
	sum.outputs += len(res.outputs)
	sum.assembled += assembled
	sum.Unlock()
	if len(res.faults) == 0 {
		return nil, os.RemoveAll(dir)
	}
	for i, text := range res.outputs {
		if err := os.WriteFile(filepath.Join(dir, variants[i].file()), text, 0o666); err != nil {
			return nil, err
		}
	}
	return res.faults, nil
}

var notLetters = regexp.MustCompile(`[^A-Za-z0-9]+`)

func (v variant) file() string { return "out" + notLetters.ReplaceAllString(v.name, "_") + ".ptx" }

var debugTarget = regexp.MustCompile(`(?m)^\.target .*\bdebug\b`)

// inLine is the place in a message of ptxas.
var inLine = regexp.MustCompile(`, line \d+`)

// assemble assembles the outputs. The first one is not optimised; the others must not
// have messages that it does not have.
func assemble(tool string, relocatable bool, outputs [][]byte, dir string) (n int, faults []fault, err error) {
	path, ok := oracles.Find(tool)
	if !ok {
		return 0, nil, nil
	}
	known := map[string]bool{}
	done := map[string]bool{}
	in, cubin := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	for i, text := range outputs {
		if text == nil || done[string(text)] {
			continue
		}
		done[string(text)] = true
		if err := os.WriteFile(in, text, 0o666); err != nil {
			return n, nil, err
		}
		os.Remove(cubin)
		// Little optimisation, as the module of whole programs takes minutes otherwise.
		// ptxas has none for .target ..., debug.
		level := "-O1"
		if debugTarget.Match(outputs[0]) {
			level = "-O0"
		}
		args := []string{level, "-arch=" + oracles.GPU("sm_70"), in, "-o", cubin}
		if relocatable {
			args = append(args, "-c")
		}
		said, failed := exec.Command(path, args...).CombinedOutput()
		if bytes.Contains(said, []byte("Unsupported .version")) {
			return n, nil, nil // a module for a later ptxas
		}
		n++
		if info, err := os.Stat(cubin); failed != nil || err != nil || info.Size() == 0 {
			faults = append(faults, fault{variants[i].name, fmt.Sprintf("%s: %v\n%s", tool, failed, said), text})
			continue
		}
		for line := range strings.Lines(inLine.ReplaceAllString(string(said), "")) {
			if i == 0 {
				known[line] = true
			} else if !known[line] {
				faults = append(faults, fault{variants[i].name, tool + " warns: " + line, text})
			}
		}
	}
	return n, faults, nil
}
