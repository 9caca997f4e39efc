#pragma once
__device__ int apply(int op, int a, int b);
