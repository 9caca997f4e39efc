// clang's part: called by nvcc's, calls nvcc's and gcc's.
struct Vec { float x, y; int n; };

float gcc_scale(float x, unsigned n);
unsigned nvcc_offset(unsigned n);
extern int nvcc_bias __attribute__((address_space(1)));

static float table[2] = {1.0f, 0.5f};

__attribute__((noinline)) float clang_length2(struct Vec v)
{
	nvcc_bias += v.n;
	return gcc_scale(v.x * v.x + v.y * v.y, nvcc_offset(v.n)) * table[v.n & 1];
}

short clang_clamp(long long x) { return x > 30000 ? 30000 : x < -30000 ? -30000 : (short)x; }
