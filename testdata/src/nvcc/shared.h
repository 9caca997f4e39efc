// What the five units of the program share. Each construct is here because a
// linker has to do something for it; the comment says what.
#pragma once
#include <cstdio>
#include <cassert>

// Aggregates by value: a .param array whose alignment is part of the ABI.
struct alignas(16) Quad { float x, y, z, w; };
struct Triple { int a; float b; int c; }; // 12 bytes, aligned to 4

typedef int (*Op)(int, int);

// Weak in every unit that instantiates it.
template <typename T> __device__ __noinline__ T blend(T a, T b) { return a + a + b; }
template <int N> __global__ void k_fill(int *out) { out[threadIdx.x] = blend(N, (int)threadIdx.x); }

// math.cu
extern __constant__ float weights[4];
__device__ float dot(Quad a, Quad b);
__device__ double sum_shared(int n);
__device__ int add_op(int a, int b);
__device__ int mul_op(int a, int b);

// shapes.cu
__device__ Quad scale_quad(Quad q, float by);
__device__ Triple turn(Triple t);
__device__ int sub_op(int a, int b);

// table.cu
extern __device__ Op ops[4];
extern __managed__ int calls;
__device__ int apply(int which, int a, int b);

// log.cu
__device__ void log_int(int where, int value);
__device__ int heap_sum(int n);
