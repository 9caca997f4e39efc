package link

import (
	"errors"
	"ptxlink/object/diag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteMap(t *testing.T) {
	symbols := []Symbol{
		{Name: "_Z3addii", Original: "_Z3addii", Module: "a.ptx", Kind: "func", Linkage: "visible", Size: 70, place: onLine(5)},
		{Name: "$str__1", Original: "$str", Module: "my lib/b.ptx", Kind: "object", Space: "global", Size: 16, Align: 1, place: onLine(9)},
		{Name: "table", Original: "table", Module: "a.ptx", Kind: "object", Space: "const", Linkage: "weak", Size: 256, Align: 4, place: onLine(2)},
		{Name: "vprintf", Original: "vprintf", Kind: "func", Linkage: "extern"},
	}
	dropped := []Symbol{{Name: "table", Original: "table", Module: "my lib/b.ptx", Kind: "object", place: onLine(3), Reason: "weak, and a.ptx came first"}}
	r := &Result{
		PTX: []byte("0123456789"), Version: "8.4", Target: "sm_80", AddressSize: 64,
		Modules: []Module{
			{Name: "a.ptx", Version: "7.0", Target: "sm_52", AddressSize: 64, Producer: "nvcc 12.4", Bytes: 120},
			{Name: "my lib/b.ptx", Version: "8.4", Target: "sm_80", AddressSize: 64, Bytes: 4096},
		},
		Units:     []Unit{{Name: "c.bc", Form: "LLVM bitcode", Bytes: 30, Module: "a.ptx"}}, // which records no GPU
		describer: func() description { return description{symbols: symbols, dropped: dropped} },
	}
	var b strings.Builder
	if err := r.WriteMap(&b); err != nil {
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
	if err := r.WriteMap(full{}); err == nil {
		t.Error("a full disk went unnoticed")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// onLine returns a place on the given line of some text.
func onLine(n int) diag.Place {
	src := &diag.Source{Text: []byte(strings.Repeat("x\n", n))}
	return diag.At(src, src.LineSpan(n))
}

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
