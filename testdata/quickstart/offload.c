#include <stdio.h>

#pragma omp declare target
float squared_length(const float *v, int n); // squared.c
#pragma omp end declare target

// The GPU computes, or the host if there is none.
int main(void) {
	float v[3] = {1, 2, 3}, result;
#pragma omp target map(to : v) map(from : result)
	result = squared_length(v, 3);
	printf("%g\n", result);
}
