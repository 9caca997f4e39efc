#include "shapes.h"
extern "C" __global__ void areas(const Shape *shapes, float *result) {
	result[threadIdx.x] = SCALE * area(shapes[threadIdx.x]);
}
