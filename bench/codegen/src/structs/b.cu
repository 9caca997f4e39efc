#include "h.h"
__device__ V cross(V a, V b) { V r = {a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x, 0}; return r; }
__device__ float dot(V a, V b) { return a.x*b.x + a.y*b.y + a.z*b.z + a.w*b.w; }
