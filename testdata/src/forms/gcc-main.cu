// A kernel that calls gcc's libraries. nvcc has functions of its own by many of
// these names, so they begin with gcc_ here; regenerate.sh takes that away.
#define GCC extern "C" __device__

GCC double gcc_sin(double);
GCC double gcc_pow(double, double);
GCC unsigned long gcc_strlen(const char *);
GCC long gcc_strtol(const char *, char **, int);
GCC void gcc_qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
GCC int gcc_snprintf(char *, unsigned long, const char *, void *);
GCC void gcc___divdc3(double *result, double, double, double, double);
GCC int gcc___popcountti2(void *);
GCC long _gfortran_string_len_trim(long, const char *);
GCC int _gfortran_compare_string(long, const char *, long, const char *);
GCC void _gfortran_matmul_r8(void *to, void *a, void *b, int, int, void *);

static __device__ int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

extern "C" __global__ void k_libm(double *x) { x[0] = gcc_sin(x[0]) + gcc_pow(x[1], x[2]); }

extern "C" __global__ void k_libc(char *text, long *n, int *numbers)
{
	n[0] = gcc_strtol(text, 0, 10) + gcc_strlen(text);
	gcc_qsort(numbers, n[1], 4, less);
}

extern "C" __global__ void k_print(char *text, long *n, void *arguments) { n[0] = gcc_snprintf(text, n[0], "%d %g", arguments); }

extern "C" __global__ void k_libgcc(double *x, int *n)
{
	gcc___divdc3(x, x[0], x[1], x[2], x[3]);
	n[0] = gcc___popcountti2(x);
}

extern "C" __global__ void k_strings(char *text, long *n) { n[0] = _gfortran_string_len_trim(n[0], text) + _gfortran_compare_string(n[0], text, n[1], text + n[2]); }

extern "C" __global__ void k_matmul(void *to, void *a, void *b) { _gfortran_matmul_r8(to, a, b, 0, 0, 0); }
