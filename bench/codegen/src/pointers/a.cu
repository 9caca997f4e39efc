#include "h.h"
__device__ F table[2] = {one, two};
__global__ void k(int *out, const int *in) { int i = threadIdx.x; F f = one; out[i] = f(in[i]) + table[in[i] & 1](i); }
