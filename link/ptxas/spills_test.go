package ptxas

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadSpills reads what ptxas 12.4 and 13.5 say with -v.
func TestReadSpills(t *testing.T) {
	const said = `ptxas info    : Overriding maximum register limit 256 for 'k' with  32 of maxrregcount option
ptxas info    : 0 bytes gmem, 20 bytes cmem[4]
ptxas linked.ptx, line 7; warning : something
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    192 bytes stack frame, 192 bytes spill stores, 100 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 192 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compile time = 17.529 ms
ptxas info    : Function properties for g
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for g
    8 bytes stack frame, 8 bytes spill stores, 0 bytes spill loads
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
`
	rest, list := readSpills(said)
	const wantRest = `ptxas linked.ptx, line 7; warning : something
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
`
	if diff := cmp.Diff(wantRest, rest); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]Spills{"k": {Stores: 192, Loads: 100}, "g": {Stores: 8, Loads: 12}}, list); diff != "" {
		t.Error(diff)
	}
}
