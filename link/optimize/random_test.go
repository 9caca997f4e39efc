package optimize_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"ptxlink/internal/ptxsim"
	"ptxlink/link/optimize"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// outcome is what a module did: memory, and the stores in order.
type outcome struct {
	log    []byte
	stores []ptxsim.Store
}

// run runs entry k with several threads.
func run(seed int32, modules ...*ptx.Module) (outcome, error) {
	machine, err := ptxsim.New(ptxsim.Options{Steps: 2e6}, modules...)
	if err != nil {
		return outcome{}, err
	}
	err = machine.Launch("k", ptxsim.Grid{Threads: [3]int{4}}, seed)
	return outcome{machine.Global("log").Data, rename(machine.Stores)}, err
}

// rename gives the static objects of functions the names that they have at module scope.
func rename(stores []ptxsim.Store) []ptxsim.Store {
	for i := range stores {
		if f, object, ok := cutLast(stores[i].Object, '.'); ok {
			stores[i].Object = f + "$" + object
		}
	}
	return stores
}

func cutLast(s string, ch byte) (before, after string, ok bool) {
	i := bytes.LastIndexByte([]byte(s), ch)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func parse(text string) (*ptx.Module, error) {
	m, err := ptx.Parse(&diag.Source{Name: "t.ptx", Text: []byte(text)})
	if err != nil {
		return nil, fmt.Errorf("line %d: %s", m.Src.Line(err.Span.Off), err.Text)
	}
	return m, nil
}

var levels = []optimize.Options{{Request: optimize.Request{Level: 1}}, {Request: optimize.Request{Level: 2}}, {Request: optimize.Request{Inline: []string{"*"}}}, {Request: optimize.Request{Level: 1, InlineLimit: 8, Interposable: true}}}

// same optimises a module and returns an error if what it does differs.
func same(text string, o optimize.Options, seeds ...int32) (*written, error) {
	return sameWith(text, "", o, seeds...)
}

// tryOptimize returns a panic as an error.
func tryOptimize(m *ptx.Module, o optimize.Options) (r *written, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return optimizeModule(m, o)
}

// sameWith does the same for a module that another one is linked with later.
func sameWith(text, other string, o optimize.Options, seeds ...int32) (*written, error) {
	m, err := parse(text)
	if err != nil {
		return nil, err
	}
	var others []*ptx.Module
	if other != "" {
		second, err := parse(other)
		if err != nil {
			return nil, err
		}
		others = append(others, second)
	}
	r, err := tryOptimize(m, o)
	if err != nil {
		return nil, err
	}
	after, err := parse(string(r.Text))
	if err != nil {
		return r, err
	}
	for _, seed := range seeds {
		want, err := run(seed, append(others, m)...)
		if err != nil {
			return r, fmt.Errorf("before: %w", err)
		}
		got, err := run(seed, append(others, after)...)
		if err != nil {
			return r, fmt.Errorf("after: %w", err)
		}
		if diff := ptxsim.DiffStores(want.stores, got.stores, true); diff != "" {
			return r, fmt.Errorf("seed %d: %s", seed, diff)
		}
		if !bytes.Equal(want.log, got.log) {
			return r, fmt.Errorf("seed %d: memory differs", seed)
		}
	}
	return r, nil
}

// TestRandom compares random modules before and after. A long run
// (PTXLINK_MODULES=2000) also assembles what it makes, with the ptxas of two releases.
func TestRandom(t *testing.T) {
	n, long := uint64(200), os.Getenv("PTXLINK_MODULES")
	if testing.Short() {
		n = 16
	}
	if long != "" {
		fmt.Sscan(long, &n)
	}
	const shares = 4
	for share := range uint64(shares) {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			modules, calls, inlined, assembled, differ := 0, 0, 0, 0, 0
			for seed := share; seed < n; seed += shares {
				text := generate(seed)
				modules++
				made := map[string]bool{}
				for _, o := range levels {
					r, err := same(text, o, 3, -1)
					if err != nil {
						if differ++; differ > 1 {
							text = "" // the first one is enough to read
						}
						t.Errorf("module %d, %+v: %v\n%s", seed, o, err, text)
						break
					}
					for _, c := range r.Calls {
						calls++
						if c.Inlined {
							inlined++
						}
					}
					if long != "" && !made[string(r.Text)] {
						made[string(r.Text)] = true
						assemble(t, "ptxas", string(r.Text))
						assemble(t, "ptxas-new", string(r.Text))
						assembled++
					}
				}
			}
			t.Logf("%d modules, %d of %d calls inlined, %d outputs assembled, %d differences", modules, inlined, calls, assembled, differ)
		})
	}
}
