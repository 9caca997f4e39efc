#include "h.h"
__device__ void add(Acc *a, float x) { a->n++; a->sum += x; }
__device__ float mean(const Acc *a) { return a->n ? a->sum / a->n : 0; }
