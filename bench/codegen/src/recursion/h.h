#pragma once
__device__ unsigned fib(unsigned n);
__device__ unsigned twice(unsigned n);
