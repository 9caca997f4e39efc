// One unit of the debug set: UNIT makes its functions its own, the types and the
// templates are the same in all units.
#define NAME2(a, b) a##b
#define NAME(a, b) NAME2(a, b)

template <typename T, int N> struct Vector {
	T v[N];
	__device__ T &operator[](int i) { return v[i]; }
	__device__ Vector operator+(const Vector &o) const
	{
		Vector r;
		for (int i = 0; i < N; i++)
			r.v[i] = v[i] + o.v[i];
		return r;
	}
};

template <typename T> struct Node {
	Node *next;
	T value;
	__device__ T sum() const { return next ? value + next->sum() : value; }
};

enum Kind { Point, Line, Mesh };

struct Shape {
	Kind kind;
	union { Vector<float, 3> point; Vector<double, 2> line[2]; } as;
	Node<Vector<float, 4> > *points;
};

static __device__ int counter;

static __device__ int count(int n)
{
	counter += n;
	return counter;
}

template <int I> __device__ float NAME(measure, UNIT)(Shape *s, int n)
{
	Vector<float, I % 7 + 2> a, b;
	Node<double> last = {nullptr, double(n)}, first = {&last, I};
	for (int i = 0; i < I % 7 + 2; i++) {
		a[i] = s[i].as.point[i % 3] * n;
		b[i] = first.sum() + count(i);
	}
	if (s->kind == Mesh && s->points)
		a = a + b;
	return a[0] + NAME(measure, UNIT)<I - 1>(s + 1, n);
}

template <> __device__ float NAME(measure, UNIT)<0>(Shape *, int n) { return n; }

extern "C" __global__ void NAME(kernel, UNIT)(Shape *s, float *out) { *out = NAME(measure, UNIT)<300>(s, 3); }
