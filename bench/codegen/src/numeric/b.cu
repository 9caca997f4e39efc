#include "h.h"
__device__ double force(double dx, double dy, double dz, double eps) { double r2 = dx*dx + dy*dy + dz*dz + eps; return 1.0 / (r2 * sqrt(r2)); }
__device__ double potential(double r2) { double s = 1.0 / (r2 + 0.01); s = s * s * s; return 4 * (s * s - s); }
