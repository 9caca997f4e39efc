#include "h.h"
__device__ long long widen(signed char a, short b, int c) { return (long long)a * b + (c >> 3) - (a < 0 ? 7 : 9); }
