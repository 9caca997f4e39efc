int f(int);
int two(int x) { return f(f(x)); }
