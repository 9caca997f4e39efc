#pragma once

struct Point {
	float x, y;
};

#ifdef __NVCC__
#define DEVICE __device__
#define KERNEL __global__
#define LANE threadIdx.x
#else // clang, without the headers of a CUDA toolkit
#define DEVICE __attribute__((device))
#define KERNEL __attribute__((global))
#define LANE __nvvm_read_ptx_sreg_tid_x()
#endif
