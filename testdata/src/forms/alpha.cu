#include "common.h"

__device__ int total = 7;

static __device__ NOINLINE int twist(int x) { return x * 3 + 1; }

__device__ int alpha(int x) { return twist(clamp(x)) + ++total; }
