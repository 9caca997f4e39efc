// Runs k_main of a PTX module or a cubin through the driver and prints its
// results, one number a line, after whatever the kernel itself prints.
//
//   cc -O run.c -ldl -o run
//   ./run FILE [N [THREADS]]
//
// k_main is .entry k_main(int *out, int n); out has 16 elements, all zero, and
// the launch has one block with 16 doubles of dynamic shared memory. Neither
// CUDA's headers nor its libraries are needed, only the driver.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long devptr;

static void *driver;

static void *need(const char *name)
{
	void *f = dlsym(driver, name);
	if (!f) {
		fprintf(stderr, "run: the driver has no %s\n", name);
		exit(3);
	}
	return f;
}

static void check(int rc, const char *what)
{
	const char *text = "?";
	if (rc == 0)
		return;
	((int (*)(int, const char **))need("cuGetErrorName"))(rc, &text);
	fprintf(stderr, "run: %s: %s (%d)\n", what, text, rc);
	exit(1);
}

int main(int argc, char **argv)
{
	enum { count = 16, shared = 16 * 8, logsize = 16384 };
	if (argc < 2) {
		fprintf(stderr, "usage: run FILE [N [THREADS]]\n");
		return 2;
	}
	int n = argc > 2 ? atoi(argv[2]) : 5, threads = argc > 3 ? atoi(argv[3]) : 32;

	FILE *f = fopen(argv[1], "rb");
	if (!f) {
		perror(argv[1]);
		return 3;
	}
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	rewind(f);
	char *image = calloc(size + 1, 1); // PTX must end in a NUL
	if (!image || fread(image, 1, size, f) != (size_t)size) {
		perror(argv[1]);
		return 3;
	}
	fclose(f);

	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "run: %s\n", dlerror());
		return 3;
	}
	int dev, results[count];
	void *ctx, *module, *kernel;
	devptr out;
	static char log[logsize];
	check(((int (*)(unsigned))need("cuInit"))(0), "cuInit");
	check(((int (*)(int *, int))need("cuDeviceGet"))(&dev, 0), "cuDeviceGet");
	check(((int (*)(void **, int))need("cuDevicePrimaryCtxRetain"))(&ctx, dev), "cuDevicePrimaryCtxRetain");
	check(((int (*)(void *))need("cuCtxSetCurrent"))(ctx), "cuCtxSetCurrent");

	int options[] = {5, 6}; // CU_JIT_ERROR_LOG_BUFFER and its size
	void *values[] = {log, (void *)(size_t)logsize};
	int rc = ((int (*)(void **, const void *, unsigned, int *, void **))need("cuModuleLoadDataEx"))(&module, image, 2, options, values);
	if (rc)
		fprintf(stderr, "%s\n", log);
	check(rc, "cuModuleLoadDataEx");
	check(((int (*)(void **, void *, const char *))need("cuModuleGetFunction"))(&kernel, module, "k_main"), "cuModuleGetFunction k_main");
	check(((int (*)(devptr *, size_t))need("cuMemAlloc_v2"))(&out, sizeof results), "cuMemAlloc");
	check(((int (*)(devptr, unsigned char, size_t))need("cuMemsetD8_v2"))(out, 0, sizeof results), "cuMemsetD8");
	void *params[] = {&out, &n};
	check(((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))
		need("cuLaunchKernel"))(kernel, 1, 1, 1, threads, 1, 1, shared, NULL, params, NULL), "cuLaunchKernel");
	check(((int (*)(void))need("cuCtxSynchronize"))(), "k_main");
	check(((int (*)(void *, devptr, size_t))need("cuMemcpyDtoH_v2"))(results, out, sizeof results), "cuMemcpyDtoH");
	for (int i = 0; i < count; i++)
		printf("%d\n", results[i]);
	return 0;
}
