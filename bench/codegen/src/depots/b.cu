#include "h.h"
__device__ int sorted(const int *p, int k) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = p[i];
  for (int i = 1; i < 64; i++) for (int j = i; j > 0 && a[j - 1] > a[j]; j--) { int t = a[j]; a[j] = a[j - 1]; a[j - 1] = t; }
  return a[k & 63];
}
__device__ int counted(const int *p, int k) {
  unsigned char n[256] = {0};
  for (int i = 0; i < 64; i++) n[p[i] & 255]++;
  return n[k & 255];
}
