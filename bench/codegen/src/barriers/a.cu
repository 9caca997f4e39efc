#include "h.h"
__global__ void k(int *out, const int *in, int n) {
  extern __shared__ int s[];
  int x = in[threadIdx.x];
  for (int i = 0; i < n; i++) if (x & 1) x = x * 3 + 1; else x = x / 2;
  x = stage(s, x);
  x += stage(s, x + 1);
  out[threadIdx.x] = x;
}
