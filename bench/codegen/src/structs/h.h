#pragma once
struct V { float x, y, z, w; };
__device__ V cross(V a, V b);
__device__ float dot(V a, V b);
