struct Shape { float width, height, depth; };
__device__ float area(Shape s);
__device__ float volume(Shape s);
