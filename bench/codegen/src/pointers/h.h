#pragma once
typedef int (*F)(int);
__device__ int one(int x);
__device__ int two(int x);
