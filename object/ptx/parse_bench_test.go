package ptx

import (
	"bytes"
	"testing"

	"ptxlink/bench/gen"
	"ptxlink/object/diag"
)

// BenchmarkParse parses one module with the density of symbols of nvcc's output, and
// one of small functions.
func BenchmarkParse(b *testing.B) {
	for _, bench := range []struct {
		name    string
		program gen.Program
	}{
		{"large", gen.Program{Modules: 100, Functions: 177, Externs: 216, Size: 550_000}},
		{"small", gen.Program{Modules: 100, Functions: 1450, Externs: 700}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var text bytes.Buffer
			if err := bench.program.Write(&text, 0); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(&diag.Source{Name: "m.ptx", Text: text.Bytes()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
