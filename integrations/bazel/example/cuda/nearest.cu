#include "cuda/point.h"

extern "C" DEVICE float vec_length(float x, float y); // vec/vec.ptx

// nearest writes for each point whether it is within the radius.
extern "C" KERNEL void nearest(int *out, const Point *points, float radius) {
	out[LANE] = vec_length(points[LANE].x, points[LANE].y) < radius;
}

extern "C" KERNEL void distances(float *out, const Point *points) {
	out[LANE] = vec_length(points[LANE].x, points[LANE].y);
}
