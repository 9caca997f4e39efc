package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/link"
)

func TestWriteMap(t *testing.T) {
	m := NewMap()
	m.Output = MapOutput{"8.4", "sm_80", 64, 10}
	m.Inputs = []MapInput{
		{Module: link.Module{Name: "a.ptx", Version: "7.0", Target: "sm_52", AddressSize: 64, Producer: "nvcc 12.4", Bytes: 120}},
		{Module: link.Module{Name: "my lib/b.ptx", Version: "8.4", Target: "sm_80", AddressSize: 64, Bytes: 4096}},
		{Module: link.Module{Name: "c.bc", Bytes: 30}, Form: "LLVM bitcode", CompiledTo: "a.ptx"}, // which records no GPU
	}
	m.Symbols = []MapSymbol{
		{Name: "_Z3addii", Module: "a.ptx", Kind: "func", Linkage: "visible", Bytes: 70, Line: 5},
		{Name: "$str__1", Original: "$str", Module: "my lib/b.ptx", Kind: "object", Linkage: "local", Space: "global", Bytes: 16, Align: 1, Line: 9},
		{Name: "table", Module: "a.ptx", Kind: "object", Space: "const", Linkage: "weak", Bytes: 256, Align: 4, Line: 2},
		{Name: "vprintf", Kind: "func", Linkage: "extern"},
	}
	m.Dropped = []MapSymbol{{Name: "table", Module: "my lib/b.ptx", Kind: "object", Line: 3, Reason: "weak, and a.ptx came first"}}
	var b strings.Builder
	if err := m.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `Output: .version 8.4, .target sm_80, .address_size 64

Inputs
  bytes  version       target  bits  producer   module
  120    7.0           sm_52   64    nvcc 12.4  a.ptx
  4096   8.4           sm_80   64    -          my lib/b.ptx
  30     LLVM bitcode  -       -     -          c.bc

Symbols, the largest first (bytes of a body are bytes of text)
  kind    linkage  space   bytes  align  from            name
  object  weak     const   256    4      a.ptx:2         table
  func    visible  -       70     -      a.ptx:5         _Z3addii = add(int, int)
  object  local    global  16     1      my lib/b.ptx:9  $str__1
  func    extern   -       0      -      (undefined)     vprintf

Totals
  what     count  bytes
  .const   1      256
  .global  1      16
  func     1      70
  output          10

Renamed
  from            was   is
  my lib/b.ptx:9  $str  $str__1

Dropped
  from            kind    name   why
  my lib/b.ptx:3  object  table  weak, and a.ptx came first
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if err := m.WriteText(full{}); err == nil {
		t.Error("a full disk went unnoticed")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestUsageColumns checks that a number which is not known is not written as 0.
func TestUsageColumns(t *testing.T) {
	for _, test := range []struct {
		usage Usage
		want  string
	}{
		{Usage{Kernel: true, Stack: -1, Code: 128}, "? ? ? ? 0 0 128"},
		{Usage{Registers: 8, Code: 128, Spills: &Spills{}}, "8 - 0 0 - - 128"},
	} {
		if got := strings.Join(test.usage.Columns(), " "); got != test.want {
			t.Errorf("%+v: %q, want %q", test.usage, got, test.want)
		}
	}
}
