#include "h.h"
__global__ void k(float *out, const float *in, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s = leaf(s, in[i]);
  out[threadIdx.x] = s;
}
