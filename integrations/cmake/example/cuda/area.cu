#include "shapes.h"
__device__ float area(Shape s) { return s.width * s.height; }
