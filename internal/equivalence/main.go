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
	"errors"
	"flag"
	"fmt"
	"io"
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
	"ptxlink/internal/ptxsim/gpu"
	"ptxlink/internal/ptxsim/kernels"
	"ptxlink/internal/sets"
)

// totals counts what was compared.
type totals struct {
	sync.Mutex
	of  map[string]int
	gpu io.Writer // or nil
}

func (sum *totals) add(what string, n int) {
	sum.Lock()
	defer sum.Unlock()
	sum.of[what] += n
}

// ends begins what counts why kernels were left out.
const ends = "kernels end with: "

// must ends the program if there is an error that is not one of what it compares.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "equivalence:", err)
		os.Exit(2)
	}
}

func main() {
	programs := flag.Int("programs", 200, "number of programs")
	sets := flag.Int("sets", 1000, "number of sets of modules written in PTX")
	seed := flag.Uint64("seed", 1, "seed of the first program")
	every := flag.Int("ptxas", 1, "assemble the outputs of each program and set whose seed this number divides; 0: of none")
	real := flag.String("real", "", "compare the programs in the directories below `DIR`, and no generated ones")
	out := flag.String("o", "differences", "directory for programs with a difference")
	file := flag.String("gpu", "", "write the programs and sets, and what they did, to `FILE`; see package gpu")
	flag.Parse()
	var dirs []string
	if *real != "" {
		*programs, *sets = 0, 0
		dirs = realPrograms(*real)
	}
	compilers := slices.DeleteFunc(slices.Concat(kernels.Compilers, kernels.Others), func(c kernels.Compiler) bool {
		_, ok := oracles.Find(c.Tool)
		return !ok
	})
	if len(compilers) == 0 && *programs > 0 {
		must(errors.New("no compilers: run internal/oracles/fetch.sh --compilers"))
	}
	sum := &totals{of: map[string]int{}}
	if *file != "" {
		f, err := os.Create(*file)
		must(err)
		sum.gpu = f
	}
	var group errgroup.Group
	group.SetLimit(2)
	job := func(kind, name string, compare func() ([]fault, error)) {
		group.Go(func() error {
			faults, err := compare()
			sum.report(kind, name, faults, err)
			return nil
		})
	}
	assembles := func(s uint64) bool { return *every > 0 && s%uint64(*every) == 0 }
	for i, dir := range dirs {
		kept := filepath.Join(*out, strings.ReplaceAll(strings.TrimLeft(dir, "./"), "/", "_"))
		job("programs", dir, func() ([]fault, error) { return sum.real(dir, assembles(uint64(i)), kept) })
	}
	for i := range uint64(*sets) {
		s := *seed + i
		kept := filepath.Join(*out, fmt.Sprint("set", s))
		job("sets", fmt.Sprint("set ", s), func() ([]fault, error) { return sum.set(s, assembles(s), kept) })
	}
	for i := range uint64(*programs) {
		s := *seed + i
		c := compilers[int(s%uint64(len(compilers)))]
		kept := filepath.Join(*out, fmt.Sprint(s))
		job("programs", fmt.Sprint(s, ": ", c.Name), func() ([]fault, error) { return sum.one(s, c, assembles(s), kept) })
	}
	group.Wait() // no job returns an error
	for _, c := range compilers[:min(len(compilers), *programs)] {
		fmt.Printf("%8d  programs by %s\n", sum.of[c.Name], c.Name)
	}
	of := sum.of
	fmt.Printf("%8d  sets of modules: %d sets with a difference\n", of["sets"], of["bad sets"])
	fmt.Printf("%8d  programs: %d programs with a difference\n", of["programs"], of["bad programs"])
	if *real != "" {
		fmt.Printf("%8d  kernels; made-up arguments suit %d, and the start of %d\n", of["entries"], of["kernels"], of["cut"])
		for _, what := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) }) {
			if strings.HasPrefix(what, ends) {
				fmt.Printf("%8d  %s\n", of[what], what)
			}
		}
	}
	fmt.Printf("%8d  kernels of programs, %d stores, %d outputs, %d of them assembled\n", of["kernels"], of["stores"], of["outputs"], of["assembled"])
	if of["bad programs"]+of["bad sets"] > 0 {
		os.Exit(1)
	}
}

// report counts one program or set, and prints its faults.
func (sum *totals) report(kind, name string, faults []fault, err error) {
	if err != nil {
		faults = append(faults, fault{variant: "unlinked", text: err.Error()})
	}
	sum.Lock()
	defer sum.Unlock()
	sum.of[kind]++
	if len(faults) > 0 {
		sum.of["bad "+kind]++
	}
	for _, f := range faults {
		fmt.Printf("%s: %s: %s\n", name, f.variant, f.text)
	}
}

// one compares the program of a seed. The files stay in dir if there is a fault.
func (sum *totals) one(seed uint64, c kernels.Compiler, assembles bool, dir string) ([]fault, error) {
	must(os.MkdirAll(dir, 0o777))
	p := kernels.Generate(seed)
	path, _ := oracles.Find(c.Tool)
	texts, err := p.Compile(c, path, dir)
	if err != nil {
		return nil, err
	}
	sum.add("kernels", p.Kernels)
	sum.add(c.Name, 1)
	return sum.compare(unitsOf(texts), p.Launch, nil, ptxsim.Options{}, variants, true, assembles, dir)
}

// set compares the modules of a seed. The files stay in dir if there is a fault.
func (sum *totals) set(seed uint64, assembles bool, dir string) ([]fault, error) {
	must(os.MkdirAll(dir, 0o777))
	s := generateModules(seed)
	for i, u := range s.units {
		must(os.WriteFile(filepath.Join(dir, u.name), u.text, 0o666))
		if o := s.optional[i]; !bytes.Equal(o.text, u.text) {
			must(os.WriteFile(filepath.Join(dir, "optional_"+u.name), o.text, 0o666))
		}
	}
	return sum.compare(s.units, launchAll, nil, ptxsim.Options{}, s.variants(), false, assembles, dir)
}

// compare compares units with their variants. If messages is set, a message of the link is a fault,
// too. Without faults, compare removes dir.
func (sum *totals) compare(units []unit, launch launcher, cut []launcher, opt ptxsim.Options, variants []variant, messages, assembles bool, dir string) ([]fault, error) {
	res, err := compare(units, launch, cut, opt, variants)
	if err != nil {
		return nil, err
	}
	if !messages {
		res.faults = slices.DeleteFunc(res.faults, func(f fault) bool { return strings.HasPrefix(f.text, "message: ") })
	}
	if assembles {
		for _, tool := range []string{"ptxas", "ptxas-new"} {
			n, faults := assemble(tool, tool == "ptxas", variants, res.outputs, dir)
			sum.add("assembled", n)
			res.faults = append(res.faults, faults...)
		}
	}
	if sum.gpu != nil {
		sum.Lock()
		writeGPU(sum.gpu, filepath.Base(dir), units, launch, opt, variants, res.outputs)
		sum.Unlock()
	}
	sum.add("stores", len(res.want.stores))
	sum.add("outputs", len(res.outputs))
	if len(res.faults) == 0 {
		must(os.RemoveAll(dir))
		return nil, nil
	}
	for i, outputs := range res.outputs {
		for _, u := range outputs {
			must(os.WriteFile(filepath.Join(dir, variants[i].file()+u.name), u.text, 0o666))
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

// writeGPU writes a program, and what each variant made of it, for a GPU.
func writeGPU(w io.Writer, name string, units []unit, launch launcher, opt ptxsim.Options, variants []variant, outputs [][]unit) {
	modules, err := parse(units)
	must(err)
	m, err := ptxsim.New(opt, modules...)
	must(err)
	linkage := external(units)
	var list []gpu.Variant
	done := map[string]bool{}
	add := func(name string, units []unit) {
		v := gpu.Variant{Name: name}
		for _, u := range units {
			v.Modules = append(v.Modules, u.text)
		}
		if len(units) > 0 && sets.Add(&done, fmt.Sprintf("%s", v.Modules)) {
			list = append(list, v)
		}
	}
	add("unlinked", units)
	for i, out := range outputs {
		add(variants[i].name, out)
	}
	must(launch(m))
	must(gpu.Write(w, name, m, func(o *ptxsim.Object) bool { return linkage[o.Name] }, list))
}

// assemble assembles the outputs. The first one is not optimised; the others must not
// have messages that it does not have. Parts can only be relocatable. An output that takes longer than a
// minute is left out: --inline=* may make kernels of any size.
func assemble(tool string, relocatable bool, variants []variant, outputs [][]unit, dir string) (n int, faults []fault) {
	path, ok := oracles.Find(tool)
	if !ok {
		return 0, nil
	}
	known := map[string]bool{}
	done := map[string]bool{}
	in, cubin := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	for i, list := range outputs {
		for _, u := range list {
			if !sets.Add(&done, string(u.text)) {
				continue
			}
			must(os.WriteFile(in, u.text, 0o666))
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
				return n, faults // what the others are compared with
			} else if late {
				continue
			}
			if bytes.Contains(said, []byte("Unsupported .version")) || bytes.Contains(said, []byte("is not defined for option 'gpu-name'")) {
				return n, nil // a module for a later ptxas
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
	return n, faults
}
