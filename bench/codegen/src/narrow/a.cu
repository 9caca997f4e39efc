#include "h.h"
__global__ void k(int *out, const int *in) { int i = threadIdx.x; out[i] = mix((short)in[i], (unsigned char)in[i + 1], in[i + 2] & 1); }
