#pragma once
__device__ long long widen(signed char a, short b, int c);
