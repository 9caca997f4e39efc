#pragma once
__device__ int sorted(const int *p, int k);
__device__ int counted(const int *p, int k);
