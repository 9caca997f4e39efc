// The executable is for reading only: nothing of CUDA's runtime is linked into it.
int main(void) { return 0; }
