#pragma once

// VECTORS lets one instruction load a shape. All units must agree on it.
#ifdef VECTORS
struct __align__(16) Shape {
#else
struct Shape {
#endif
	float width, height, x, y;
};

__device__ float area(float scale, Shape shape);
