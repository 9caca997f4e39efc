#include "shared.h"

static __device__ int counter = 500;
static __device__ __noinline__ int bump(int by) { return atomicAdd(&counter, by) + by; }

template __global__ void k_fill<3>(int *);

__device__ __noinline__ void log_int(int where, int value)
{
	printf("log %d: out[%d]=%d\n", bump(5), where, value);
}

__device__ __noinline__ int heap_sum(int n)
{
	int *p = (int *)malloc(n * sizeof *p), sum = 0;
	assert(p);
	for (int i = 0; i < n; i++)
		p[i] = blend(i, 1);
	for (int i = 0; i < n; i++)
		sum += p[i];
	free(p);
	return sum;
}
