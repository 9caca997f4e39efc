#include "shared.h"

static __device__ int counter = 200;
static __device__ __noinline__ int bump(int by) { return atomicAdd(&counter, by) + by; }

extern __shared__ double scratch[];

__constant__ float weights[4] = {0.5f, 1.5f, 2.5f, 3.5f};

__device__ __noinline__ float dot(Quad a, Quad b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ __noinline__ double sum_shared(int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		scratch[i] = i * (double)weights[i & 3];
	for (int i = 0; i < n; i++)
		sum += scratch[i];
	printf("math: sum=%g counter=%d\n", sum, bump(2));
	return sum;
}

__device__ __noinline__ int add_op(int a, int b) { return a + b; }
__device__ __noinline__ int mul_op(int a, int b) { return blend(a * b, 0); }
