package ptxsim_test

import (
	"testing"

	"ptxlink/internal/ptxsim"
)

const benchmarkModule = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 0;
	mov.u32 %r3, 1;
loop:
	add.s32 %r3, %r3, %r1;
	mul.lo.s32 %r4, %r3, 5;
	xor.b32 %r3, %r4, %r2;
	shr.u32 %r5, %r3, 3;
	add.u32 %r3, %r3, %r5;
	add.s32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, 10000;
	@%p1 bra loop;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r3;
	ret;
}
`

// BenchmarkLaunch reports instructions per second, for one thread and for a warp.
func BenchmarkLaunch(b *testing.B) {
	for _, threads := range []int{1, 32} {
		b.Run(map[int]string{1: "thread", 32: "warp"}[threads], func(b *testing.B) {
			m := machine(b, ptxsim.Options{}, read(b, "bench.ptx", benchmarkModule))
			out := m.Alloc("out", make([]byte, 128), 4)
			b.ResetTimer()
			for range b.N {
				if err := m.Launch("k", ptxsim.Grid{Threads: [3]int{threads}}, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*threads*80000)/b.Elapsed().Seconds()/1e6, "Minstr/s")
		})
	}
}
