// Package parallel runs independent work in several goroutines.
package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Each calls work with 0 to n-1 in several goroutines, at most jobs at a time; 0 means
// one per CPU. If work panics, Each panics with a *Panic. It returns the error of a
// cancelled context.
func Each(ctx context.Context, n, jobs int, name func(int) string, work func(int)) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	err := error(nil)
	if jobs == 1 || n <= 1 { // without goroutines, which cost more than little work
		for i := 0; i < n && err == nil; i++ {
			err = one(ctx, i, name, work)
		}
	} else {
		err = several(ctx, n, jobs, name, work)
	}
	if err != nil {
		if p, ok := errors.AsType[*Panic](err); ok {
			panic(p)
		}
	}
	return err
}

// Jobs returns the number of goroutines for some work: jobs, but 1 if the work takes less
// than starting goroutines and jobs is 0. A number that the caller asks for is kept, so that
// tests of small inputs use several.
func Jobs(jobs int, small bool) int {
	if small && jobs == 0 {
		return 1
	}
	return jobs
}

// Chunks calls work with consecutive ranges [from, to) of 0 to n-1, as Each does. A range has
// at most size numbers, and fewer if jobs is given and some goroutines would have none.
func Chunks(ctx context.Context, n, size, jobs int, name string, work func(from, to int)) error {
	if jobs > 1 {
		size = max(1, min(size, n/jobs))
	}
	return Each(ctx, (n+size-1)/size, jobs, func(int) string { return name }, func(i int) {
		work(i*size, min(n, (i+1)*size))
	})
}

func one(ctx context.Context, i int, name func(int) string, work func(int)) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() {
		// A panic in a worker would end the process without our message.
		if r := recover(); r != nil {
			err = &Panic{Doing: name(i), Value: r, Stack: debug.Stack()}
		}
	}()
	work(i)
	return nil
}

func several(ctx context.Context, n, jobs int, name func(int) string, work func(int)) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(jobs, n) {
		group.Go(func() (err error) {
			debug.SetPanicOnFault(true) // of memory whose file became shorter
			for i := next.Add(1) - 1; i < int64(n) && err == nil; i = next.Add(1) - 1 {
				err = one(ctx, int(i), name, work)
			}
			return err
		})
	}
	return group.Wait()
}

// Panic is a panic of a worker, raised again in the caller of Each.
type Panic struct {
	Doing string // what it worked on
	Value any
	Stack []byte // of the worker
}

func (p *Panic) Error() string {
	return fmt.Sprintf("%s: %v\n%s", p.Doing, p.Value, p.Stack)
}
