package link

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"ptxlink/bench/gen"
	"ptxlink/link/program"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// tiny returns two modules of a few lines.
func tiny() (inputs []Input) {
	for i, text := range gen.Tiny {
		inputs = append(inputs, Input{Name: fmt.Sprintf("m%d.ptx", i), Text: []byte(text)})
	}
	return inputs
}

// raceDetector is set if the race detector is on, which allocates too.
var raceDetector bool

// TestAllocs limits the allocations of a small link, which a JIT makes often, and of one in which each
// module uses many functions of the other: names cost nothing until a message needs them.
func TestAllocs(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates too")
	}
	for _, test := range []struct {
		inputs []Input
		most   float64
	}{{tiny(), 159}, {generated(t, gen.Program{Modules: 2, Functions: 500, Externs: 500}), 395}} {
		got := testing.AllocsPerRun(20, func() {
			if _, err := Link(context.Background(), Options{Inputs: test.inputs}); err != nil {
				t.Fatal(err)
			}
		})
		if got > test.most {
			t.Errorf("%v allocations, want at most %v", got, test.most)
		}
	}
}

// generated returns the modules of a program.
func generated(tb testing.TB, p gen.Program) (inputs []Input) {
	for i := range p.Modules {
		var text bytes.Buffer
		if err := p.Write(&text, i); err != nil {
			tb.Fatal(err)
		}
		inputs = append(inputs, Input{Name: fmt.Sprintf("m%d.ptx", i), Text: text.Bytes()})
	}
	return inputs
}

// BenchmarkTiny links two modules of a few lines.
func BenchmarkTiny(b *testing.B) {
	inputs := tiny()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Link(context.Background(), Options{Inputs: inputs}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPass measures the passes of Link one by one, on 20 modules of nvcc's
// density. Before each run of a pass, the passes before it run without being counted.
func BenchmarkPass(b *testing.B) {
	o := Options{Inputs: generated(b, gen.Program{Modules: 20, Functions: 177, Externs: 216, Size: 550_000})}
	size := 0
	for _, in := range o.Inputs {
		size += len(in.Text)
	}
	var l passes
	all := []struct {
		name string
		run  func()
	}{
		{"load", func() {
			l = passes{log: &diag.Log{}, in: inputs{cubins: &resolve.Cubins{}}}
			l.err = l.in.load(context.Background(), o, nil, l.log)
		}},
		{"resolve", func() {
			l.table = resolve.Resolve(l.in.files, resolve.Options{}, l.log)
			l.in.set = nil
		}},
		{"check", func() { l.checked = check(context.Background(), l.table, object.Host{}, o, l.log) }},
		{"debug", func() {
			l.sections, l.err = program.NewDebugSections(context.Background(), l.table, program.Options{}, l.log)
		}},
		{"rename", func() { l.names = rename(l.table, l.sections, 1, l.log) }},
		{"merge", func() {
			l.debug, l.err = l.sections.Merge(context.Background(), l.names, program.Options{}, l.log)
		}},
		{"plan", func() {
			l.plan, l.err = program.New(context.Background(), l.table, l.names, l.checked.header, l.debug, program.Options{})
		}},
		{"emit", func() { l.plan.Text() }},
	}
	for i, pass := range all {
		b.Run(pass.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for _, before := range all[:i] {
					before.run()
				}
				b.StartTimer()
				pass.run()
				if l.err != nil || l.log.Errors() > 0 {
					b.Fatal(l.err, l.log.Messages)
				}
			}
		})
	}
}

// passes holds what the passes of Link hand on.
type passes struct {
	log      *diag.Log
	in       inputs
	table    *resolve.Table
	checked  checked
	sections *program.DebugSections
	debug    *program.Debug
	names    *resolve.Names
	plan     *program.Program
	err      error
}
