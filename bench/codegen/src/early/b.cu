#include "h.h"
__device__ int find(const int *p, int n, int x) {
  if (n <= 0) return -1;
  for (int i = 0; i < n; i++) {
    if (p[i] == x) return i;
    if (p[i] < 0) return -2;
  }
  return n;
}
