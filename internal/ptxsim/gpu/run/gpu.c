// Runs the programs in a file of package gpu on a GPU, through the driver, and compares memory with
// what the interpreter found. Neither CUDA's headers nor its libraries are needed.
//
//   cc -O gpu.c -ldl -o gpu
//   ./gpu FILE [PROCESSES [DIFFERENCES]]
//
// PROCESSES share the GPU: several wait for each other. Of each object, so many DIFFERENCES are shown.
// The driver compiles each module, and links those of a variant that has several.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long devptr;

enum { seconds = 90, stack = 16 << 10 };

struct blob {
	char *data, *mask;
	long size;
};
struct launch {
	char name[4096];
	unsigned grid[6], shared;
	int args, pointer[16]; // or -1
	struct blob value[16];
};
struct program {
	char name[256];
	int buffers, launches, globals, lefts;
	struct blob buffer[64], left[64], global[64];
	int leftOf[64];
	char globalName[64][256];
	struct launch launch[64];
};
struct variant {
	struct program *program;
	char name[256];
	int modules;
	struct blob module[64];
};
static struct variant *variants[1 << 17];
static int count, shown = 1;

struct shared {
	int next, same, different, failed;
} *shared;

static char *at, *end;
static struct variant *current;
static void *driver;

static void bad(void)
{
	fprintf(stderr, "gpu: this is no file of package gpu\n");
	exit(2);
}

static struct blob block(long size)
{
	struct blob b = {at, NULL, size};
	if (size < 0 || end - at <= size || at[size] != '\n')
		bad();
	at[size] = 0; // PTX must end in a NUL
	at += size + 1;
	return b;
}

static void readFile(void)
{
	struct program *p = NULL;
	while (at < end) {
		char *line = at, *stop = memchr(at, '\n', end - at);
		long n = 0;
		int k = 0, skip = 0;
		if (!stop)
			bad();
		*stop = 0;
		at = stop + 1;
		if (sscanf(line, "program %n", &k), k) {
			p = calloc(1, sizeof *p);
			snprintf(p->name, sizeof p->name, "%s", line + k);
		} else if (sscanf(line, "buffer %ld", &n) == 1) {
			p->buffer[p->buffers++] = block(n);
		} else if (!strncmp(line, "launch ", 7)) {
			struct launch *l = &p->launch[p->launches++];
			unsigned *g = l->grid;
			int args;
			if (sscanf(line, "launch %4095s %u %u %u %u %u %u %u %d", l->name, g, g + 1, g + 2, g + 3, g + 4, g + 5, &l->shared, &args) != 9 || args > 16)
				bad();
		} else if (sscanf(line, "pointer %d", &k) == 1) {
			struct launch *l = &p->launch[p->launches - 1];
			l->pointer[l->args++] = k;
		} else if (sscanf(line, "value %ld", &n) == 1) {
			struct launch *l = &p->launch[p->launches - 1];
			l->pointer[l->args] = -1;
			l->value[l->args++] = block(n);
		} else if (sscanf(line, "left %d %ld", &k, &n) == 2) {
			struct blob *b = &p->left[p->lefts];
			p->leftOf[p->lefts++] = k;
			*b = block(n);
			b->mask = block(n).data;
		} else if (sscanf(line, "global %255s %ld", p ? p->globalName[p->globals] : NULL, &n) == 2) {
			struct blob *b = &p->global[p->globals++];
			*b = block(n);
			b->mask = block(n).data;
		} else if (sscanf(line, "variant %d %n", &k, &skip) == 1) {
			struct variant *v = variants[count++] = calloc(1, sizeof *v);
			v->program = p;
			snprintf(v->name, sizeof v->name, "%s", line + skip);
		} else if (sscanf(line, "module %ld", &n) == 1) {
			struct variant *v = variants[count - 1];
			v->module[v->modules++] = block(n);
		} else if (strcmp(line, "end")) {
			bad();
		}
	}
}

static void *need(const char *name)
{
	void *f = dlsym(driver, name);
	if (!f) {
		fprintf(stderr, "gpu: the driver has no %s\n", name);
		exit(2);
	}
	return f;
}

static void say(const char *what, const char *detail)
{
	char line[4096];
	int n = snprintf(line, sizeof line - 1, "%s: %s: %s%s", current->program->name, current->name, what, detail);
	if (n > (int)sizeof line - 2)
		n = sizeof line - 2;
	for (int i = 0; i < n; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[n++] = '\n';
	if (write(3, line, n) < 0)
		exit(2);
}

static char log_[16384];

static void check(int rc, const char *what)
{
	const char *text = "?";
	char detail[sizeof log_ + 256];
	if (rc == 0)
		return;
	((int (*)(int, const char **))need("cuGetErrorName"))(rc, &text);
	snprintf(detail, sizeof detail, ": %s %s", text, log_);
	say(what, detail);
	__sync_fetch_and_add(&shared->failed, 1);
	_exit(1); // the context may be unusable
}

#define call(name, types, ...) check(((int(*) types)need(#name))(__VA_ARGS__), #name)

static int compare(const char *what, int n, const struct blob *want, devptr where)
{
	char *got = malloc(want->size + 1), text[256];
	int different = 0;
	call(cuMemcpyDtoH_v2, (void *, devptr, size_t), got, where, want->size);
	for (long i = 0; i < want->size && different < shown; i++)
		if (!want->mask[i] && got[i] != want->data[i]) {
			long w = i & ~3L;
			unsigned a = 0, b = 0;
			memcpy(&a, got + w, want->size - w < 4 ? want->size - w : 4);
			memcpy(&b, want->data + w, want->size - w < 4 ? want->size - w : 4);
			snprintf(text, sizeof text, " %d+%ld is %08x, want %08x", n, w, a, b);
			say(what, text);
			different++;
			i |= 3;
		}
	free(got);
	return different > 0;
}

static void run(struct variant *v)
{
	struct program *p = v->program;
	void *module, *kernel, *link, *cubin;
	devptr buffer[64];
	size_t size;
	int options[] = {5, 6}; // CU_JIT_ERROR_LOG_BUFFER and its size
	void *values[] = {log_, (void *)(size_t)sizeof log_};
	int different = 0;

	log_[0] = 0;
	if (v->modules == 1) {
		call(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **), &module, v->module[0].data, 2, options, values);
	} else {
		call(cuLinkCreate_v2, (unsigned, int *, void **, void **), 2, options, values, &link);
		for (int i = 0; i < v->modules; i++) // 1: CU_JIT_INPUT_PTX
			call(cuLinkAddData_v2, (void *, int, void *, size_t, const char *, unsigned, int *, void **), link, 1, v->module[i].data, v->module[i].size + 1, "unit", 0, NULL, NULL);
		call(cuLinkComplete, (void *, void **, size_t *), link, &cubin, &size);
		call(cuModuleLoadData, (void **, const void *), &module, cubin);
		call(cuLinkDestroy, (void *), link);
	}
	for (int i = 0; i < p->buffers; i++) {
		call(cuMemAlloc_v2, (devptr *, size_t), &buffer[i], p->buffer[i].size + 256);
		call(cuMemcpyHtoD_v2, (devptr, const void *, size_t), buffer[i], p->buffer[i].data, p->buffer[i].size);
	}
	for (int i = 0; i < p->launches; i++) {
		struct launch *l = &p->launch[i];
		void *params[16];
		for (int k = 0; k < l->args; k++)
			params[k] = l->pointer[k] < 0 ? (void *)l->value[k].data : &buffer[l->pointer[k]];
		call(cuModuleGetFunction, (void **, void *, const char *), &kernel, module, l->name);
		call(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
			kernel, l->grid[0], l->grid[1], l->grid[2], l->grid[3], l->grid[4], l->grid[5], l->shared, NULL, params, NULL);
		call(cuCtxSynchronize, (void));
	}
	for (int i = 0; i < p->lefts; i++)
		different |= compare("buffer", p->leftOf[i], &p->left[i], buffer[p->leftOf[i]]);
	for (int i = 0; i < p->globals; i++) {
		devptr where;
		call(cuModuleGetGlobal_v2, (devptr *, size_t *, void *, const char *), &where, &size, module, p->globalName[i]);
		if ((long)size != p->global[i].size) {
			say("size of ", p->globalName[i]);
			different = 1;
		} else {
			different |= compare(p->globalName[i], i, &p->global[i], where);
		}
	}
	__sync_fetch_and_add(different ? &shared->different : &shared->same, 1);
	for (int i = 0; i < p->buffers; i++)
		call(cuMemFree_v2, (devptr), buffer[i]);
	call(cuModuleUnload, (void *), module);
}

static void late(int sig)
{
	(void)sig;
	say("takes too long", "");
	__sync_fetch_and_add(&shared->failed, 1);
	_exit(1);
}

static void worker(void)
{
	int dev;
	void *ctx;
	static struct program none = {.name = "(start)"};
	static struct variant first = {.program = &none, .name = "driver"};
	current = &first;
	signal(SIGALRM, late);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "gpu: %s\n", dlerror());
		exit(2);
	}
	call(cuInit, (unsigned), 0);
	call(cuDeviceGet, (int *, int), &dev, 0);
	call(cuDevicePrimaryCtxRetain, (void **, int), &ctx, dev);
	call(cuCtxSetCurrent, (void *), ctx);
	call(cuCtxSetLimit, (int, size_t), 0, stack); // CU_LIMIT_STACK_SIZE
	for (;;) {
		int i = __sync_fetch_and_add(&shared->next, 1);
		if (i >= count)
			_exit(0);
		current = variants[i];
		alarm(seconds);
		run(current);
		alarm(0);
	}
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[2]) : 4, running = 0, status;
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	if (!f) {
		fprintf(stderr, "usage: gpu FILE [PROCESSES [DIFFERENCES]]\n");
		return 2;
	}
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	rewind(f);
	at = malloc(size + 1);
	if (!at || fread(at, 1, size, f) != (size_t)size) {
		perror(argv[1]);
		return 2;
	}
	fclose(f);
	end = at + size;
	readFile();
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 3)
		shown = atoi(argv[3]);
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	fflush(stdout);
	dup2(1, 3); // kernels print to 1
	if (!freopen("/dev/null", "w", stdout))
		return 2;
	while (shared->next < count || running > 0) {
		if (shared->next < count && running < processes) {
			if (fork() == 0)
				worker();
			running++;
		} else if (wait(&status) > 0) {
			running--;
			if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
				return 2;
		}
	}
	dprintf(3, "%d runs of variants: %d leave the memory of the interpreter, %d do not, %d failed\n", count, shared->same, shared->different, shared->failed);
	return shared->different + shared->failed > 0;
}
