#include "calls.h"
__device__ int tag(Tag, int a) { return a * 3; }
__device__ int chars(Chars c, int a) { return c.g * a; }
__device__ int small(Short s) { return s.a * 7; }
__device__ int spread(int a, Chars c, Short s, Tag, char d, bool e) { return a + c.b + s.a + d + e; }
__device__ float floats(Floats f, double d) { return f.y * d; }
__device__ long long pair(Pair p, int a, Pair q) { return p.a * a + q.b; }
__device__ float two(Two a, Two b) { return a.x * b.y; }
__device__ float four(Four f) { return f.x + f.w; }
__device__ float fours(float s, Four a, int n, Four b) { return s * a.z + n * b.w; }
__device__ double mixed(int a, Mixed m) { return a * m.a + m.c; }
__device__ float large(Large l) { return l.v[2].x + l.v[5].w; }
__device__ int wide(int a, Wide w, int b) { return a * w.v[7] + b; }
__device__ Tag make_tag(int) { return Tag(); }
__device__ Chars make_chars(int a) { Chars c = {char(a), 2, 3}; return c; }
__device__ Short make_small(int a) { Short s = {short(a)}; return s; }
__device__ Floats make_floats(int a) { Floats f = {1, float(a), 3}; return f; }
__device__ Pair make_pair(int a) { Pair p = {a, 2}; return p; }
__device__ Two make_two(int a) { Two t = {float(a), 2}; return t; }
__device__ Four make_four(int a, float b) { Four f = {float(a), b, 3, 4}; return f; }
__device__ Mixed make_mixed(int a) { Mixed m = {1.5 * a, a, 2}; return m; }
__device__ Large make_large(int a, int b) { Large l = {}; l.v[2].x = a; l.v[5].w = b; return l; }
__device__ Doubles make_doubles(int a, Doubles d) { d.v[8] = a; return d; }
__device__ Wide make_wide(int a) { Wide w = {}; w.v[7] = a; return w; }
__device__ Counted counted(int a) { return Counted(a); }
__device__ int scalars(bool a, char b, unsigned char c, short d, unsigned short e, int f, unsigned g, long h, unsigned long i, long long j, unsigned long long k, float l, double m, void *n, const float &o, Color p, int (*q)(int), decltype(nullptr)) {
  return a + b + c + d + e + f + g + h + i + j + k + l + m + (n != 0) + o + p + q(f);
}
__device__ int Object::method(int a) const { return n * a; }
__device__ int Object::function(int a) { return a + 1; }
__device__ Four Object::result(float x) { Four f = {x, float(n), 0, 1}; return f; }
__device__ int space::within(int a, Four *f) { return a * f->y; }
template __device__ float sum<float, int, float>(float, int, float);
