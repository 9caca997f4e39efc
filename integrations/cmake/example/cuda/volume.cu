#include "shapes.h"
__device__ float volume(Shape s) { return s.width * s.height * s.depth; }
