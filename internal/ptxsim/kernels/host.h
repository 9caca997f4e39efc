// Runs the threads of a block on the host, one after the other until each waits.
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

dim3_ threadIdx, blockIdx, blockDim;
u32 dynamic[128];
static ucontext_t back, fibers[128];
static char stacks[128][256 << 10];
static int current, finished[128];
static void (*body)();

static void others() { int me = current; swapcontext(&fibers[me], &back); threadIdx.x = current = me; }

static int arrived, generation, any[2];
void __syncthreads()
{
	int was = generation;
	if (++arrived == (int)blockDim.x) {
		arrived = 0;
		any[++generation & 1] = 0;
	}
	while (generation == was)
		others();
}
int __syncthreads_or(int p)
{
	int was = generation & 1;
	any[was] |= p != 0;
	__syncthreads();
	return any[was];
}

// A warp operation: all lanes write, then all read.
static u32 values[128];
static int arrivals[4], rounds[4];
static u32 inWarp() { u32 left = blockDim.x - (threadIdx.x & ~31u); return left < 32 ? left : 32; }
static void meet()
{
	int w = threadIdx.x / 32, was = rounds[w];
	if (++arrivals[w] == (int)inWarp()) {
		arrivals[w] = 0;
		rounds[w]++;
	}
	while (rounds[w] == was)
		others();
}
u32 exchange(u32 v, u32 with)
{
	values[threadIdx.x] = v;
	meet();
	u32 from = (threadIdx.x & 31) ^ with;
	u32 r = values[from < inWarp() ? threadIdx.x ^ with : threadIdx.x];
	meet();
	return r;
}
u32 ballot(bool p)
{
	values[threadIdx.x] = p;
	meet();
	u32 r = 0;
	for (u32 i = 0; i < inWarp(); i++)
		r |= values[(threadIdx.x & ~31u) + i] << i;
	meet();
	return r;
}

static void start()
{
	body();
	finished[current] = 1;
	swapcontext(&fibers[current], &back);
}
static void block(int threads, int index)
{
	blockDim.x = threads;
	blockIdx.x = index;
	for (int i = 0; i < threads; i++) {
		finished[i] = 0;
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = stacks[i];
		fibers[i].uc_stack.ss_size = sizeof stacks[i];
		makecontext(&fibers[i], start, 0);
	}
	for (int left = threads; left > 0;) {
		left = 0;
		for (int i = 0; i < threads; i++) {
			if (finished[i])
				continue;
			threadIdx.x = current = i;
			swapcontext(&back, &fibers[i]);
			left += !finished[i];
		}
	}
}
static void print(const char *name, const void *data, size_t size)
{
	printf("%s ", name);
	for (size_t i = 0; i < size; i++)
		printf("%02x", ((const u8 *)data)[i]);
	printf("\n");
}
