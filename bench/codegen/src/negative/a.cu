#include "h.h"
__global__ void k(long long *out, int n) { int i = threadIdx.x; out[i] = widen((signed char)(i - 200), (short)-i, -i * n); }
