// What the generated programs use: for the host (HOST), clang and nvrtc.
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#ifdef HOST
#define DEVICE
#define FUNCTION __attribute__((noinline))
#define KERNEL
#define GLOBAL
#define CONSTANT
#define SHARED(t, name, n) static t name[n]
struct dim3_ { u32 x, y, z; };
extern dim3_ threadIdx, blockIdx, blockDim;
extern u32 dynamic[128];
void __syncthreads();
int __syncthreads_or(int p);
u32 exchange(u32 v, u32 with);
u32 ballot(bool p);
template <class T, class U> void atomicAdd(T *p, U v) { *p += v; }
static void atomicMax(u32 *p, u32 v) { *p = *p > v ? *p : v; }
static void atomicMin(u32 *p, u32 v) { *p = *p < v ? *p : v; }
static void atomicXor(u32 *p, u32 v) { *p ^= v; }
static void atomicOr(u32 *p, u32 v) { *p |= v; }
static void atomicAnd(u32 *p, u32 v) { *p &= v; }
#else
#ifdef __clang__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define threadIdx (index_{(u32)__nvvm_read_ptx_sreg_tid_x()})
#define blockIdx (index_{(u32)__nvvm_read_ptx_sreg_ctaid_x()})
#define blockDim (index_{(u32)__nvvm_read_ptx_sreg_ntid_x()})
struct index_ { u32 x; };
__device__ inline int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
__device__ inline u32 __shfl_sync(u32 m, u32 v, int lane) { return __nvvm_shfl_sync_idx_i32(m, v, lane, 31); }
__device__ inline u32 __ballot_sync(u32 m, int p) { return __nvvm_vote_ballot_sync(m, p); }
template <class T, class U> __device__ void atomicAdd(T *p, U v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
__device__ inline void atomicMax(u32 *p, u32 v) { __nvvm_atom_max_gen_ui(p, v); }
__device__ inline void atomicMin(u32 *p, u32 v) { __nvvm_atom_min_gen_ui(p, v); }
__device__ inline void atomicXor(u32 *p, u32 v) { __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }
__device__ inline void atomicOr(u32 *p, u32 v) { __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
__device__ inline void atomicAnd(u32 *p, u32 v) { __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }
#endif
#define DEVICE __device__
#define FUNCTION __device__ __noinline__
#define KERNEL __global__
#define GLOBAL __device__
#define CONSTANT __constant__
#define SHARED(t, name, n) __shared__ t name[n]
extern __shared__ u32 dynamic[];

// The lanes that a partial warp has.
DEVICE inline u32 lanes()
{
	u32 left = blockDim.x - (threadIdx.x & ~31u);
	return left >= 32 ? ~0u : (1u << left) - 1;
}
DEVICE inline u32 exchange(u32 v, u32 with)
{
	u32 lane = threadIdx.x & 31, from = lane ^ with;
	return __shfl_sync(lanes(), v, lanes() >> from & 1 ? from : lane);
}
#if defined __NVCC__ && !defined __CUDACC_RTC__
#define ballot ballot_ // CUDA has one for old GPUs
#endif
DEVICE inline u32 ballot(bool p) { return __ballot_sync(lanes(), p); }
#endif
#define EXTERN extern

// Arithmetic that wraps and is defined for all operands.
template <class T> struct wide_ { typedef u32 type; };
template <> struct wide_<i64> { typedef u64 type; };
template <> struct wide_<u64> { typedef u64 type; };
#define WRAPPING(name, op) template <class T> DEVICE inline T name(T a, T b) { typedef typename wide_<T>::type W; return (T)((W)a op (W)b); }
WRAPPING(add, +)
WRAPPING(sub, -)
WRAPPING(mul, *)
WRAPPING(band, &)
WRAPPING(bor, |)
WRAPPING(bxor, ^)
template <class T> DEVICE inline T shl(T a, T b) { typedef typename wide_<T>::type W; return (T)((W)a << ((W)b & (8 * sizeof(T) - 1))); }
template <class T> DEVICE inline T shr(T a, T b) { typedef typename wide_<T>::type W; return (T)(a >> ((W)b & (8 * sizeof(T) - 1))); }
template <class T> DEVICE inline T quotient(T a, T b) { return b == 0 ? (T)1 : b == (T)-1 ? sub<T>(0, a) : (T)(a / b); }
template <class T> DEVICE inline T remainder(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a % b); }
template <class T> DEVICE inline T minimum(T a, T b) { return a < b ? a : b; }
template <class T> DEVICE inline T maximum(T a, T b) { return a > b ? a : b; }

// A float as an integer: rounded to zero within limits, else 0.
DEVICE inline i64 integer(f64 x) { return x > -1e15 && x < 1e15 ? (i64)x : 0; }
DEVICE inline i64 integer(f32 x) { return x > -1e8f && x < 1e8f ? (i32)x : 7; }

template <class T> DEVICE inline void put(u8 *out, int at, T v) { *(T *)(out + at) = v; }
template <> DEVICE inline void put<f32>(u8 *out, int at, f32 v)
{
	union { f32 f; u32 u; } b = {v};
	*(u32 *)(out + at) = v != v ? 0x7fffffff : b.u;
}
template <> DEVICE inline void put<f64>(u8 *out, int at, f64 v)
{
	union { f64 f; u64 u; } b = {v};
	*(u64 *)(out + at) = v != v ? 0x7ff8000000000000ull : b.u;
}

#if defined HOST || defined __clang__
#define BUILTIN(x) __builtin_##x
#else
#define BUILTIN(x) x
#endif
DEVICE inline f32 fma_(f32 a, f32 b, f32 c) { return BUILTIN(fmaf)(a, b, c); }
DEVICE inline f64 fma_(f64 a, f64 b, f64 c) { return BUILTIN(fma)(a, b, c); }
DEVICE inline f32 floor_(f32 a) { return BUILTIN(floorf)(a); }
DEVICE inline f64 floor_(f64 a) { return BUILTIN(floor)(a); }
DEVICE inline f32 ceil_(f32 a) { return BUILTIN(ceilf)(a); }
DEVICE inline f64 ceil_(f64 a) { return BUILTIN(ceil)(a); }
DEVICE inline f32 trunc_(f32 a) { return BUILTIN(truncf)(a); }
DEVICE inline f64 trunc_(f64 a) { return BUILTIN(trunc)(a); }
DEVICE inline f32 rint_(f32 a) { return BUILTIN(rintf)(a); }
DEVICE inline f64 rint_(f64 a) { return BUILTIN(rint)(a); }
DEVICE inline f32 abs_(f32 a) { return BUILTIN(fabsf)(a); }
DEVICE inline f64 abs_(f64 a) { return BUILTIN(fabs)(a); }

#ifdef HOST
static inline f32 sqrt_(f32 a) { return __builtin_sqrtf(a); }
static inline f64 sqrt_(f64 a) { return __builtin_sqrt(a); }
#include <fenv.h>
#define ROUNDED(name, mode) \
	template <class T> __attribute__((noinline)) T add_##name(T a, T b) { fesetround(mode); volatile T x = a, y = b, v = x + y; fesetround(FE_TONEAREST); return v; } \
	template <class T> __attribute__((noinline)) T mul_##name(T a, T b) { fesetround(mode); volatile T x = a, y = b, v = x * y; fesetround(FE_TONEAREST); return v; } \
	template <class T> __attribute__((noinline)) T div_##name(T a, T b) { fesetround(mode); volatile T x = a, y = b, v = x / y; fesetround(FE_TONEAREST); return v; } \
	template <class T> __attribute__((noinline)) T fma_##name(T a, T b, T c) { fesetround(mode); volatile T x = a, y = b, z = c, v = fma_(x, y, z); fesetround(FE_TONEAREST); return v; } \
	template <class T> __attribute__((noinline)) T sqrt_##name(T a) { fesetround(mode); volatile T x = a, v = sqrt_(x); fesetround(FE_TONEAREST); return v; }
ROUNDED(rz, FE_TOWARDZERO)
ROUNDED(ru, FE_UPWARD)
ROUNDED(rd, FE_DOWNWARD)
#elif defined __clang__
__device__ inline f32 sqrt_(f32 a) { return __nvvm_sqrt_rn_f(a); }
__device__ inline f64 sqrt_(f64 a) { return __nvvm_sqrt_rn_d(a); }
#define ROUNDED1(name, mode, t, s) \
	__device__ inline t add_##name(t a, t b) { return __nvvm_add_##mode##_##s(a, b); } \
	__device__ inline t mul_##name(t a, t b) { return __nvvm_mul_##mode##_##s(a, b); } \
	__device__ inline t div_##name(t a, t b) { return __nvvm_div_##mode##_##s(a, b); } \
	__device__ inline t fma_##name(t a, t b, t c) { return __nvvm_fma_##mode##_##s(a, b, c); } \
	__device__ inline t sqrt_##name(t a) { return __nvvm_sqrt_##mode##_##s(a); }
#define ROUNDED(name, mode) ROUNDED1(name, mode, f32, f) ROUNDED1(name, mode, f64, d)
ROUNDED(rz, rz)
ROUNDED(ru, rp)
ROUNDED(rd, rm)
#else
__device__ inline f32 sqrt_(f32 a) { return __fsqrt_rn(a); }
__device__ inline f64 sqrt_(f64 a) { return __dsqrt_rn(a); }
#define ROUNDED1(name, t, s) \
	__device__ inline t add_##name(t a, t b) { return __##s##add_##name(a, b); } \
	__device__ inline t mul_##name(t a, t b) { return __##s##mul_##name(a, b); } \
	__device__ inline t div_##name(t a, t b) { return __##s##div_##name(a, b); } \
	__device__ inline t sqrt_##name(t a) { return __##s##sqrt_##name(a); }
#define ROUNDED(name) ROUNDED1(name, f32, f) ROUNDED1(name, f64, d) \
	__device__ inline f32 fma_##name(f32 a, f32 b, f32 c) { return __fmaf_##name(a, b, c); } \
	__device__ inline f64 fma_##name(f64 a, f64 b, f64 c) { return __fma_##name(a, b, c); }
ROUNDED(rz)
ROUNDED(ru)
ROUNDED(rd)
#endif

#ifdef HOST
static inline int popc(u32 a) { return __builtin_popcount(a); }
static inline int popcll(u64 a) { return __builtin_popcountll(a); }
static inline int clz(u32 a) { return a ? __builtin_clz(a) : 32; }
static inline int clzll(u64 a) { return a ? __builtin_clzll(a) : 64; }
static inline int ffs(u32 a) { return __builtin_ffs(a); }
static inline u64 brevll(u64 a)
{
	u64 v = 0;
	for (int i = 0; i < 64; i++)
		v |= (a >> i & 1) << (63 - i);
	return v;
}
static inline u32 brev(u32 a) { return brevll(a) >> 32; }
static inline u32 umulhi(u32 a, u32 b) { return (u64)a * b >> 32; }
static inline u64 mulhi64(u64 a, u64 b) { return (unsigned __int128)a * b >> 64; }
static inline u32 permute(u32 a, u32 b, u32 c)
{
	u64 both = (u64)b << 32 | a;
	u32 v = 0;
	for (int i = 0; i < 4; i++)
		v |= (u32)(both >> (8 * (c >> (4 * i) & 7)) & 0xff) << (8 * i);
	return v;
}
static inline u32 funnel(u32 a, u32 b, u32 c) { return ((u64)b << 32 | a) << (c & 31) >> 32; }
#elif defined __clang__
__device__ inline int popc(u32 a) { return __builtin_popcount(a); }
__device__ inline int popcll(u64 a) { return __builtin_popcountll(a); }
__device__ inline int clz(u32 a) { return a ? __builtin_clz(a) : 32; }
__device__ inline int clzll(u64 a) { return a ? __builtin_clzll(a) : 64; }
__device__ inline int ffs(u32 a) { return __builtin_ffs(a); }
__device__ inline u32 brev(u32 a) { return __builtin_bitreverse32(a); }
__device__ inline u64 brevll(u64 a) { return __builtin_bitreverse64(a); }
__device__ inline u32 umulhi(u32 a, u32 b) { return __nvvm_mulhi_ui(a, b); }
__device__ inline u64 mulhi64(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }
__device__ inline u32 permute(u32 a, u32 b, u32 c) { return __nvvm_prmt(a, b, c & 0x7777); }
__device__ inline u32 funnel(u32 a, u32 b, u32 c) { u32 v; asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(c)); return v; }
#else
__device__ inline int popc(u32 a) { return __popc(a); }
__device__ inline int popcll(u64 a) { return __popcll(a); }
__device__ inline int clz(u32 a) { return __clz(a); }
__device__ inline int clzll(u64 a) { return __clzll(a); }
__device__ inline int ffs_(u32 a) { return __ffs(a); }
#define ffs ffs_
__device__ inline u32 brev(u32 a) { return __brev(a); }
__device__ inline u64 brevll(u64 a) { return __brevll(a); }
__device__ inline u32 umulhi(u32 a, u32 b) { return __umulhi(a, b); }
__device__ inline u64 mulhi64(u64 a, u64 b) { return __umul64hi(a, b); }
__device__ inline u32 permute(u32 a, u32 b, u32 c) { return __byte_perm(a, b, c); }
__device__ inline u32 funnel(u32 a, u32 b, u32 c) { return __funnelshift_l(a, b, c); }
#endif
