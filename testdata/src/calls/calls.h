// What callee.cu defines and caller.cu calls: each way to pass a value that
// compilers have treated differently. No header of CUDA is needed, so that clang
// and NVRTC compile it as nvcc does.
#ifndef __CUDACC__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __noinline__ __attribute__((noinline))
#elif defined(__clang__)
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __noinline__ __attribute__((noinline))
#endif

struct Tag {};
struct Chars { char r, g, b; };
struct Short { short a; };
struct Floats { float x, y, z; };
struct Pair { long long a; int b; };
struct alignas(8) Two { float x, y; };
struct alignas(16) Four { float x, y, z, w; };
struct alignas(16) Mixed { double a; int b; char c; };
struct alignas(16) Large { Four v[6]; };
struct Doubles { double v[9]; };
struct alignas(32) Wide { int v[8]; };
enum Color : unsigned char { red, green };
struct Counted { // returned by address; clang passes it by value, nvcc by address
  int n;
  __device__ Counted(int n) : n(n) {}
  __device__ Counted(const Counted &c) : n(c.n + 1) {}
  __device__ ~Counted() {}
};

__device__ int tag(Tag, int);
__device__ int chars(Chars, int);
__device__ int small(Short);
__device__ int spread(int, Chars, Short, Tag, char, bool);
__device__ float floats(Floats, double);
__device__ long long pair(Pair, int, Pair);
__device__ float two(Two, Two);
__device__ float four(Four);
__device__ float fours(float, Four, int, Four);
__device__ double mixed(int, Mixed);
__device__ float large(Large);
__device__ int wide(int, Wide, int);
__device__ Tag make_tag(int);
__device__ Chars make_chars(int);
__device__ Short make_small(int);
__device__ Floats make_floats(int);
__device__ Pair make_pair(int);
__device__ Two make_two(int);
__device__ Four make_four(int, float);
__device__ Mixed make_mixed(int);
__device__ Large make_large(int, int);
__device__ Doubles make_doubles(int, Doubles);
__device__ Wide make_wide(int);
__device__ Counted counted(int);
__device__ int scalars(bool, char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, float, double, void *, const float &, Color, int (*)(int), decltype(nullptr));
struct Object {
  int n;
  __device__ int method(int) const;
  __device__ static int function(int);
  __device__ Four result(float);
};
namespace space { __device__ int within(int, Four *); }
template <class T, class... A> __device__ __noinline__ T sum(T a, A... rest) { return (a + ... + rest); }
extern template __device__ float sum<float, int, float>(float, int, float);
