#include "h.h"
__device__ float middle(float x) { return inner(x) + inner(x + 1); }
__global__ void k(float *out, const float *in) { out[threadIdx.x] = outer(in[threadIdx.x]); }
