#include "calls.h"
__device__ __noinline__ int twice(int a) { return 2 * a; }
__global__ void kernel(int *o, float *f, Tag t, Chars c, Four v, Mixed m, Large l, Wide w) {
  int i = o[0];
  Short s = {short(i)};
  o[1] = tag(t, i) + chars(c, i) + small(s) + spread(i, c, s, t, 'x', true);
  Floats fl = {f[0], f[1], f[2]};
  f[3] = floats(fl, f[4]);
  Pair p = {i, i};
  o[2] = pair(p, i, p);
  Two u = {f[0], f[1]};
  f[5] = two(u, u) + four(v) + fours(f[0], v, i, v) + mixed(i, m) + large(l);
  o[3] = wide(i, w, i);
  make_tag(i);
  f[6] = make_chars(i).g + make_small(i).a + make_floats(i).y + make_pair(i).a + make_two(i).x;
  f[7] = make_four(i, f[0]).y + make_mixed(i).c + make_large(i, 2).v[5].w + make_wide(i).v[7];
  Doubles d = {};
  f[8] = make_doubles(i, d).v[8];
  o[4] = counted(i).n;
  o[5] = scalars(i, i, i, i, i, i, i, i, i, i, i, f[0], f[1], o, f[2], green, twice, nullptr);
  Object b = {i};
  o[6] = b.method(i) + Object::function(i) + space::within(i, &v);
  f[9] = b.result(f[0]).y + sum<float, int, float>(f[0], i, f[1]);
}
template <class T, class... A> __global__ void pack(T *o, int n, A... a) { o[n] = (T() + ... + a); }
template __global__ void pack<float, int, float>(float *, int, int, float);
template __global__ void pack<float>(float *, int);
