// One of everything that compilers describe differently: nvcc mangles names,
// writes bases and tables as members and unnamed bit fields as members, clang
// does not. No two of its readers may be told of a difference.
#pragma once
typedef struct { int a; } Typedefed;
struct Empty {};
struct WithEmpty : Empty { Empty member; int z; };
struct Later;
struct Flexible { int n; char bytes[]; };
struct Fields { int a : 4; int : 4; int b : 3; int : 0; unsigned char c : 2; bool d : 1; unsigned long long e : 33; short f; short full : 16; unsigned char byte : 8; };
#pragma pack(push, 1)
struct Packed { char c; int i; long l : 12; short s; long long q : 60; };
#pragma pack(pop)
struct alignas(32) Wide { int x; };
struct Within { char c; alignas(16) int x; };

namespace geo {
struct Point { float x, y; };
enum class Color : unsigned char { Red, Green };
template <class T, unsigned long N, bool B = true> struct Vec { T v[N]; typedef T Element; Element last; };
struct Poly { virtual void draw(); virtual ~Poly(); int a; char t; static int count; };
struct Wider : Poly, Point { char u; const volatile long l; int &ref; };
struct Virtual : virtual Poly { int k; };
struct Both : Virtual, Wider { int last; };
inline namespace v1 { class Inline { int hidden; public: int shown; }; }
struct Outer {
	struct Nest { int q; } nest;
	union { int i; struct { short lo, hi; }; float f; };
	union Named { int i; float f; } named;
	struct { int only; } unnamed;
	Color color;
	int (*call)(Point *, Outer &);
	int Point::*member;
	int (Poly::*method)();
	wchar_t wide;
	long number;
	unsigned long long count;
	bool flags[3][2];
	const char *const name;
	Later *later;
};
}
