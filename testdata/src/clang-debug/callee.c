struct point { int x; double y; };

static int calls;

static int round_up(double y)
{
	int whole = (int)y;
	return whole < y ? whole + 1 : whole;
}

int total(struct point *p, int n)
{
	int sum = 0;
	calls++;
	for (int i = 0; i < n; i++) {
		int part = p[i].x + round_up(p[i].y);
		sum += part;
	}
	return sum + calls;
}
