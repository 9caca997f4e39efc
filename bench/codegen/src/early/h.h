#pragma once
__device__ int find(const int *p, int n, int x);
