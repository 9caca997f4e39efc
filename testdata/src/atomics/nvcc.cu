// Atomic operations as CUDA's own functions, as libraries write them in inline
// assembly, one instruction a statement, and as whole mappings in one statement.
extern "C" __device__ int counter;
extern "C" __device__ unsigned long long ticket;
extern "C" __device__ int clang_enter(int *lock);
extern "C" __device__ void clang_leave(int *lock);
__device__ int counter = 0;
__device__ unsigned long long ticket = 0;

// The classic: the last block of a grid sums up.
extern "C" __global__ void last_block(const float *in, float *out, unsigned *done)
{
	__shared__ bool last;
	out[blockIdx.x] = in[threadIdx.x];
	__threadfence();
	if (threadIdx.x == 0)
		last = atomicInc(done, gridDim.x) == gridDim.x - 1;
	__syncthreads();
	if (last) {
		*done = 0;
		__threadfence_system();
		atomicAdd(out, 2.f);
	}
}

#if __CUDA_ARCH__ >= 600
#define FUNCTIONS(scope) \
	extern "C" __device__ int functions##scope(int *p, int v) \
	{ \
		int r = atomicAdd##scope(p, v) + atomicExch##scope(p, v) + atomicCAS##scope(p, v, 2); \
		__threadfence_block(); \
		return r + atomicMax##scope(p, v); \
	}
FUNCTIONS() FUNCTIONS(_block) FUNCTIONS(_system)
#endif

extern "C" __device__ void publish(volatile int *flag, int *data)
{
	while (*flag == 0)
		;
	__threadfence();
	*data = 1;
	__threadfence();
	*flag = 2;
	__threadfence_system();
	atomicExch(data, 3);
	asm volatile("membar.sys; st.volatile.u32 [%0], 1;" ::"l"(flag) : "memory");
}

// The other module is C, where every scope is the system.
extern "C" __global__ void both(int *lock)
{
	if (clang_enter(lock))
		atomicAdd_system(&counter, 1);
	clang_leave(lock);
	atomicAdd(&ticket, 2ull);
}

#if __CUDA_ARCH__ >= 700
#define FENCE(order, scope) asm volatile("fence." #order "." #scope ";" ::: "memory")
#define LOAD(order, scope) asm volatile("ld." #order "." #scope ".b32 %0, [%1];" : "=r"(r) : "l"(p) : "memory"); sum += r
#define STORE(order, scope) asm volatile("st." #order "." #scope ".b32 [%0], %1;" ::"l"(p), "r"(sum) : "memory")
#define ADD(order, scope) asm volatile("atom.add." #order "." #scope ".s32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(sum) : "memory"); sum += r

// Every order at one scope, side by side with another scope.
#define ALL(scope, other) \
	extern "C" __device__ int all_##scope(int *p, int sum) \
	{ \
		int r; \
		LOAD(relaxed, scope); LOAD(acquire, scope); FENCE(sc, scope); LOAD(acquire, scope); \
		FENCE(sc, scope); LOAD(relaxed, scope); FENCE(acq_rel, scope); \
		STORE(relaxed, other); STORE(release, other); FENCE(sc, other); STORE(relaxed, other); \
		FENCE(acq_rel, scope); STORE(relaxed, scope); ADD(relaxed, other); ADD(acquire, scope); \
		ADD(release, scope); ADD(acq_rel, scope); FENCE(sc, scope); ADD(acquire, scope); \
		FENCE(acq_rel, scope); ADD(acquire, scope); LOAD(relaxed, other); \
		FENCE(acq_rel, scope); ADD(relaxed, scope); FENCE(acq_rel, scope); \
		LOAD(relaxed, other); FENCE(sc, scope); STORE(relaxed, scope); \
		STORE(relaxed, scope); FENCE(sc, scope); LOAD(relaxed, scope); \
		return sum; \
	} \
	extern "C" __device__ int whole_##scope(int *p, int v) \
	{ \
		int r; \
		asm volatile("{ fence.sc." #scope "; ld.acquire." #scope ".b32 %0, [%1]; }" : "=r"(r) : "l"(p) : "memory"); \
		asm volatile("fence.sc." #scope "; st.relaxed." #scope ".b32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); \
		asm volatile("fence.acq_rel." #scope "; red.relaxed." #scope ".add.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); \
		asm volatile("ld.relaxed." #scope ".b32 %0, [%1]; fence.acq_rel." #scope ";" : "=r"(r) : "l"(p) : "memory"); \
		return r; \
	}
ALL(cta, gpu) ALL(gpu, sys) ALL(sys, cta)
#endif
