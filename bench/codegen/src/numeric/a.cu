#include "h.h"
__global__ void k(double *out, const double *x, int n) {
  double f = 0, e = 0, px = x[3 * threadIdx.x], py = x[3 * threadIdx.x + 1], pz = x[3 * threadIdx.x + 2];
  for (int i = 0; i < n; i++) {
    double dx = x[3 * i] - px, dy = x[3 * i + 1] - py, dz = x[3 * i + 2] - pz;
    f += force(dx, dy, dz, 1e-9);
    e += potential(dx * dx + dy * dy + dz * dz);
  }
  out[threadIdx.x] = f + e;
}
