#include "zoo.h"
namespace { struct Hidden { HIDDEN a; }; }
template <class T> struct Wrap { T t; };
static __device__ int helper() { return 1; }
template <int (*F)()> struct Address { HIDDEN a; };

#define USE __device__ void
USE NAME(Typedefed *a, WithEmpty *b, Flexible *c, Fields *d, Packed *e, Wide *f, Within *g, geo::Vec<float, 3> *h, geo::Wider *i,
         geo::Virtual *j, geo::Both *k, geo::Inline *l, geo::Outer *m, Later *n, Wrap<Wrap<int>> *o) {
	struct Local { HIDDEN a; } local = {1};
	Wrap<Local> wrapped = {local};
	Wrap<Hidden> hidden = {{1}};
	auto lambda = [local](int x) { return x + (int)local.a; };
	Wrap<decltype(lambda)> closure = {lambda};
	Address<helper> address = {1};
	a->a = b->z + c->n + d->a + e->i + f->x + g->x + h->last + i->u + j->k + k->last + l->shown + m->nest.q + o->t.t +
	       wrapped.t.a + hidden.t.a + closure.t(2) + address.a + helper();
}
