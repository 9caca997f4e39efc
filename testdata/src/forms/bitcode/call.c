int f(int);
__attribute__((nvptx_kernel)) void call(int *p) { *p = f(*p); }
