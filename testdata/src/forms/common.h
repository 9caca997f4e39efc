// What the four units share. clang compiles them without CUDA's headers.
#ifndef __CUDACC_VER_MAJOR__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct dim3 { unsigned x, y, z; };
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
#endif
#define NOINLINE __attribute__((noinline))

extern __device__ int total; // defined in alpha.cu

extern __device__ int alpha(int);
extern __device__ int beta(int);
extern __device__ int gamma_of(int);
extern __device__ int step(int); // in beta.cu

// Weak in every unit that calls it.
inline __device__ NOINLINE int clamp(int x) { return x < 0 ? 0 : x > 255 ? 255 : x; }
