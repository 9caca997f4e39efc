// Atomic operations as clang maps those of C. clang 19 has no loads and stores
// but relaxed ones, and one atom for every order and scope.
extern int counter;

int clang_enter(int *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		;
	__nvvm_membar_gl();
	return __atomic_load_n(&counter, __ATOMIC_RELAXED) < 100;
}

void clang_leave(int *lock)
{
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	__nvvm_membar_sys();
	__atomic_store_n(lock, 0, __ATOMIC_RELAXED);
}

#define ORDER(name, order) \
	int clang_##name(int *p, int v) \
	{ \
		int e = v; \
		__atomic_compare_exchange_n(p, &e, 7, 0, order, __ATOMIC_RELAXED); \
		return e + __atomic_fetch_add(p, v, order) + __atomic_fetch_or(p, v, order) \
			+ __scoped_atomic_fetch_max(p, v, order, __MEMORY_SCOPE_WRKGRP); \
	}
ORDER(relaxed, __ATOMIC_RELAXED)
ORDER(acquire, __ATOMIC_ACQUIRE)
ORDER(release, __ATOMIC_RELEASE)
ORDER(acq_rel, __ATOMIC_ACQ_REL)
ORDER(seq_cst, __ATOMIC_SEQ_CST)

int clang_c11(_Atomic int *p)
{
	*p += 1;
	return __c11_atomic_exchange(p, 3, __ATOMIC_SEQ_CST) + __c11_atomic_load(p, __ATOMIC_RELAXED);
}
