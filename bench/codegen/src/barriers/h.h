#pragma once
__device__ int stage(int *s, int x);
