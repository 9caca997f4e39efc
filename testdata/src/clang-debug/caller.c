struct point { int x; double y; };

int total(struct point *p, int n);

__attribute__((nvptx_kernel)) void k_main(int *out, int n)
{
	struct point local[4];
	for (int i = 0; i < 4; i++) {
		local[i].x = i + n;
		local[i].y = i * 0.5;
	}
	int result = total(local, 4);
	*out = result;
}
