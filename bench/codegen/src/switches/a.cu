#include "h.h"
__global__ void k(int *out, const int *ops, int n) { int x = threadIdx.x; for (int i = 0; i < n; i++) x = apply(ops[i], x, i); out[threadIdx.x] = x; }
