#include "h.h"
__global__ void k(double *out, const float *in) { int i = threadIdx.x; out[i] = power<float, 5>(in[i]) + power<double, 3>(in[i]) + other(in[i]); }
