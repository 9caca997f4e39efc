#include "h.h"
__device__ int apply(int op, int a, int b) {
  switch (op) { case 0: return a + b; case 1: return a - b; case 2: return a * b; case 3: return a ^ b; case 4: return a << (b & 31); case 5: return a & b; case 6: return a | b; case 7: return min(a, b); default: return max(a, b); }
}
