// gcc's part, which spells types .u32 and .f32 where the others write .b32.
#pragma acc routine seq
extern unsigned nvcc_offset(unsigned n);
#pragma acc routine seq
extern short clang_clamp(long long x);

static float table[2] = {2.0f, 4.0f};
#pragma acc declare copyin(table)

#pragma acc routine seq
float gcc_scale(float x, unsigned n) { return x * (float)(n & 7) + table[n & 1]; }

#pragma acc routine seq
int gcc_sum(const int *p, int n)
{
	int sum = nvcc_offset(n);
	for (int i = 0; i < n; i++)
		sum += clang_clamp(p[i]);
	return sum;
}
