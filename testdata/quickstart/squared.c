#pragma acc routine seq
#pragma omp declare target
float squared_length(const float *v, int n) {
	float sum = 0;
	for (int i = 0; i < n; i++)
		sum += v[i] * v[i];
	return sum;
}
#pragma omp end declare target
