__global__ void child(int *out) { *out = 1; }

extern "C" __global__ void parent(int *out) { child<<<1, 1>>>(out); }
