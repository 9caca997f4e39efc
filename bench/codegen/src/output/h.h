#pragma once
struct Acc { int n; float sum; };
__device__ void add(Acc *a, float x);
__device__ float mean(const Acc *a);
