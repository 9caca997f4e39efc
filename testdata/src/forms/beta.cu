#include "common.h"

static __device__ NOINLINE int twist(int x) { return x * 5 - 1; }

__device__ int step(int x) { return x + 2; }

__device__ int beta(int x) { return twist(x) + total; }
