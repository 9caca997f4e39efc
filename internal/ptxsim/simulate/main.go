// Simulate validates package ptxsim with random programs: each is compiled to PTX and for
// the host, and both must leave the same memory.
//
//	make simulate SEED=1000                         # 200 programs
//	go run ./internal/ptxsim/simulate -programs 5000 -seed 1 -o /tmp/differences
//
// The compilers take turns. A program that differs is kept below the directory of -o.
// The exit code is 1 if one does.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/kernels"
)

func main() {
	programs := flag.Int("programs", 200, "number of programs")
	seed := flag.Uint64("seed", 1, "seed of the first program")
	jobs := flag.Int("j", 2, "programs at a time")
	out := flag.String("o", "", "directory for programs that differ")
	flag.Parse()
	var compilers []kernels.Compiler
	var paths []string
	for _, c := range kernels.Compilers {
		if path, ok := oracles.Find(c.Tool); ok {
			compilers, paths = append(compilers, c), append(paths, path)
		}
	}
	cxx, ok := oracles.Find("g++")
	if !ok || len(compilers) == 0 {
		fmt.Fprintln(os.Stderr, "simulate: no compilers: run internal/oracles/fetch.sh --compilers")
		os.Exit(2)
	}
	var mu sync.Mutex
	kernelCount, bad := 0, 0
	counts := map[string]int{}
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range *jobs {
		workers.Go(func() {
			for s := range seeds {
				i := int(s % uint64(len(compilers)))
				p := kernels.Generate(s)
				text, err := one(p, cxx, compilers[i], paths[i], filepath.Join(*out, fmt.Sprint(s)), *out != "")
				if err != nil {
					text = err.Error()
				}
				mu.Lock()
				kernelCount += p.Kernels
				counts[compilers[i].Name] += p.Kernels
				if text != "" {
					bad++
					fmt.Printf("%d: %s: %s\n", s, compilers[i].Name, text)
				}
				mu.Unlock()
			}
		})
	}
	for i := range *programs {
		seeds <- *seed + uint64(i)
	}
	close(seeds)
	workers.Wait()
	for _, c := range compilers {
		fmt.Printf("%6d  kernels by %s\n", counts[c.Name], c.Name)
	}
	fmt.Printf("%6d  programs, %d kernels, %d differ\n", *programs, kernelCount, bad)
	if bad > 0 {
		os.Exit(1)
	}
}

// one runs a program both ways and returns the difference.
func one(p kernels.Program, cxx string, c kernels.Compiler, path, keep string, keeps bool) (string, error) {
	dir, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if keeps {
		if err := os.MkdirAll(keep, 0o777); err != nil {
			return "", err
		}
		dir = keep
	}
	want, err := p.RunOnHost(cxx, dir)
	if err != nil {
		return "", err
	}
	units, err := p.Compile(c, path, dir)
	if err != nil {
		return "", err
	}
	modules, err := kernels.Parse(units)
	if err != nil {
		return "", err
	}
	got, _, err := p.Simulate(ptxsim.Options{}, modules...)
	if err != nil {
		return "", err
	}
	text := kernels.Diff(want, got)
	if text == "" && keeps {
		os.RemoveAll(keep)
	}
	return text, nil
}
