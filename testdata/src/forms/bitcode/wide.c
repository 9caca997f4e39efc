int f(long x) { return (int)x * 3 + 1; }
