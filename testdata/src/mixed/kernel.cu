// nvcc's part: the kernel, and what the two other compilers call.
struct Vec { float x, y; int n; };

extern "C" __device__ float clang_length2(Vec v);        // clang.c
extern "C" __device__ float gcc_scale(float x, unsigned n); // gcc.c
extern "C" __device__ int gcc_sum(const int *p, int n);

extern "C" __device__ __noinline__ unsigned nvcc_offset(unsigned n) { return n * 3 + 1; }
extern "C" __device__ int nvcc_bias = 11;

extern "C" __global__ void k_main(int *out, int n)
{
	if (threadIdx.x != 0)
		return;
	for (int i = 0; i < 8; i++)
		out[i] = i * n;
	int sum = gcc_sum(out, 8);
	Vec v = {2, 3, n};
	out[0] = (int)clang_length2(v);
	out[1] = (int)gcc_scale(1.5f, n);
	out[2] = sum;
	out[3] = nvcc_bias;
}
