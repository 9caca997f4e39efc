#include "shared.h"

// Every unit has its own counter and its own bump.
static __device__ int counter = 100;
static __device__ __noinline__ int bump(int by) { return atomicAdd(&counter, by) + by; }

// The same dynamic shared memory as math.cu's, there as doubles.
extern __shared__ float scratch[];

template __global__ void k_fill<3>(int *);

// One block; 16 doubles of dynamic shared memory; out has 16 elements.
extern "C" __global__ void k_main(int *out, int n)
{
	int t = threadIdx.x;
	if (t < 32)
		scratch[t] = 0;
	__syncthreads();
	if (t != 0)
		return;

	Quad q = {1, 2, 3, (float)n};
	Triple r = turn(Triple{n, 0.5f, 7});
	out[0] = (int)dot(scale_quad(q, 2), q);
	out[1] = r.a;
	out[2] = (int)(r.b * 100);
	out[3] = r.c;
	for (int i = 0; i < 4; i++)
		out[4 + i] = apply(i, 20 + n, 6);
	out[8] = bump(1);
	out[9] = (int)sum_shared(8);
	out[10] = heap_sum(n);
	out[11] = blend(n, 1);
	out[12] = (int)(blend(weights[1], 0.25f) * 100);
	out[13] = calls;
	out[14] = bump(1);
	out[15] = ops[2](9, n);
	log_int(15, out[15]);
	printf("main: n=%d counter=%d\n", n, counter);
}

#ifndef PTXLINK_NO_HOST
// For a build by nvcc alone, whose output is what a linked module must print:
// nvcc -rdc=true *.cu -o program. run.c runs a linked module.
int main()
{
	int *out;
	if (cudaMallocManaged(&out, 16 * sizeof *out) != cudaSuccess)
		return 1;
	k_main<<<1, 32, 16 * sizeof(double)>>>(out, 5);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	for (int i = 0; i < 16; i++)
		printf("%d\n", out[i]);
	return 0;
}
#endif
