// Differential generates random sets of PTX modules and links each in two ways:
// ptxlink, ptxas -c and nvlink; and ptxas -c of each module, and nvlink.
//
//	make differential SEED=1000                       # until it is stopped
//	go run ./internal/differential -sets 5000 -seed 1 -o /tmp/differences
//
// The modules declare everything that may be declared at module scope. All names,
// including those inside functions, come from one short list: opcodes, types,
// members of vectors, names that a register range may or may not contain. The seed
// determines the set. The results are compared at two points:
//
//  1. Before nvlink, where addresses are relocations by symbol. Each function of
//     the merged module has the same instructions, relocations and attributes as in
//     the module it comes from, to the byte. If ptxas schedules a function
//     differently, because it sees other calls of it, the function has the same
//     memory, texture, atomic, call and barrier instructions and the same
//     relocation targets. Each object has the same bytes and relocations. A local
//     is the same only if it belongs to the same module.
//  2. After nvlink: kernels and every object, with binding, size and bytes.
//
// If one way refuses a set, the other must too; some sets have a symbol that is
// undefined, defined twice or declared with another type. Differences that
// docs/abi.md lists are counted by reason. Sets are not compared if ptxas refuses
// one module alone, or if ptxas or nvlink crashes or reports an internal error.
//
// A line of the log holds the seed, the kind of outcome, and its detail. Equal sets
// have no line; a line starting with # counts every hundred sets. The last lines
// count the outcomes. With -o the first few sets of each kind of difference are
// minimised: DIR/SEED holds the modules, the merged text, both linked cubins, and a
// README with the kind and the detail. Exit code 1 means that there were
// differences.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
)

func main() {
	sets := flag.Int("sets", 0, "number of sets; 0 goes on until interrupted")
	seed := flag.Uint64("seed", 1, "seed of the first set")
	out := flag.String("o", "", "directory for sets that differ")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := &runner{log: os.Stdout, out: *out, counts: map[string]int{}}
	if err := r.run(ctx, *seed, *sets); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Print(r.summary())
	if r.differences() > 0 {
		os.Exit(1)
	}
}

// A runner counts the outcomes of sets.
type runner struct {
	log io.Writer
	out string // directory for sets that differ, or empty

	mu     sync.Mutex
	counts map[string]int // of outcomes by class
	total  int
}

// run compares sets until it has compared enough or ctx ends.
func (r *runner) run(ctx context.Context, seed uint64, sets int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i := 0; (sets == 0 || i < sets) && ctx.Err() == nil; i++ {
		group.Go(func() error {
			dir, err := os.MkdirTemp("", "differential")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			r.one(&comparer{dir: dir}, seed+uint64(i))
			return nil
		})
	}
	return group.Wait()
}

// one compares the set of a seed, and minimises it if it is one of the first to
// differ in its class.
func (r *runner) one(c *comparer, seed uint64) {
	s := generate(seed)
	o := c.compare(s)
	r.mu.Lock()
	r.counts[o.class]++
	if r.total++; r.total%100 == 0 {
		fmt.Fprintf(r.log, "# %d sets, %d differ\n", r.total, r.differences())
	}
	count := r.counts[o.class]
	if o.class != equal {
		fmt.Fprintf(r.log, "%d: %s: %s\n", seed, o.class, strings.TrimSpace(o.detail))
	}
	r.mu.Unlock()
	if !o.differs() || count > 2 || r.out == "" { // two of a kind are enough to look at
		return
	}
	minimise(s, 400, func(t *set) bool { return c.compare(t).class == o.class })
	kept := &comparer{dir: filepath.Join(r.out, fmt.Sprint(seed))}
	if err := os.MkdirAll(kept.dir, 0o777); err != nil {
		fmt.Fprintln(r.log, err)
		return
	}
	o = kept.compare(s)
	readme := fmt.Sprintf("Seed %d, for %s, ptxas%s: %s\n\n%s\n", seed, s.arch, s.suffix, o.class, o.detail)
	if err := os.WriteFile(filepath.Join(kept.dir, "README"), []byte(readme), 0o666); err != nil {
		fmt.Fprintln(r.log, err)
	}
}

// differences returns the number of sets with a difference.
func (r *runner) differences() (n int) {
	for class, count := range r.counts {
		if (outcome{class: class}).differs() {
			n += count
		}
	}
	return n
}

// summary returns the number of sets by class, those that differ last.
func (r *runner) summary() string {
	var b strings.Builder
	total, compared := 0, 0
	for _, bad := range []bool{false, true} {
		for _, class := range sortedKeys(r.counts) {
			if (outcome{class: class}).differs() != bad {
				continue
			}
			fmt.Fprintf(&b, "%6d  %s\n", r.counts[class], class)
			total += r.counts[class]
			if !strings.HasPrefix(class, alone) {
				compared += r.counts[class]
			}
		}
	}
	fmt.Fprintf(&b, "%6d  sets, %d compared, %d differences\n", total, compared, r.differences())
	return b.String()
}
