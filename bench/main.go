//go:build linux

// Bench compares ptxlink with cat, nvptx-none-ld and nvlink on generated programs:
//
//	go run ./bench                            all sets, tables on standard output
//	go run ./bench -sets M,symbols -rounds 3  some sets
//	go run ./bench -o docs/benchmarks.md      what make bench does
//	go run ./bench -sets shared,few -rounds 9 the ways from modules to a cubin
//
// One round runs every command of every set, so that a change of the machine's speed
// affects all alike. The median of the rounds counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"ptxlink/internal/parallel"
)

func main() {
	log.SetFlags(0)
	debug.SetGCPercent(20) // the peak memory of a child is never below ours
	b := bench{}
	names := flag.String("sets", "", "sets to run, separated by commas (default: all but those of make route)")
	flag.IntVar(&b.rounds, "rounds", 7, "rounds; the median counts")
	flag.IntVar(&b.cubins, "cubins", 10, "modules of the set cubins; 100 is all of M, for which ptxas needs minutes")
	flag.StringVar(&b.page, "o", "", "write the tables to `FILE` and a plot beside it, named .svg")
	flag.StringVar(&b.dir, "dir", "", "directory for inputs and outputs (default: a new one in /dev/shm or the temporary directory)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b.ctx = ctx
	if failed := parallel.Catch[failure](func() { b.main(*names) }); failed.error != nil {
		log.Fatal(failed)
	}
}

// failure is an error that ends the program.
type failure struct{ error }

// check ends the program if there is an error. Its directories are removed.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

type bench struct {
	ctx      context.Context
	rounds   int
	cubins   int
	page     string
	commit   string // that the page names
	dir      string
	programs string // directory of those that are built
	binary   string // ptxlink
	sets     []*set
}

// set is a program and the commands that read it.
type set struct {
	bench       *bench
	name, title string
	dir         string // where its commands run
	bytes       int64  // of all inputs
	repeat      int    // runs of each command in a round
	fastest     bool   // counts, not the median
	commands    []*command
}

// command is a command line and what it took. It writes to out, or to standard
// output, which then goes to out.
type command struct {
	name     string
	args     []string
	toStdout bool
	before   func(round int) error // changes the inputs; nil: nothing
	wall     []time.Duration
	cpu      []time.Duration // user and system time
	peak     int64           // resident bytes
}

const out = "out"

func (b *bench) main(names string) {
	if b.page != "" {
		commit, err := commitOf(".", b.page, b.plotFile())
		check(err)
		b.commit = commit
	}
	if b.dir == "" {
		dir, err := os.MkdirTemp(memoryDir(), "ptxlink-bench")
		check(err)
		defer os.RemoveAll(dir)
		b.dir = dir
	}
	var err error
	b.programs, err = os.MkdirTemp("", "ptxlink-bench")
	check(err)
	defer os.RemoveAll(b.programs)
	b.binary = b.install("ptxlink", "./cmd/ptxlink", "-tags=urfave_cli_no_docs")
	b.makeSets(names)
	for round := range b.rounds {
		start := time.Now()
		for _, s := range b.sets {
			for range s.repeat {
				for _, c := range s.commands {
					b.measure(s, c)
				}
			}
		}
		log.Printf("round %d of %d: %.1f s", round+1, b.rounds, time.Since(start).Seconds())
	}
	b.report()
}

// memoryDir returns a directory without a disk behind it if it has room, else "".
func memoryDir() string {
	const dir, enough = "/dev/shm", 3 << 30
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= enough {
		return dir
	}
	return ""
}

// install builds a program and copies it, as an installation does, to where the other
// linkers are: on the disk. The linker of Go maps the file that it writes, and of such a
// file the kernel loads pages one by one.
func (b *bench) install(name, source string, flags ...string) string {
	built, installed := filepath.Join(b.programs, name+".built"), filepath.Join(b.programs, name)
	check(b.run("go", slices.Concat([]string{"build", "-o", built}, flags, []string{source})...))
	check(b.run("install", built, installed))
	return installed
}

func (b *bench) run(name string, args ...string) error {
	if text, err := exec.CommandContext(b.ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, text)
	}
	return nil
}

func (b *bench) measure(s *set, c *command) {
	path := filepath.Join(s.dir, out)
	os.Remove(path)
	cmd := exec.CommandContext(b.ctx, c.args[0], c.args[1:]...)
	cmd.Dir = s.dir
	var messages strings.Builder
	cmd.Stdout, cmd.Stderr = &messages, &messages
	if c.toStdout {
		f, err := os.Create(path)
		check(err)
		defer f.Close()
		cmd.Stdout = f
	}
	if c.before != nil {
		check(c.before(len(c.wall)))
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		check(fmt.Errorf("%s, %s: %w\n%s", s.name, c.name, err, messages.String()))
	}
	c.wall = append(c.wall, time.Since(start))
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	c.peak = max(c.peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
}

// time returns which of the times of a command counts.
func (s *set) time(d []time.Duration) time.Duration {
	if s.fastest {
		return slices.Min(d)
	}
	return median(d)
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
