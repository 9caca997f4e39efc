#include "shared.h"

static __device__ int counter = 300;
static __device__ __noinline__ int bump(int by) { return atomicAdd(&counter, by) + by; }

__device__ __noinline__ Quad scale_quad(Quad q, float by)
{
	return Quad{q.x * by, q.y * by, q.z * by, blend(q.w, by)};
}

__device__ __noinline__ Triple turn(Triple t)
{
	assert(t.a >= 0);
	return Triple{t.c, t.b + weights[2], t.a + bump(3)};
}

__device__ __noinline__ int sub_op(int a, int b) { return a - b; }
