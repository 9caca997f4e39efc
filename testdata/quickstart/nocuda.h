#pragma once

// What .cu files use, for clang without a CUDA toolkit: -nocudainc -include nocuda.h.
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __align__(n) __attribute__((aligned(n)))

#include <__clang_cuda_builtin_vars.h> // threadIdx, blockIdx, blockDim, gridDim, warpSize
