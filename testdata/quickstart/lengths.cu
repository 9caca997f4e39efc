extern "C" __device__ float squared_length(const float *v, int n); // squared.c

// lengths writes the squared length of each row.
extern "C" __global__ void lengths(float *out, const float *rows, int columns) {
	out[threadIdx.x] = squared_length(rows + threadIdx.x * columns, columns);
}
