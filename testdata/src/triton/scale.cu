__device__ float factor = 2.5f;

extern "C" __device__ float scale(float x) {
    return x * factor;
}
