/* C: each file may have a struct node of its own. */
struct node { SECRET key; struct node *next; };
struct item { COUNT count; int id; };

static SECRET own(struct node *n) { return n->key; }

#ifdef DEFINE
int take(struct item *i) { struct node n = {1, 0}; return i->id + (int)own(&n); }
#else
int take(struct item *i);
int GIVE(void) { struct item i = {1, 2}; struct node n = {1, 0}; return take(&i) + (int)own(&n); }
#endif
